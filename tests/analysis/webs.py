"""Small webs written as traces (docs/trace.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lswc.simulator import graph
from lswc.simulator.trace import LINKS, URLS, About, write
from lswc.strategy import Anchor
from lswc.urls import directory, parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass
class Row:
    """A URL of a small web; ``links`` are URLs, or pairs of URL and anchor language."""

    url: str
    language: str | None = None
    links: tuple[str | tuple[str, Anchor], ...] = ()
    status: int = 200
    encoding: str | None = "utf-8"

    @property
    def page(self) -> bool:
        """Whether the URL is a page."""
        return self.status == 200


@dataclass
class Web:
    """A small web: pages first to last, then what they link to that was never downloaded."""

    rows: list[Row] = field(default_factory=list)

    def page(self, url: str, language: str | None, *links: str | tuple[str, Anchor]) -> Web:
        """Add a page."""
        self.rows.append(Row(url, language, links))
        return self

    def redirect(self, url: str, target: str) -> Web:
        """Add a redirect."""
        self.rows.append(Row(url, None, (target,), 301, None))
        return self

    def write(self, folder: Path, *seeds: str, without: Iterable[str] = ()) -> Path:
        """Write the web as a trace of the Thai web without some columns; return its folder."""
        rows = self._closed()
        ids = {row.url: number for number, row in enumerate(rows)}
        links = [[link if isinstance(link, tuple) else (link, Anchor.NONE) for link in row.links]
                 for row in rows]  # fmt: skip
        offsets = np.cumsum([0, *map(len, links)])
        targets = np.array([ids[url] for listed in links for url, _ in listed], np.int32)
        start = np.array([ids[seed] for seed in seeds], np.int32)
        urls = _urls(rows, graph.distances(offsets, targets, start))
        table = pa.table(
            {
                "targets": [[ids[url] for url, _ in listed] for listed in links],
                "anchors": [[int(anchor) for _, anchor in listed] for listed in links],
            },
            LINKS,
        )
        about = About("th", ("th",), "a web made by hand")
        dropped = set(without)
        urls = urls.drop_columns([name for name in urls.column_names if name in dropped])
        table = table.drop_columns([name for name in table.column_names if name in dropped])
        write(folder, about, start, [urls], [table])
        return folder

    def _closed(self) -> list[Row]:
        known = {row.url for row in self.rows}
        linked = [link if isinstance(link, str) else link[0] for r in self.rows for link in r.links]
        never = dict.fromkeys(url for url in linked if url not in known)
        return [*self.rows, *(Row(url, status=0, encoding=None) for url in never)]


def _urls(rows: list[Row], distance: np.ndarray[tuple[int], np.dtype[np.int16]]) -> pa.Table:
    urls = [url for row in rows if (url := parse(row.url)) is not None]
    return pa.table(
        {
            "url": [url.href for url in urls],
            "server": _numbered(url.server for url in urls),
            "directory": _numbered(directory(url) for url in urls),
            "site": _numbered(site(url.hostname) for url in urls),
            "tld": [tld(url.hostname) for url in urls],
            "language": [row.language if row.page else None for row in rows],
            "status": [row.status for row in rows],
            "page": [row.page for row in rows],
            "distance": distance,
            "encoding": [row.encoding for row in rows],
        },
        URLS,
    )


def _numbered(names: Iterable[str]) -> list[int]:
    ids: dict[str, int] = {}
    return [ids.setdefault(name, len(ids)) for name in names]
