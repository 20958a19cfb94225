"""``scrapy seeds``: a seed list for a language, from a directory, a CSV or a crawl."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.commands import ScrapyCommand
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.exceptions import UsageError
from scrapy.http import TextResponse
from scrapy.settings import Settings

from lswc.errors import ConfigError
from lswc.langid import Identifier
from lswc.languages import language
from lswc.web import prepare

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Iterable

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from lswc.analysis.seeds import Judge

OFFLINE, FETCHED = 1000, 4
"""Default number of seeds per language; and how many times as many are fetched to find them."""


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


class Command(ScrapyCommand):
    """Writes seeds/<lang>.txt for one or more languages; a user's mistake is exit code 2."""

    requires_project = True
    requires_crawler_process = False

    def syntax(self) -> str:
        return (
            "--lang <lang>[,<lang>...] --rdf <dump> | --csv <file> | --crawl <trace> --out <folder>"
        )

    def short_desc(self) -> str:
        return "Make a seed list from a web directory, a CSV of URLs or a crawl's hubs"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--lang", default="", help="languages, such as th or ja,ko,zh")
        add("--rdf", type=Path, help="dump of a web directory in DMOZ's RDF, plain or .gz")
        add("--csv", type=Path, help="CSV of URLs; columns title and description help to judge")
        add("--crawl", type=Path, help="trace of a crawl: take its best hubs")
        add("--out", type=Path, help="folder for <lang>.txt, made if need be")
        add("--tlds", default="", help="only these top-level domains, such as th,com,net")
        add("--most", type=int, default=OFFLINE, help="seeds per language (default: 1000)")
        add("--random-seed", type=int, default=1, help="of the random choice (default: 1)")
        add("--fetch", action="store_true", help="fetch the pages to tell their language")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        given = [path for path in (opts.rdf, opts.csv, opts.crawl) if path is not None]
        if args or len(given) != 1 or not opts.lang or opts.out is None:
            raise UsageError(
                "give --lang, --out and one of --rdf, --csv, --crawl", print_help=False
            )
        try:
            self._make(opts, given[0])
        except ValueError as error:
            print(f"scrapy seeds: error: {error}", file=sys.stderr)
            self.exitcode = 2

    def _make(self, opts: argparse.Namespace, source: Path) -> None:
        codes = [language(code.strip()).code for code in opts.lang.split(",")]
        if opts.most < 1:
            raise ConfigError(f"--most must be at least 1, not {opts.most}")
        for code in codes:
            if (opts.out / f"{code}.txt").exists():
                raise ConfigError(f"{opts.out / code}.txt exists: choose another --out")
        for code, urls in self._chosen(opts, codes).items():
            _write(opts.out, code, urls, source.name)

    def _chosen(self, opts: argparse.Namespace, codes: list[str]) -> dict[str, list[str]]:
        # Scrapy imports all commands for any of them: the compiler only for this one.
        from lswc.analysis import seeds

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
        told = self._fetched(drawn["any"], codes)
        pages = [seeds.Candidate(url) for url in told]
        return seeds.choose(pages, lambda url, _: told.get(url), codes, opts.most, opts.random_seed)

    def _fetched(self, urls: list[str], codes: list[str]) -> dict[str, str]:
        """Fetch pages politely, and return the languages of those that could be told."""
        settings = (self.settings or Settings()).copy()
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
    from lswc.analysis.seeds import text_of

    name = language(code).name
    if not urls:
        print(f"scrapy seeds: no {name} page found, no {code}.txt written", file=sys.stderr)
        return
    path = out / f"{code}.txt"
    try:
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(urls, language(code).tlds, source), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from error
    print(f"{path}: {len(urls):,} {name} seeds")
