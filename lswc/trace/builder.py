"""Traces made of URLs in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

<<<<<<< HEAD
from lswc.strategy import Anchor
=======
from lswc.langid import Identifier
from lswc.reading.named import named
from lswc.strategy import Anchor, Named
>>>>>>> core
from lswc.trace import graph
from lswc.trace.format import LINKS, URLS, About, TraceError, write
from lswc.urls import directory, parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.urls import Url


class _Row(NamedTuple):
    status: int
    page: bool = False
    language: str | None = None
    encoding: str | None = None
    links: Sequence[tuple[int, Anchor, Named]] = ()


_NEVER = _Row(0)


@dataclass
class TraceBuilder:
    """Collects what became of each URL, in any order, and writes it as a trace.

    URLs are absolute; one that isn't valid, or isn't http or https, is left out; http and https
    twins are one URL, as in the frontier. A URL that is only linked to was never downloaded.
    What is said of a URL later replaces what was said before.
    """

    about: About
    _urls: list[Url] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)
    _rows: dict[int, _Row] = field(default_factory=dict)

    def page(
        self,
        url: str,
        status: int,
        language: str | None,
        encoding: str | None,
        links: Iterable[tuple[str, Anchor] | tuple[str, Anchor, Named]],
    ) -> None:
        """Add an HTML page downloaded with success; ``links`` in document order.

        A link is its URL, the language of its anchor text, and the one that it names, if any.
        """
        row = _Row(status, True, language, encoding)
        self._add(url, row)
        targets = [(self._id(target), anchor, *named) for target, anchor, *named in links]
        known = [
            (target, anchor, named[0] if named else Named.NONE)
            for target, anchor, *named in targets
            if target is not None
        ]
        self._add(url, row._replace(links=known))

    def redirect(self, url: str, status: int, target: str) -> None:
        """Add a URL that redirects to another."""
        to = self._id(target)
        self._add(url, _Row(status, links=[] if to is None else [(to, Anchor.NONE, Named.NONE)]))

    def failure(self, url: str, status: int) -> None:
        """Add a URL that brought no page: an error, or not HTML; status 0: no answer at all."""
        self._add(url, _Row(status))

    def _add(self, url: str, row: _Row) -> None:
        known = self._id(url)
        if known is not None:
            self._rows[known] = row

    def _id(self, address: str) -> int | None:
        url = parse(address)
        if url is None or url.scheme not in ("http", "https"):
            return None
        if name_of(url) not in self._ids:
            self._ids[name_of(url)] = len(self._urls)
            self._urls.append(url)
        return self._ids[name_of(url)]

    def write(self, folder: Path | str, seeds: Iterable[str]) -> None:
        """Write the trace. Raises TraceError, also if no seed is a valid URL."""
        ids = [known for seed in seeds if (known := self._id(seed)) is not None]
        if not ids:
            raise TraceError("no seed is a valid http or https URL")
        rows = [self._rows.get(number, _NEVER) for number in range(len(self._urls))]
        links = self._links(rows)
        offsets = links.column("targets").chunk(0).offsets.to_numpy().astype(np.int64)
        targets = links.column("targets").chunk(0).values.to_numpy()
        level = graph.distances(offsets, targets, np.array(ids, np.int32))
        write(folder, self.about, ids, [self._table(rows, level)], [links])

    def _links(self, rows: Sequence[_Row]) -> pa.Table:
        columns = [
            pa.array([[int(link[place]) for link in row.links] for row in rows], kind)
            for place, kind in enumerate(LINKS.types)
        ]
        return pa.Table.from_arrays(columns, schema=LINKS)

    def _table(self, rows: Sequence[_Row], level: NDArray[np.int16]) -> pa.Table:
        columns = {
            "url": [url.href for url in self._urls],
            "server": _numbered(url.server for url in self._urls),
            "directory": _numbered(directory(url) for url in self._urls),
            "site": _numbered(site(url.hostname) for url in self._urls),
            "tld": [tld(url.hostname) for url in self._urls],
            "language": [row.language for row in rows],
            "status": [row.status for row in rows],
            "page": [row.page for row in rows],
            "distance": level,
            "encoding": [row.encoding for row in rows],
        }
        arrays = [
            pa.array(columns[f.name]).cast(f.type)
            if not pa.types.is_dictionary(f.type)
            else pa.array(columns[f.name], pa.string()).dictionary_encode()
            for f in URLS
        ]
        return pa.Table.from_arrays(arrays, schema=URLS)


def name_of(url: Url) -> str:
    """Return what http and https twins have in common, which are one URL of a trace."""
    return url.href.partition("://")[2]


def _numbered(names: Iterable[str]) -> list[int]:
    """Return a number for each name, from 0 in order of first sight."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]
<<<<<<< HEAD
=======


def from_web(
    web: Web, seeds: Sequence[str], language: Language, source: str, agent: str = "lswc"
) -> TraceBuilder:
    """Read everything that is reachable from the seeds in a frozen web or WARC files.

    Pages are identified as in a live crawl for the language; links marked nofollow, and a
    page's links to itself, are left out. What robots.txt forbids to ``agent``, and what the web
    doesn't hold, counts as never downloaded.
    """
    builder = TraceBuilder(About(language.code, language.tlds, source))
    reader = _WebReader(web, Identifier(language), agent, builder)
    queue = deque(seeds)
    seen: set[str] = set()
    while queue:
        url = parse(queue.popleft())
        if url is None or _name(url) in seen:
            continue
        seen.add(_name(url))
        queue.extend(reader.read(url))
    return builder


class _WebReader:
    """Reads URLs of a web into a trace, and tells where they lead."""

    def __init__(self, web: Web, identifier: Identifier, agent: str, builder: TraceBuilder) -> None:
        self._web, self._identifier, self._agent = web, identifier, agent
        self._builder = builder
        self._robots: dict[str, Protego] = {}

    def read(self, url: Url) -> list[str]:
        if not self._web.knows(url.server) or not self._allowed(url):
            self._builder.failure(url.href, 0)
            return []
        answer = self._web.answer(url.server, _target(url))
        location = _header(answer, "location")
        if answer.status in REDIRECTS and location:
            target = urljoin(url.href, location)
            twin = parse(target)
            if twin is not None and _name(twin) == _name(url):
                self._builder.failure(url.href, answer.status)  # a web has one answer for both
                return []
            self._builder.redirect(url.href, answer.status, target)
            return [target]
        content_type = _header(answer, "content-type")
        kind = (content_type or HTML[0]).partition(";")[0].strip().lower()
        if not 200 <= answer.status < 300 or kind not in HTML:
            self._builder.failure(url.href, answer.status)
            return []
        return self._page(url, answer, content_type)

    def _page(self, url: Url, answer: Answer, content_type: str | None) -> list[str]:
        body = answer.body.read_bytes() if isinstance(answer.body, Path) else answer.body
        reading = self._identifier.read(body, content_type, url.href)
        nofollow = "nofollow" in reading.robots
        language = self._identifier.target.code
        links = [
            (
                target.href,
                link.anchor,
                named(language, target, link.hreflang or link.lang),
            )
            for link in reading.links
            if not (nofollow or link.nofollow)
            and (target := parse(link.url))
            and target.href != url.href
        ]
        found = reading.identification
        self._builder.page(url.href, answer.status, found.language, found.encoding, links)
        return [target for target, *_ in links]

    def _allowed(self, url: Url) -> bool:
        if url.server not in self._robots:
            answer = self._web.answer(url.server, "/robots.txt")
            body = answer.body.read_bytes() if isinstance(answer.body, Path) else answer.body
            text = body.decode("utf-8", "replace") if answer.status == 200 else ""
            self._robots[url.server] = Protego.parse(text)
        return bool(self._robots[url.server].can_fetch(url.href, self._agent))


def _header(answer: Answer, name: str) -> str | None:
    return next((value for key, value in answer.headers if key.lower() == name), None)


def _target(url: Url) -> str:
    """Return path and query, percent-encoded."""
    return url.href.removeprefix(f"{url.scheme}://{url.server}")
>>>>>>> core
