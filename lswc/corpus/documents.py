"""Documents: rows of a corpus, from what its pages say and from what other pages say, too."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from fontTools import unicodedata

from lswc.corpus.personal_data import PersonalData, masked
from lswc.corpus.repetition import Repetition
from lswc.corpus.schema import SCHEMA
from lswc.corpus.stored_pages import host_of
from lswc.language.registry import language, three_letters
from lswc.reading.main_text.blocks import weight
from lswc.safety.near_duplicates import Seen, simhash

if TYPE_CHECKING:
    from collections.abc import Collection

    from lswc.corpus.extraction import Extracted, Paragraph
    from lswc.corpus.stored_pages import Stored

COPY, EMPTY, OTHER_LANGUAGE = "copy", "empty", "other language"
"""Why a page has no row: it is a copy of a page without a row; it has no text of its own; that has
no paragraph in the language. A document without text has a reason of its own, as SCANNED of
``lswc.reading.documents.text``."""

_LATEST = 100_000  # pages of which a copy doesn't count as another page with a paragraph


class Documents:
    """Makes rows of SCHEMA, in the order of the archive; what compares all of them is added later.

    ``letters`` counts those that were read, by the kinds of their blocks. With ``only_language``
    the paragraphs in other languages are left out, and code is. With ``mask`` the names of its
    kinds stand in the place of personal data. ``numbers`` are those of the rows
    by the hashes of their URLs and digests.
    """

    def __init__(self, target: str, only_language: bool = False, mask: bool = False) -> None:
        self._target = target
        self._personal = PersonalData(language(target)) if mask else None
        self._scripts = [unicodedata.script_code(name) for name in language(target).scripts]
        self._only_language = only_language
        self._repetition = Repetition()
        self._seen = Seen(_LATEST)
        self._rows = 0
        self.letters = Counter[str]()
        self.numbers: dict[int, int] = {}

    def row(self, found: Extracted, *, is_later: bool = False) -> dict[str, Any] | str:
        """Return a page's row, or why it has none, as COPY, EMPTY and OTHER_LANGUAGE.

        ``is_later`` says that an earlier version of the page may have a row.
        """
        page = found.page
        row = self._copy(page) if found.is_copy else self._read(found, is_later)
        if not isinstance(row, str):
            self.numbers[hash((page.url, page.digest))] = self._rows
            self._rows += 1
        return row

    def _copy(self, page: Stored) -> dict[str, Any] | str:
        if self.original(page) is None:
            return COPY
        return self._about(page) | {"duplicate": "exact", "duplicate_of": page.refers_to}

    def original(self, page: Stored) -> int | None:
        """Return the number of the row that a page is a copy of; None if there is none."""
        return self.numbers.get(hash((page.refers_to, page.digest)))

    def _about(self, page: Stored) -> dict[str, Any]:
        """Return what a row has of a page, whatever its text."""
        return _EMPTY | {
            "id": page.id or f"<urn:uuid:{uuid5(NAMESPACE_URL, f'{page.url} {page.date}')}>",
            "url": page.url,
            "date": _time(page.date),
            "language": three_letters(self._target),
            "file": page.file or None,
            "offset": page.offset if page.file else None,
            "length": page.length,
            "digest": page.digest or None,
            "kind": page.kind.value,
            "opt_outs": list(page.opt_outs),
            "encoding": page.encoding,
            "visit": page.visit,
        }

    def _read(self, found: Extracted, is_later: bool) -> dict[str, Any] | str:
        host = host_of(found.page.url)
        texts = [one.text for one in found.paragraphs if one.kind == "text"]
        told = self._without_repeated(found, self._repetition.of(host, texts))
        wanted = [one for one in told if one.is_wanted]
        kept = wanted if self._only_language else told
        title = found.title
        if self._personal is not None:
            kept = [_masked(one) for one in kept]
            title, _ = masked(title, self._personal.find(title))
        text = "\n".join(one.text for one in kept)
        value = simhash(text) if wanted else 0
        # Copies and versions of a page aren't many pages with its paragraphs.
        if not (is_later or (wanted and self._seen.holds(value))):
            self._repetition.add(host, texts)
        if not wanted:
            return OTHER_LANGUAGE if told else found.reason or EMPTY
        self._seen.add(value)
        return self._about(found.page) | {
            "text": text,
            "language_script": script_of("".join(one.text for one in wanted), self._scripts),
            **_languages(kept, self._target),
            "segments": _segments(kept),
            "personal_data": _personal(kept),
            "title": title,
            "left_out": len(told) - len(kept),
            "converted": next((one.converted for one in wanted if one.converted), None),
            "machine_translated": found.machine_translated,
            "page_kind": found.page_kind,
            "licence": found.licence and found.licence.url,
            "licence_stood": found.licence and found.licence.stood,
            "text_quality": found.quality,
            "scanned_pages": found.scanned,
            "is_cut": found.is_cut,
        }

    def _without_repeated(self, found: Extracted, repeated: set[str]) -> list[Paragraph]:
        """Return the paragraphs that the page's site doesn't repeat, and count all letters."""
        self.letters.update(found.letters)
        if not repeated:
            return found.paragraphs
        told = []
        for one in found.paragraphs:
            if one.kind == "text" and one.text in repeated:
                letters = round(weight(one.text))
                self.letters["repeated"] += letters
                self.letters["text"] -= letters
            else:
                told.append(one)
        return told


def _segments(kept: list[Paragraph]) -> list[dict[str, Any]]:
    """Return where each paragraph is in the text, and what it is."""
    segments, start = [], 0
    for one in kept:
        end = start + len(one.text)
        language = three_letters(one.language) if one.language else None
        about = {"kind": one.kind, "language": language, "level": one.level, "mark": one.mark}
        segments.append({"start": start, "end": end, **about})
        start = end + 1
    return segments


def _masked(one: Paragraph) -> Paragraph:
    text, places = masked(one.text, one.personal)
    return one._replace(text=text, personal=places)


def _personal(kept: list[Paragraph]) -> list[dict[str, Any]]:
    """Return where personal data is in the text, and of what kind."""
    found, start = [], 0
    for one in kept:
        for begin, end, kind in one.personal:
            found.append({"start": start + begin, "end": start + end, "kind": kind})
        start += len(one.text) + 1
    return found


def _languages(kept: list[Paragraph], target: str) -> dict[str, Any]:
    """Return what a text's languages are by their letters, and how sure the target's is."""
    letters = Counter[str]()
    sure = 0.0
    for one in kept:
        size = weight(one.text)
        letters[one.language or ""] += round(size)
        sure += one.score * size if one.language == target else 0.0
    whole = letters.total() or 1
    top = [(code, number / whole) for code, number in letters.most_common() if code and number]
    return {
        "language_score": min(1.0, sure / (letters[target] or 1)),
        "target_share": letters[target] / whole,
        "top_langs": [{"language": three_letters(code), "share": share} for code, share in top],
    }


_SAMPLE = 2_000  # characters that tell a script
_NO_SCRIPT = frozenset({"Zyyy", "Zinh", "Zzzz"})
_JAPANESE = frozenset({"Hira", "Kana"})
_script = lru_cache(65_536)(unicodedata.script)


def script_of(text: str, own: Collection[str] = ()) -> str | None:
    """Return the script of most letters (ISO 15924): Jpan where there is kana; None without any.

    One of a language's ``own``, if any letter is in it: Latin terms are no script of Burmese.
    """
    found = Counter(map(_script, text[:_SAMPLE]))
    if _JAPANESE & found.keys():
        return "Jpan"
    codes = [code for code, _ in found.most_common() if code not in _NO_SCRIPT]
    return next((code for code in codes if code in own), codes[0] if codes else None)


def _time(date: str) -> datetime | None:
    """Return a WARC-Date, to the second; None if it is none."""
    try:
        return datetime.fromisoformat(date).astimezone(UTC).replace(microsecond=0)
    except ValueError:
        return None


_EMPTY: dict[str, Any] = dict.fromkeys(SCHEMA.names) | {
    "text": "",
    "top_langs": [],
    "segments": [],
    "personal_data": [],
    "generated_signs": [],
    "left_out": 0,
}
