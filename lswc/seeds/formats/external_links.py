"""The external links of a Wikipedia: the SQL dump of MediaWiki's table ``externallinks``.

Since MediaWiki 1.41 a URL is in two columns: ``el_to_domain_index``, its scheme and its host's
labels the other way round (``https://th.ac.chula.www.``, ``http://V4.192.0.2.7.``), and
``el_to_path``, the rest. Before, it was whole in ``el_to``. What is linked to more often has more
evidence.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.sources import opened

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

    from lswc.seeds.candidates import Asked

_PIECE = 1 << 20
_LONGEST = 1 << 18  # bytes of a row
_OVERLAP = 200  # bytes that hold the beginning of a statement
_TABLE = re.compile(rb"CREATE TABLE [^(]*`externallinks`\s*\((.*?)\n\)", re.DOTALL)
_COLUMN = re.compile(rb"^\s*`(\w+)`", re.MULTILINE)
_INSERT = re.compile(rb"INSERT INTO `externallinks` (?:\([^)]*\) )?VALUES\s*")
_VALUE = rb"((?:_binary )?'(?:[^'\\]++|\\.|'')*+'|[-+.\w]++)"
_ESCAPE = re.compile(rb"\\(.)|''", re.DOTALL)
_SPECIAL = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"Z": b"\x1a", b"b": b"\b"}
_REVERSED = re.compile(r"(\w[\w+.-]*:)?//([^/:]*)(:\d+)?")


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the links of a dump. Raises SeedError for another table's."""
    with opened(path, asked.say) as file:
        text = file.read(_PIECE)
        table = _TABLE.search(text)
        names = [name.decode() for name in _COLUMN.findall(table[1])] if table else []
        if "el_to" in names:
            wanted = [names.index("el_to")]
        elif {"el_to_domain_index", "el_to_path"} <= {*names}:
            wanted = [names.index("el_to_domain_index"), names.index("el_to_path")]
        else:
            raise SeedError(f"{path} has no table externallinks that is known")
        row = re.compile(rb"\(" + rb",".join([_VALUE] * len(names)) + rb"\)\s*([,;])\s*", re.DOTALL)
        for values in _rows(row, text, file, asked.passed):
            found = [_text(values[at + 1]) for at in wanted]
            yield Candidate(found[0] if len(found) == 1 else url_of(*found))


def url_of(index: str, rest: str) -> str:
    """Return the URL of a domain index and a path, as LinkFilter::reverseIndexes does it."""
    match = _REVERSED.match(index)
    if match is None:  # mailto: and the like
        return index + rest
    scheme, host, port = match[1] or "https:", match[2], match[3] or ""
    if host.startswith("V4."):
        host = host[3:].rstrip(".")
    elif host.startswith("V6."):
        host = "[" + host[3:].rstrip(".").replace(".", ":") + "]"
    else:
        host = ".".join(reversed(host.rstrip(".").split(".")))
    return f"{scheme}//{host}{port}{rest}"


def _rows(
    row: re.Pattern[bytes], text: bytes, file: IO[bytes], passed: Counter[str]
) -> Iterator[re.Match[bytes]]:
    """Yield the rows of all INSERT statements, a piece of the file at a time."""
    at, inside = 0, False
    while True:
        match = row.match(text, at) if inside else _INSERT.search(text, at)
        if match is not None:
            at = match.end()
            if inside:
                yield match
            inside = not inside or match[match.lastindex or 0] == b","
        elif inside and len(text) - at > _LONGEST:
            passed["damaged row"] += 1
            inside = False  # till the next statement
        elif piece := file.read(_PIECE):
            kept = at if inside else max(at, len(text) - _OVERLAP)
            text, at = text[kept:] + piece, 0
        else:
            passed["damaged row"] += inside
            return


def _text(value: bytes) -> str:
    inner = value.removeprefix(b"_binary ")[1:-1] if value[-1:] == b"'" else b""
    if b"\\" in inner or b"''" in inner:
        inner = _ESCAPE.sub(_unescaped, inner)
    return inner.decode(errors="replace")


def _unescaped(match: re.Match[bytes]) -> bytes:
    return b"'" if match[1] is None else _SPECIAL.get(match[1], match[1])
