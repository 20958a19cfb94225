"""Evaluation of a method that tells a language: precision, recall and F1 on labelled pages."""

from __future__ import annotations

import gzip
import html
import json
import time
from base64 import b64decode
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.errors import ConfigError
from lswc.language.registry import code_of
from lswc.strategy import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lswc.language.document import Identification
    from lswc.language.identifier import Identifier


UNKNOWN = "und"
"""The label of a page whose language nobody can tell from it (BCP 47)."""


class EvaluationError(ConfigError):
    """A file of labelled pages that can't be used; the message names the line."""


class Labelled(NamedTuple):
    """A page and its true language, "und" if it shows none.

    ``text`` is what an anchor text would be, ``kind`` the sort of page, "" if the label says none.
    """

    language: str
    body: bytes
    content_type: str | None
    text: str
    url: str = "http://page.invalid/"
    kind: str = ""


@dataclass
class Judged:
    """Of how many pages the language was right, whatever their language."""

    pages: int = 0
    right: int = 0
    confidence: float = 0.0

    def add(self, is_right: bool, confidence: float) -> None:
        """Count a page."""
        self.pages += 1
        self.right += is_right
        self.confidence += confidence


@dataclass
class Score:
    """What became of the pages, with the target as the positive class.

    ``confusions`` counts (true language, answer) where they differ and one is the target.
    ``seconds`` is the time for all ``pages``. ``kinds`` says how many pages of each kind were
    right, ``tenths`` how many at each tenth of confidence: those at 0.9 or more are in 9. Answers
    "unknown" are in none. ``tenths_of`` are those of each kind.
    """

    right: int = 0
    wrong: int = 0
    missed: int = 0
    pages: int = 0
    seconds: float = 0.0
    confusions: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: dict[str, Judged] = field(default_factory=lambda: defaultdict(Judged))
    tenths: dict[int, Judged] = field(default_factory=lambda: defaultdict(Judged))
    tenths_of: dict[str, dict[int, Judged]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def precision(self) -> float | None:
        """Share of the answers "target" that are right; None without any."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Share of the target's pages that were found; None without any."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None

    @property
    def rejected(self) -> int:
        """Pages in another language for which the answer is another, too."""
        return self.pages - self.right - self.wrong - self.missed

    @property
    def accuracy(self) -> float | None:
        """Share of all pages for which "target" or "another" is right; None without any."""
        return (self.right + self.rejected) / self.pages if self.pages else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; None without any of both."""
        total = 2 * self.right + self.wrong + self.missed
        return 2 * self.right / total if total else None


def calibration_error(tenths: dict[int, Judged]) -> float:
    """Return how far confidence is from the share that is right, 0 to 1, the mean of all pages.

    The expected calibration error over tenths (Naeini, Cooper & Hauskrecht 2015, §3).
    """
    pages = sum(one.pages for one in tenths.values())
    return sum(abs(one.confidence - one.right) for one in tenths.values()) / pages


def load(file: Path) -> tuple[list[Labelled], list[str]]:
    """Return the labelled pages of JSON lines, gzipped or not, and what is wrong with other lines.

    Raises EvaluationError if the file can't be read, or has no such page. Each has ``language`` and
    either ``text``, ``html``, ``base64`` (the page's bytes) or ``file``, a path beside the JSON
    lines; ``content_type``, ``url`` and ``kind`` may be given.
    """
    opener = gzip.open if file.suffix == ".gz" else open
    pages, mistakes = [], []
    try:
        with opener(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    pages.append(_labelled(line, f"{file}:{number}", file))
                except EvaluationError as error:
                    mistakes.append(str(error))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{file}: {error}") from error
    if not pages:
        raise EvaluationError(mistakes[0] if mistakes else f"{file}: no labelled pages")
    return pages, mistakes


def _labelled(line: str, place: str, file: Path) -> Labelled:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise EvaluationError(f"{place}: not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("language"), str):
        raise EvaluationError(f'{place}: an object with "language" is needed')
    text = entry.get("text")
    return Labelled(
        code_of(entry["language"]),
        _body(entry, place, file),
        entry.get("content_type"),
        text if isinstance(text, str) else "",
        entry.get("url", "http://page.invalid/"),
        entry.get("kind", ""),
    )


def _body(entry: dict[str, Any], place: str, file: Path) -> bytes:
    if isinstance(text := entry.get("text"), str):
        return html.escape(text).encode("utf-8", "replace")
    if isinstance(source := entry.get("html"), str):
        return source.encode("utf-8", "replace")
    if isinstance(encoded := entry.get("base64"), str):
        return _decoded(encoded, place)
    if isinstance(name := entry.get("file"), str):
        return (file.parent / name).read_bytes()
    raise EvaluationError(f'{place}: one of "text", "html", "base64" and "file" is needed')


def _decoded(encoded: str, place: str) -> bytes:
    try:
        return b64decode(encoded, validate=True)
    except ValueError as error:
        raise EvaluationError(f"{place}: not base64: {error}") from error


def evaluate(identifier: Identifier, pages: Iterable[Labelled], anchors: bool = False) -> Score:
    """Score an identifier's answers; with ``anchors``, to the texts as anchors without hint."""
    score, target = Score(), identifier.target.code
    for page in pages:
        start = time.perf_counter()
        if anchors:
            answer = target if identifier.anchor(page.text) is Anchor.TARGET else "other"
        else:
            reading = identifier.read(page.body, page.content_type, page.url)
            found = reading.identification
            answer = found.language or "unknown"
            _count(score, page, found)
        score.seconds += time.perf_counter() - start
        score.pages += 1
        score.right += answer == target == page.language
        if (answer == target) != (page.language == target):
            score.wrong += answer == target
            score.missed += page.language == target
            score.confusions[page.language, answer] += 1
    return score


def _count(score: Score, page: Labelled, found: Identification) -> None:
    is_right = (found.language or UNKNOWN) == page.language
    if page.kind:
        score.kinds[page.kind].add(is_right, found.confidence)
    if found.language is not None:
        tenth = min(9, int(found.confidence * 10))
        score.tenths[tenth].add(is_right, found.confidence)
        score.tenths_of[page.kind].setdefault(tenth, Judged()).add(is_right, found.confidence)
