"""Traces made of URLs in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from lswc.lab.trace import graph
from lswc.lab.trace.format import CRAWL_DELAY, LINKS, TEXTS, URLS, About, TraceError, write
from lswc.reading.main_text.clean_text import NO_TEXT, CleanText
from lswc.strategy import Anchor, Named
from lswc.urls import directory, home, parse, site, tld

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
    relevant: bool = False
    links: Sequence[tuple[int, Anchor, Named]] = ()
    size: int = 0
    clean: CleanText = NO_TEXT


_NEVER = _Row(0)
_PLACES = ("server", "directory", "folder", "site")


@dataclass
class TraceBuilder:
    """Collects what became of each URL, in any order, and writes it as a trace.

    URLs are absolute; one that isn't valid, or isn't http or https, is left out; http and https
    twins are one URL, as in the frontier. A URL that is only linked to was never downloaded.
    What is added of a URL later replaces what was added before. ``has_texts``: the pages' clean
    text is known. ``crawl_delays`` are those of servers' robots.txt, in seconds.
    """

    about: About
    has_texts: bool = False
    crawl_delays: dict[str, float] = field(default_factory=dict)
    _urls: list[Url] = field(default_factory=list)
    _ids: dict[str, int] = field(default_factory=dict)
    _rows: dict[int, _Row] = field(default_factory=dict)

    def page(
        self,
        url: str,
        status: int,
        language: str | None,
        encoding: str | None,
        links: Iterable[tuple[str, Anchor, Named]],
        relevant: bool = False,
        size: int = 0,
        clean: CleanText = NO_TEXT,
    ) -> None:
        """Add an HTML page downloaded with success; ``links`` in document order.

        A link is its URL, the language of its anchor text, and the one that it names. The page is
        ``relevant`` if its language is the target, and else if the caller names it so. It has
        ``size`` bytes.
        """
        row = _Row(status, True, language, encoding, relevant, size=size, clean=clean)
        self._add(url, row)
        known = [
            (target, anchor, named)
            for address, anchor, named in links
            if (target := self._id(address)) is not None
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
        texts = [_texts(rows)] if self.has_texts else []
        write(folder, self.about, ids, [self._table(rows, level)], [links], texts)

    def _links(self, rows: Sequence[_Row]) -> pa.Table:
        columns = [
            pa.array([[int(link[place]) for link in row.links] for row in rows], kind)
            for place, kind in enumerate(LINKS.types)
        ]
        return pa.Table.from_arrays(columns, schema=LINKS)

    def _table(self, rows: Sequence[_Row], level: NDArray[np.int16]) -> pa.Table:
        columns = {
            **places(self._urls),
            "url": [url.href for url in self._urls],
            "language": [row.language for row in rows],
            "relevant": [
                row.relevant or (row.page and row.language == self.about.language) for row in rows
            ],
            "status": [row.status for row in rows],
            "page": [row.page for row in rows],
            "distance": level,
            "encoding": [row.encoding for row in rows],
            CRAWL_DELAY.name: [self.crawl_delays.get(url.server, 0.0) for url in self._urls],
        }
        schema = URLS.append(CRAWL_DELAY)
        arrays = [
            pa.array(columns[f.name]).cast(f.type)
            if not pa.types.is_dictionary(f.type)
            else pa.array(columns[f.name], pa.string()).dictionary_encode()
            for f in schema
        ]
        return pa.Table.from_arrays(arrays, schema=schema)


def _texts(rows: Sequence[_Row]) -> pa.Table:
    numbers: dict[int, int] = {}
    paragraphs = [
        [numbers.setdefault(name, len(numbers)) for name, _ in row.clean.paragraphs] for row in rows
    ]
    letters = [[letters for _, letters in row.clean.paragraphs] for row in rows]
    columns = [[row.size for row in rows], [row.clean.size for row in rows], paragraphs, letters]
    return pa.Table.from_pydict(dict(zip(TEXTS.names, columns, strict=True)), TEXTS)


def name_of(url: Url) -> str:
    """Return what http and https twins have in common, which are one URL of a trace."""
    return url.href.partition("://")[2]


def places(urls: Iterable[Url | None]) -> dict[str, list[Any]]:
    """Return the columns that say where URLs are; None, for what is no URL, is nowhere.

    Servers, directories, folders and sites are numbered from 0 in order of first sight.
    """
    numbers: dict[str, dict[str, int]] = {name: {} for name in _PLACES}
    found: dict[str, list[Any]] = {name: [] for name in (*_PLACES, "tld")}
    for url in urls:
        of_url = (
            (url.server, directory(url), home(url).folder, site(url.hostname)) if url else [""] * 4
        )
        for name, place in zip(_PLACES, of_url, strict=True):
            found[name].append(numbers[name].setdefault(place, len(numbers[name])))
        found["tld"].append(tld(url.hostname) if url else "")
    return found
