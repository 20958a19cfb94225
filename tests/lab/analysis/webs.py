"""Small webs written as traces (docs/lab/trace.md)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lswc.lab.analysis.questions import Questions, read, sections
from lswc.lab.trace import graph
from lswc.lab.trace.format import LINKS, URLS, About, write
from lswc.strategy import Anchor, Named
from lswc.urls import directory, home, parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lswc.lab.analysis.section import Section


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
    """A small web: pages first to last, then what they link to that was never downloaded.

    Links to the URLs in ``named`` name a language.
    """

    rows: list[Row] = field(default_factory=list)
    named: dict[str, Named] = field(default_factory=dict)

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
                "named": [
                    [self.named.get(url, Named.NONE) for url, _ in listed] for listed in links
                ],
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
            "folder": _numbered(home(url).folder for url in urls),
            "site": _numbered(site(url.hostname) for url in urls),
            "tld": [tld(url.hostname) for url in urls],
            "language": [row.language if row.page else None for row in rows],
            "relevant": [bool(row.page) and row.language == "th" for row in rows],
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


def write_crawl(folder: Path, *lines: str, lang: str = "th") -> Path:
    """Write a crawl folder of record lines."""
    folder.mkdir()
    (folder / "pages.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8")
    (folder / "summary.json").write_text(json.dumps({"language": lang}))
    return folder


def record(url: str, language: str | None, depth: int = 0, **more: str) -> str:
    """Return a line of a crawl's record."""
    told = {"url": url, "status": 200, "language": language, "encoding": "utf-8", "depth": depth}
    return json.dumps(told | more)


@dataclass
class Report:
    """A report's sections without its files."""

    sections: list[Section]

    @classmethod
    def of(cls, folder: Path, questions: Questions | None = None) -> Report:
        """Analyse a trace or crawl folder."""
        asked = questions or Questions()
        return cls(list(sections(read(folder, asked), asked)))

    @property
    def text(self) -> str:
        """All that is said outside tables."""
        return "\n".join(said for s in self.sections for said in (s.title, s.purpose, *s.findings))

    @property
    def tables(self) -> set[str]:
        """Names of the tables."""
        return {table.name for section in self.sections for table in section.tables}

    def rows(self, name: str) -> list[tuple[object, ...]]:
        """The rows of a table."""
        (table,) = [t for section in self.sections for t in section.tables if t.name == name]
        return list(table.rows)

    def column(self, name: str, head: str) -> list[object]:
        """A column of a table."""
        (table,) = [t for section in self.sections for t in section.tables if t.name == name]
        return [row[table.heads.index(head)] for row in table.rows]
