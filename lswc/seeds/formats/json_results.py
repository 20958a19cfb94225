"""JSON: what a SPARQL query brought, such as Wikidata's official websites, or JSON Lines.

Read are SPARQL 1.1 Query Results JSON (``results.bindings``), an array of objects, as Wikidata's
page has it for download, and an object a line.
"""

from __future__ import annotations

import codecs
import json
import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from lswc.seeds.candidates import SeedError
from lswc.seeds.formats.texts import candidates
from lswc.seeds.sources import HEAD, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from lswc.seeds.candidates import Asked, Candidate

_LONGEST = 1 << 20  # characters of an object
_SAMPLE = 50
_BINDINGS = re.compile(r'"bindings"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of JSON. Raises SeedError for what isn't such JSON."""
    with opened(path, asked.say) as file:
        yield from candidates(path, rows_of(map(_flat, objects(file, path))), asked)


def rows_of(found: Iterator[dict[str, str]]) -> Iterator[list[str]]:
    """Yield a head, then a row for each object."""
    sample = list(islice(found, _SAMPLE))
    names = list(dict.fromkeys(name for entry in sample for name in entry))
    yield names
    for entry in chain(sample, found):
        yield [entry.get(name, "") for name in names]


def objects(file: IO[bytes], path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects, however long the file is. Raises SeedError."""
    pieces = _decoded(file)
    text = next(pieces, "").lstrip("\ufeff \t\r\n")
    begin = _BINDINGS.search(text)
    text = text[begin.end() :] if begin else text.removeprefix("[")
    decoder = json.JSONDecoder()
    while True:
        text = _BETWEEN.sub("", text, count=1)
        if text.startswith("]"):
            return
        try:
            value, end = decoder.raw_decode(text)
        except RecursionError as error:
            raise SeedError(f"{path} nests too deep") from error
        except ValueError as error:
            piece = next(pieces, "")
            if not piece and not text:
                return
            if not piece or len(text) > _LONGEST:
                raise SeedError(f"{path} isn't JSON of objects: {error}") from error
            text += piece  # the object goes on there
            continue
        text = text[end:]
        if isinstance(value, dict):
            yield value


def _decoded(file: IO[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    while piece := file.read(HEAD):
        yield decoder.decode(piece)


def _flat(entry: dict[str, Any]) -> dict[str, str]:
    """Return an object's texts and numbers; of a SPARQL binding its value."""
    values = (
        (name, value.get("value") if isinstance(value, dict) else value)
        for name, value in entry.items()
    )
    return {name: str(value) for name, value in values if isinstance(value, str | int | float)}
