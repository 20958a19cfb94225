"""Own language of a user: tables from texts, and how well they tell it from its neighbours."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lswc.lab.methods.evaluation import Labelled, Score, evaluate
from lswc.lab.methods.training import TrainingError, train
from lswc.language import registry
from lswc.language.identifier import Identifier
from lswc.language.neighbours import script_of
from lswc.language.ngrams import Likelihoods, NgramTable, tables
from lswc.language.registry import language

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 200  # characters at least, of whole lines
_SHORT = 60
_EVERY = 5  # pieces; one of so many is held out
_MADE = 12  # pieces of each language of which there is only a table
_NEAREST, _COMPARED = 5, 4_000  # neighbours that are asked for; characters
_LEAST = 3  # characters that begin a made piece


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of a language: how well its held-out pieces are kept apart from the others'.

    ``pages`` are pieces of 200 characters, ``short`` their first 60, ``anchors`` the same as anchor
    texts. ``taken`` says of other languages how many of their pieces are taken for this one.
    ``asked`` are the nearest known languages in its script of which no text was given: what was
    measured on them is made of their tables, and their own text is identified less well.
    """

    code: str
    pages: Score
    short: Score
    anchors: Score
    taken: dict[str, int]
    asked: tuple[str, ...]


def learn(folder: Path) -> list[Learned]:
    """Make the tables of a folder of languages; return how well they tell each.

    The folder has ``<code>.toml`` files and ``texts/<code>.<encoding>.txt`` in UTF-8 or that
    encoding; texts of other languages there, which need no TOML, serve as neighbours. One piece of
    five measures tables that were made of the other four; those that are kept are made of all, and
    go to ``tables/``. The other languages in their script of which there are tables are measured by
    text that is made of their n-grams. Raises TrainingError, LanguageError.
    """
    registry.use("")
    registry.use(str(folder))
    texts = sorted((folder / "texts").glob("*.txt"))
    if not texts:
        raise TrainingError(f"{folder / 'texts'}: no files named <language>.<encoding>.txt")
    codes = sorted(file.stem for file in folder.glob("*.toml"))
    with TemporaryDirectory(prefix="lswc-languages-") as name:
        measured = _measured(Path(name), folder, texts, codes)
    train(folder / "texts", folder / "tables")
    return measured


def _measured(scratch: Path, folder: Path, texts: list[Path], codes: list[str]) -> list[Learned]:
    (scratch / "texts").mkdir()
    held_out = []
    for file in texts:
        pieces = list(_pieces(file.read_text("utf-8", "replace")))
        held_out += [_labelled(file, piece) for piece in pieces[_EVERY - 1 :: _EVERY]]
        kept = [piece for number, piece in enumerate(pieces, 1) if number % _EVERY]
        (scratch / "texts" / file.name).write_text("\n".join(kept), encoding="utf-8")
    for code in codes:
        (scratch / f"{code}.toml").write_bytes((folder / f"{code}.toml").read_bytes())
    train(scratch / "texts", scratch / "tables")
    given = {page.language for page in held_out}
    registry.use(str(scratch))
    try:
        return [_learned(Identifier(language(code)), held_out, given) for code in codes]
    finally:
        registry.use(str(folder))


def _learned(identifier: Identifier, held_out: list[Labelled], given: set[str]) -> Learned:
    code = identifier.target.code
    in_unicode = [table for table in tables() if table.encoding == "utf-8"]
    own = {script_of(table) for table in in_unicode if table.language == code}
    beside = [t for t in in_unicode if script_of(t) in own and t.language not in given]
    held_out = [*held_out, *(page for table in beside for page in _made(table))]
    short = [page._replace(body=page.text.encode()) for page in held_out]
    pages = evaluate(identifier, held_out)
    taken = {true: n for (true, answer), n in pages.confusions.items() if answer == code != true}
    return Learned(
        code,
        pages,
        evaluate(identifier, short),
        evaluate(identifier, held_out, anchors=True),
        taken,
        _nearest(beside, [page.text for page in held_out if page.language == code]),
    )


def _nearest(beside: list[NgramTable], texts: list[str]) -> tuple[str, ...]:
    """Return the languages of a few tables that make a language's own text likeliest."""
    if not beside or not texts:
        return ()
    likelihoods = Likelihoods({table.language: [table] for table in beside})
    scores = likelihoods.scores("\n".join(texts)[:_COMPARED]).sum(axis=1)
    return tuple(likelihoods.names[row] for row in scores.argsort()[::-1][:_NEAREST].tolist())


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces of whole lines."""
    piece = ""
    for line in text.splitlines():
        piece = f"{piece}\n{line}".strip()
        if len(piece) >= _PIECE:
            yield piece
            piece = ""
    if piece:
        yield piece


def _labelled(file: Path, piece: str) -> Labelled:
    return _page(file.name.partition(".")[0], piece)


def _page(code: str, piece: str) -> Labelled:
    return Labelled(code, piece.encode(), None, piece.split("\n")[0][:_SHORT])


def _made(table: NgramTable) -> Iterator[Labelled]:
    """Yield pieces of text made of a table: each character as it follows the two before."""
    following: dict[str, Counter[str]] = defaultdict(Counter)
    for ngram, count in table.characters.items():
        if len(ngram) == _LEAST:
            following[ngram[:2]][ngram[2]] = count
    chance = random.Random(table.language)  # noqa: S311
    starts = sorted(pair for pair in following if pair[0] == " ")
    for _ in range(_MADE if starts else 0):
        piece = chance.choice(starts)
        while len(piece) < _PIECE:
            after = following.get(piece[-2:])
            if after:
                piece += chance.choices(list(after), list(after.values()))[0]
            else:
                piece += chance.choice(starts)
        yield _page(table.language, piece.strip())
