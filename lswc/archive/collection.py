"""Collection: crawls whose captures belong together, as one archive.

A crawl that visits what earlier ones stored (LSWC_RECRAWL) has only that a page was the same then:
the page itself is where it was stored.
"""

from __future__ import annotations

import json
import re
from heapq import merge
from itertools import zip_longest
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.cdxj import fields_of, index_of
from lswc.archive.run_settings import SETTINGS, earlier_of
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_OF_PATH = re.compile("%(?:5B|5D|7C)", re.IGNORECASE)
_OF_QUERY = re.compile("%(?:5B|5D|5E|60|7B|7C|7D)", re.IGNORECASE)
_ESCAPED = re.compile(rb"%(?:5[BDE]|60|7[BCD])", re.IGNORECASE)


class Collection(NamedTuple):
    """Crawl folders: those that were named, then those that they visited again, each once.

    ``gone`` says which earlier crawls, and which WARC files and indexes of any, aren't there any
    more, a sentence each.
    """

    crawls: tuple[Path, ...]
    gone: tuple[str, ...]

    def warcs(self) -> dict[Path, str]:
        """Return the WARC files, and what each is called among all: two crawls' may be alike."""
        names: dict[Path, str] = {}
        taken: set[str] = set()
        for crawl in self.crawls:
            for warc in sorted((crawl / "warc").glob("*.warc.gz")):
                own, number = warc.name, 1
                while own in taken:
                    number += 1
                    own = warc.name.replace(".warc.gz", f"-{number}.warc.gz")
                taken.add(own)
                names[warc] = own
        return names


def collected(crawls: Sequence[Path]) -> Collection:
    """Return crawls with those that they visited again, and those that these did.

    Raises ArchiveError if one that is there has settings that can't be read.
    """
    found = {crawl.resolve(): crawl for crawl in crawls}
    gone: dict[str, None] = {}
    waiting = list(crawls)
    while waiting:
        crawl = waiting.pop(0)
        for index in sorted((crawl / "warc").glob("*.cdxj")):
            if not (warc := index.with_suffix(".warc.gz")).exists():
                gone[f"{warc} isn't there, which {index.name} is the index of: put it back"] = None
        for warc in sorted((crawl / "warc").glob("*.warc.gz")):
            if not index_of(warc).exists():
                gone[f"{warc} has no index beside it, by which it is shown: put it back"] = None
        if not (crawl / SETTINGS).exists():
            continue
        for earlier in earlier_of(crawl, crawls):
            if not (earlier / "warc").is_dir():
                gone[f"{earlier}, which {crawl} visited again, isn't there: put it back"] = None
            elif earlier.resolve() not in found:
                found[earlier.resolve()] = earlier
                waiting.append(earlier)
    return Collection(tuple(found.values()), tuple(gone))


class Indexes:
    """The indexes of WARC files, as replay looks them up; ``names`` are the files' there.

    A capture that lies beyond the end of its file, as in one that was cut, is left out. ``spelled``
    counts the lines that were added for how browsers spell URLs.
    """

    def __init__(self, names: Mapping[Path, str]) -> None:
        self.names = names
        self.spelled = 0
        self._beyond: dict[Path, int] = {}

    @property
    def told(self) -> tuple[str, ...]:
        """What was left out of the indexes that were read, a sentence for each file."""
        return tuple(
            f"{warc} is cut short: {numbered(number, 'capture')} of its index left out"
            for warc, number in self._beyond.items()
            if number
        )

    def entries(self, warc: Path) -> Iterator[tuple[bytes, dict[str, str]]]:
        """Yield the lines of a file's index and their fields. Raises OSError."""
        size, beyond = warc.stat().st_size, 0
        if not (path := index_of(warc)).exists():
            return
        with path.open("rb") as file:
            for line in file:
                if (fields := fields_of(line)) is None:
                    continue
                if _end(fields) <= size:
                    yield line, fields
                else:
                    beyond += 1
        self._beyond[warc] = beyond

    def lines(self, warc: Path) -> Iterator[bytes]:
        """Yield the lines that replay can show something for, under the file's name, in order.

        Those of a killed crawl aren't sorted yet. Raises OSError.
        """
        before, now = f'"{warc.name}"'.encode(), f'"{self.names[warc]}"'.encode()
        for line in sorted(line for line, fields in self.entries(warc) if _opens(fields)):
            yield line if before == now else line.replace(before, now)

    def all(self) -> Iterator[bytes]:
        """Yield the lines of all, in order, for a player that looks up what browsers ask for.

        Some signs browsers don't escape, as in ``css?family=A|B``, and crawls do: such a line comes
        as both. Raises OSError.
        """
        yield from merge(*map(self._as_browsers_ask, self.names))

    def _as_browsers_ask(self, warc: Path) -> list[bytes]:
        lines = list(self.lines(warc))
        escaped = [line for line in lines if _ESCAPED.search(line)]
        spelled = [new for line in escaped if (new := _spelled(line)) != line]
        self.spelled += len(spelled)
        return sorted(lines + spelled) if spelled else lines

    def is_ready(self, warc: Path) -> bool:
        """Tell whether a file's index can be looked up as it is, under the file's name.

        Raises OSError.
        """
        if self.names[warc] != warc.name:
            return False
        with index_of(warc).open("rb") as file:
            return all(one == other for one, other in zip_longest(self.lines(warc), file))


def _spelled(line: bytes) -> bytes:
    """Return a line of an index with its URL as browsers ask for it (WHATWG URL, §1.3)."""
    key, time, said = line.split(b" ", 2)
    url = json.loads(said)["url"]
    fields = said.replace(json.dumps(url).encode(), json.dumps(_unescaped(url)).encode(), 1)
    return b" ".join((_unescaped(key.decode()).encode(), time, fields))


def _unescaped(url: str) -> str:
    path, mark, query = url.partition("?")
    return _OF_PATH.sub(_sign, path) + mark + _OF_QUERY.sub(_sign, query)


def _sign(escape: re.Match[str]) -> str:
    return chr(int(escape[0][1:], 16))


def _opens(fields: Mapping[str, str]) -> bool:
    """Tell whether replay shows something for an entry of an index.

    It shows nothing for what crawls wrote of a page that hadn't changed before they wrote it
    without its head: a revisit whose status is 304.
    """
    return fields.get("mime") != "warc/revisit" or fields.get("status") != "304"


def _end(fields: Mapping[str, str]) -> float:
    """Return where the record of an entry ends; infinite if the entry doesn't say."""
    try:
        return int(fields["offset"]) + int(fields["length"])
    except (KeyError, ValueError, TypeError):
        return inf
