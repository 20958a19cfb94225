"""Seed lists for ``scrapy seeds``: judged by their text, or fetched politely."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.http import TextResponse

from lswc.analysis import seeds
from lswc.analysis.collection import AnalysisError
from lswc.langid import Identifier
from lswc.languages import language
from lswc.web import prepare

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterable

    from scrapy.http import Response
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from lswc.analysis.seeds import Judge

FETCHED = 4
"""How many times as many pages as seeds are fetched to find them."""

_PLAIN = {
    "SPIDER_MIDDLEWARES": {},
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {},
    "SCHEDULER": "scrapy.core.scheduler.Scheduler",
    "DOWNLOADER_MIDDLEWARES": {},
    "DOWNLOAD_HANDLERS": {"data": None, "file": None, "ftp": None, "s3": None},
    "DOWNLOAD_MAXSIZE": 4 << 20,
    "LOG_LEVEL": "ERROR",
}
"""Settings of a fetch without the crawl's frontier; politeness stays the project's."""


def make(opts: argparse.Namespace, source: Path, settings: Settings) -> None:
    """Write the seed lists that the options of ``scrapy seeds`` ask for.

    Raises AnalysisError, and ValueError for an unknown language.
    """
    codes = [language(code.strip()).code for code in opts.lang.split(",")]
    if opts.most < 1:
        raise AnalysisError(f"--most must be at least 1, not {opts.most}")
    for code in codes:
        if (opts.out / f"{code}.txt").exists():
            raise AnalysisError(f"{opts.out / code}.txt exists: choose another --out")
    for code, urls in _chosen(opts, codes, settings).items():
        _write(opts.out, code, urls, source.name)


def _chosen(opts: argparse.Namespace, codes: list[str], settings: Settings) -> dict[str, list[str]]:
    if opts.crawl is not None:
        found = seeds.read_crawl(opts.crawl, opts.most)
        return {code: [url for url, its in found if its == code] for code in codes}
    candidates = seeds.read_rdf(opts.rdf) if opts.rdf is not None else seeds.read_csv(opts.csv)
    tlds = frozenset(name.strip(" .").lower() for name in opts.tlds.split(",") if name.strip())
    if not opts.fetch:
        judge = _by_text(codes)
        return seeds.choose(candidates, judge, codes, opts.most, opts.random_seed, tlds)
    wanted = opts.most * len(codes) * FETCHED
    drawn = seeds.choose(candidates, lambda *_: "any", ["any"], wanted, opts.random_seed, tlds)
    told = _fetched(drawn["any"], codes, settings)
    pages = [seeds.Candidate(url) for url in told]
    return seeds.choose(pages, lambda url, _: told.get(url), codes, opts.most, opts.random_seed)


def _fetched(urls: list[str], codes: list[str], settings: Settings) -> dict[str, str]:
    """Fetch pages politely, and return the languages of those that could be told."""
    settings = settings.copy()
    prepare(settings.get("LSWC_WEB"), Path("crawls"))
    settings.setdict(_PLAIN, priority="cmdline")
    told: dict[str, str] = {}
    process = AsyncCrawlerProcess(settings)
    process.crawl(SeedSpider, urls=urls, codes=codes, told=told)
    process.start()
    return told


class SeedSpider(Spider):
    """Fetches single pages, plainly and politely, and notes their languages; follows no link."""

    name = "seeds"

    def __init__(self, urls: list[str], codes: list[str], told: dict[str, str]) -> None:
        super().__init__()
        self._urls, self._told = urls, told
        self._identifiers = _identifiers(codes)

    async def start(self) -> AsyncIterator[Request]:
        for url in self._urls:
            yield Request(url, self.parse, errback=self.failed, cb_kwargs={"asked": url})

    def parse(self, response: Response, asked: str) -> Iterable[None]:
        if isinstance(response, TextResponse):
            header = (response.headers.get("Content-Type") or b"").decode("latin-1")
            code = _told(self._identifiers, response.body, header, response.url)
            if code is not None:
                self._told[asked] = code
        return ()

    def failed(self, failure: Failure) -> None:
        """Leave out a page that can't be fetched."""
        self.logger.info("not fetched: %s", failure.getErrorMessage())


def _identifiers(codes: list[str]) -> dict[str, Identifier]:
    return {code: Identifier(language(code)) for code in codes}


def _told(identifiers: dict[str, Identifier], body: bytes, header: str, url: str) -> str | None:
    """Return the first of the languages that a page is in."""
    for code, identifier in identifiers.items():
        if identifier.read(body, header, url).identification.language == code:
            return code
    return None


def _by_text(codes: list[str]) -> Judge:
    identifiers = _identifiers(codes)

    def judge(url: str, text: str) -> str | None:
        if not text:
            return None
        body = f"<body>{escape(text)}".encode(errors="replace")
        return _told(identifiers, body, "text/html; charset=utf-8", url)

    return judge


def _write(out: Path, code: str, urls: list[str], source: str) -> None:
    name = language(code).name
    if not urls:
        print(f"scrapy seeds: no {name} page found, no {code}.txt written", file=sys.stderr)
        return
    path = out / f"{code}.txt"
    try:
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(seeds.text_of(urls, language(code).tlds, source), encoding="utf-8")
    except OSError as error:
        raise AnalysisError(f"can't write {path}: {error.strerror}") from error
    print(f"{path}: {len(urls):,} {name} seeds")
