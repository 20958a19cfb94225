"""Seed lists: from a web directory's dump, a CSV, or the hubs of a crawl.

Chan & Yamana 2010 §3 take URLs of a directory (DMOZ), sort them by top-level domain and by the
language of the page, and draw a random 1,000 per language.
"""

from __future__ import annotations

import csv
import gzip
import heapq
import re
from collections import defaultdict
from hashlib import blake2b
from html import unescape
from typing import IO, TYPE_CHECKING, NamedTuple
from xml.parsers import expat

import numpy as np

from lswc.analysis.collection import AnalysisError, Collection
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.trace.format import Trace

    Judge = Callable[[str, str], str | None]
    """Language of a page by its URL and by what a directory says of it; None: can't be told."""


class Candidate(NamedTuple):
    """A URL that may become a seed; ``text`` is its title and description, "" if unknown."""

    url: str
    text: str = ""


# --- From a directory dump -------------------------------------------------------------------

_LINE = 1 << 16
_TEXT = 4096
"""Characters of a title or description that are kept."""

# XML's own five entities pass; any other ampersand becomes text, so no entity is ever expanded.
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_rdf(path: Path) -> Iterator[Candidate]:
    """Yield the pages of a dump in DMOZ's or Curlie's RDF (``ExternalPage``), plain or .gz.

    Streams: memory doesn't grow with the dump. Bytes that aren't UTF-8, control characters and
    stray ampersands, which real dumps have, are mended. Raises AnalysisError for what isn't XML
    and for a DTD with entities.
    """
    reader = _RdfReader()
    try:
        with _opened(path) as file:
            while line := file.readline(_LINE):
                reader.feed(line)
                yield from reader.take()
            reader.close()
            yield from reader.take()
    except (OSError, EOFError) as error:
        raise AnalysisError(f"can't read {path}: {error}") from error
    except expat.ExpatError as error:
        raise AnalysisError(f"{path} isn't the RDF of a web directory: {error}") from error


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", errors="replace")
    return path.open(encoding="utf-8", errors="replace")


class _RdfReader:
    """Pushes XML through expat and collects the pages named in it."""

    def __init__(self) -> None:
        self._found: list[Candidate] = []
        self._url = ""
        self._text: list[str] = []
        self._length = 0
        self._inside = ""
        self._pending = ""
        self._parser = expat.ParserCreate("UTF-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = _refuse

    def feed(self, line: str) -> None:
        # A line cut short may end within an entity; its last piece waits for the next one.
        line = self._pending + line
        cut = line.rfind("&", max(0, len(line) - 6)) if not line.endswith("\n") else -1
        line, self._pending = (line[:cut], line[cut:]) if cut >= 0 else (line, "")
        self._parse(line, last=False)

    def close(self) -> None:
        self._parse(self._pending, last=True)

    def take(self) -> list[Candidate]:
        """Return what was found since the last call."""
        found, self._found = self._found, []
        return found

    def _parse(self, text: str, *, last: bool) -> None:
        mended = _AMPERSAND.sub("&amp;", _NOT_XML.sub(" ", text))
        self._parser.Parse(mended.encode(), last)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "ExternalPage":
            self._url, self._text, self._length = attributes.get("about", ""), [], 0
        self._inside = name if name in ("Title", "Description") else ""

    def _end(self, name: str) -> None:
        self._inside = ""
        self._text.append(" ")
        if name.rpartition(":")[2] == "ExternalPage" and self._url:
            text = " ".join(unescape("".join(self._text)).split())
            self._found.append(Candidate(unescape(self._url), text))
            self._url = ""

    def _characters(self, text: str) -> None:
        if self._inside and self._url and self._length < _TEXT:
            self._text.append(text[:_TEXT])
            self._length += len(text)


def _refuse(*_: object) -> None:
    raise AnalysisError("the dump declares XML entities, as no web directory does: not read")


# --- From a CSV ------------------------------------------------------------------------------


def read_csv(path: Path) -> Iterator[Candidate]:
    """Yield the URLs of a CSV: a column ``url``, and ``title`` and ``description`` if there are.

    Without such a head, the first column is the URL and the others are text. Raises
    AnalysisError.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            rows = csv.reader(line.replace("\0", "") for line in file)
            first = next(rows, [])
            head = [name.strip().lower() for name in first]
            if "url" not in head:
                yield from _candidates([first], 0, None)
            at = head.index("url") if "url" in head else 0
            named = [i for i, name in enumerate(head) if name in ("title", "description")]
            yield from _candidates(rows, at, named if "url" in head else None)
    except (OSError, csv.Error) as error:
        raise AnalysisError(f"can't read {path}: {error}") from error


def _candidates(
    rows: Iterable[list[str]], at: int, text: Iterable[int] | None
) -> Iterator[Candidate]:
    for row in rows:
        if len(row) > at:
            columns = (i for i in range(len(row)) if i != at) if text is None else text
            yield Candidate(row[at].strip(), " ".join(row[i] for i in columns if i < len(row)))


# --- From a crawl ----------------------------------------------------------------------------


def hubs(trace: Trace) -> NDArray[np.int32]:
    """Return the best hub page of each relevant server, the best server first.

    Servers are ranked by the number of other relevant servers that their pages link to, then by
    the number of those links: a server that points the way to many others is a good place to
    begin. A server's hub is its relevant page with the most such links. Servers without such
    links are left out.
    """
    relevant = trace.relevant
    has_relevant = np.zeros(len(trace.site), np.bool_)
    has_relevant[trace.server[relevant]] = True
    source, target = _between(trace, relevant, has_relevant)
    servers = len(trace.site)
    pairs = np.unique(trace.server[source].astype(np.int64) * servers + trace.server[target])
    reached = np.bincount(pairs // servers, minlength=servers)
    linked = np.bincount(trace.server[source], minlength=servers)
    pages, outgoing = np.unique(source, return_counts=True)
    at = trace.server[pages]
    order = np.lexsort((pages, -outgoing, at, -linked[at], -reached[at]))
    first = np.concatenate([[True], np.diff(at[order]) != 0]) if len(order) else order > 0
    found: NDArray[np.int32] = pages[order][first].astype(np.int32)
    return found


def _between(
    trace: Trace, relevant: NDArray[np.bool_], has_relevant: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the links of relevant pages to other relevant servers, as sources and targets."""
    sources, targets = [], []
    step = 1 << 20
    for first in range(0, trace.urls, step):
        offsets = trace.offsets[first : first + step + 1]
        target = trace.targets[offsets[0] : offsets[-1]]
        source = np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets))
        home, there = trace.server[source], trace.server[target]
        kept = relevant[source] & (home != there) & has_relevant[there]
        sources.append(source[kept])
        targets.append(target[kept])
    return np.concatenate(sources), np.concatenate(targets)


def read_crawl(folder: Path, most: int) -> list[tuple[str, str]]:
    """Return URL and language of a trace's best hubs.

    Raises AnalysisError for data without links or URLs, TraceError for a torn trace.
    """
    collection = Collection.read(folder)
    if collection.trace is None:
        raise AnalysisError(f"{folder}: hubs need links: make a trace of the crawl and use that")
    wanted = hubs(collection.trace)[:most].tolist()
    named = dict(
        collection.rows("SELECT id, url FROM urls WHERE page AND language = $target AND url <> ''")
    )
    if wanted and not any(page in named for page in wanted):
        raise AnalysisError(f"{folder} has no URLs in words: a synthetic web makes no seeds")
    language = collection.about.language
    return [(named[page], language) for page in wanted if page in named]


# --- Choosing and writing --------------------------------------------------------------------


def choose(
    candidates: Iterable[Candidate],
    judge: Judge,
    languages: Iterable[str],
    most: int,
    seed: int,
    tlds: frozenset[str] = frozenset(),
) -> dict[str, list[str]]:
    """Draw at most ``most`` random URLs per language, of ``tlds`` alone if any are given.

    The draw keeps the URLs whose keyed hash is smallest, so it depends on the seed and the set of
    URLs alone, not on their order, and needs memory for the drawn ones only.
    """
    drawn: dict[str, list[tuple[int, str]]] = {code: [] for code in languages}
    members: defaultdict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        url = parse(candidate.url)
        if url is None or url.scheme not in ("http", "https") or not url.hostname:
            continue
        if tlds and tld(url.hostname) not in tlds:
            continue
        key = -_key(url.href, seed)
        if all(len(heap) >= most and key <= heap[0][0] for heap in drawn.values()):
            continue  # nobody would take it: spare the judge
        code = judge(url.href, candidate.text)
        if code in drawn and url.href not in members[code]:
            _draw(drawn[code], members[code], (key, url.href), most)
    return {code: sorted(url for _, url in heap) for code, heap in drawn.items()}


def _draw(
    heap: list[tuple[int, str]], members: set[str], entry: tuple[int, str], most: int
) -> None:
    members.add(entry[1])
    if len(heap) < most:
        heapq.heappush(heap, entry)
    else:
        members.discard(heapq.heappushpop(heap, entry)[1])


def _key(href: str, seed: int) -> int:
    salt = seed.to_bytes(8, signed=True)
    return int.from_bytes(blake2b(href.encode(), digest_size=8, key=salt).digest())


def text_of(urls: Iterable[str], own: Iterable[str], source: str) -> str:
    """Return seeds as text in the format of ``seeds/``: a comment per domain, a URL per line.

    The language's own top-level domains come first, then the others by number of seeds.
    """
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for url in urls:
        parsed = parse(url)
        groups[tld(parsed.hostname) if parsed else ""].append(url)
    first = set(own)
    order = sorted(groups, key=lambda name: (name not in first, -len(groups[name]), name))
    parts = [f"# .{name}\n" + "\n".join(groups[name]) + "\n" for name in order]
    return f"# Seeds from {source}\n\n" + "\n".join(parts)
