"""Collection: crawls whose captures belong together, as one archive.

A crawl that visits what earlier ones stored (LSWC_RECRAWL) has only that a page was the same then:
the page itself is where it was stored.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.cdxj import fields_of, index_of
from lswc.archive.run_settings import SETTINGS, earlier_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_UNCHANGED = b'"304"'
_REVISIT = b'"warc/revisit"'


class Collection(NamedTuple):
    """Crawl folders: those that were named, then those that they visited again, each once.

    ``gone`` says which earlier crawls, and which WARC files of any, aren't there any more, a
    sentence each.
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
        if not (crawl / SETTINGS).exists():
            continue
        for earlier in earlier_of(crawl):
            if not (earlier / "warc").is_dir():
                gone[f"{earlier}, which {crawl} visited again, isn't there: put it back"] = None
            elif earlier.resolve() not in found:
                found[earlier.resolve()] = earlier
                waiting.append(earlier)
    return Collection(tuple(found.values()), tuple(gone))


def opens(line: bytes) -> bool:
    """Tell whether replay shows something for a line of an index.

    It shows nothing for what crawls wrote of a page that hadn't changed before they wrote it
    without its head: a revisit whose status is 304.
    """
    if _REVISIT not in line or _UNCHANGED not in line:
        return True
    fields = fields_of(line)
    return fields is None or fields.get("status") != "304"


def lines_of(warc: Path, name: str) -> Iterator[bytes]:
    """Yield the lines of a WARC file's index that replay can show, under the file's name, in order.

    That of a killed crawl isn't sorted yet. Raises OSError.
    """
    before, now = f'"{warc.name}"'.encode(), f'"{name}"'.encode()
    with index_of(warc).open("rb") as file:
        found = sorted(line for line in file if opens(line) and fields_of(line) is not None)
    for line in found:
        yield line if before == now else line.replace(before, now)


def is_ready(warc: Path, name: str) -> bool:
    """Tell whether a WARC file's index can be looked up as it is, under the file's name.

    Raises OSError.
    """
    if name != warc.name:
        return False
    with index_of(warc).open("rb") as file:
        if not all(one <= other and opens(other) for one, other in pairwise(file)):
            return False
        file.seek(0)
        return opens(file.readline())
