"""Own language of a user: tables from texts, and how well they tell it from its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lswc.lab.methods.evaluation import Labelled, Score, evaluate
from lswc.lab.methods.training import TrainingError, train
from lswc.language import registry
from lswc.language.identifier import Identifier
from lswc.language.registry import language

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECE = 200  # characters at least, of whole lines
_EVERY = 5  # pieces; one of so many is held out


@dataclass(frozen=True, slots=True)
class Learned:
    """What was learned of a language: how well its held-out pieces are told from the others'."""

    code: str
    pages: Score
    anchors: Score


def learn(folder: Path) -> list[Learned]:
    """Make the tables of a folder of languages; return how well they tell each.

    The folder has ``<code>.toml`` files and ``texts/<code>.<encoding>.txt`` in UTF-8 or that
    encoding; texts of other languages there serve as neighbours. One piece of five measures tables
    that were made of the other four; those that are kept are made of all, and go to ``tables/``.
    Raises TrainingError, LanguageError.
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
        held_out += [_labelled(file, piece) for piece in pieces[::_EVERY]]
        kept = [piece for number, piece in enumerate(pieces) if number % _EVERY]
        (scratch / "texts" / file.name).write_text("\n".join(kept), encoding="utf-8")
    for code in codes:
        (scratch / f"{code}.toml").write_bytes((folder / f"{code}.toml").read_bytes())
    train(scratch / "texts", scratch / "tables")
    registry.use(str(scratch))
    try:
        identifiers = [Identifier(language(code)) for code in codes]
        return [
            Learned(i.target.code, evaluate(i, held_out), evaluate(i, held_out, anchors=True))
            for i in identifiers
        ]
    finally:
        registry.use(str(folder))


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
    return Labelled(file.name.partition(".")[0], piece.encode(), None, piece.split("\n")[0][:60])
