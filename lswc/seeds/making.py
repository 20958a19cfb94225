"""Seed lists for ``scrapy seeds``: judged by their text, or fetched politely."""

from __future__ import annotations

import sys
from collections import Counter
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console
from scrapy.crawler import AsyncCrawlerProcess

from lswc.analysis.collection import AnalysisError
from lswc.crawl import contact
from lswc.crawler.spider import LswcSpider
from lswc.crawler.summary import SummaryExtension
from lswc.errors import writing
from lswc.frontier import MEMORY
from lswc.langid import Identifier
from lswc.languages import language
from lswc.outcomes import Outcome
from lswc.seeds import candidates
from lswc.terminal.tables import counted
from lswc.web import prepare

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping

    from scrapy.http import Response
    from scrapy.settings import Settings

    from lswc.crawler.items import Page
    from lswc.seeds.candidates import Judge

FETCHED = 4
"""How many times as many pages as seeds are fetched to find them."""

_UNKEPT = {"LSWC_FRONTIER": MEMORY, "LSWC_ARCHIVE": "none"}


def make(opts: argparse.Namespace, source: Path, settings: Settings) -> None:
    """Write the seed lists that the options of ``scrapy seeds`` ask for.

    Raises LswcError.
    """
    codes = [language(code.strip()).tag for code in opts.lang.split(",")]
    if opts.most < 1:
        raise AnalysisError(f"--most must be at least 1, not {opts.most}")
    for code in codes:
        if (opts.out / f"{code}.txt").exists():
            raise AnalysisError(f"{opts.out / code}.txt exists: choose another --out")
    if opts.fetch and not settings.get("LSWC_WEB"):
        contact(settings)  # now: a large directory takes long to read
    for code, urls in _chosen(opts, codes, settings).items():
        _write(opts.out, code, urls, source.name)


def _chosen(opts: argparse.Namespace, codes: list[str], settings: Settings) -> dict[str, list[str]]:
    if opts.crawl is not None:
        found = candidates.read_crawl(opts.crawl, opts.most)
        return {code: [url for url, its in found if its == code] for code in codes}
    read = candidates.read_csv if opts.rdf is None else candidates.read_rdf
    given = read(opts.csv if opts.rdf is None else opts.rdf)
    tlds = frozenset(name.strip(" .").lower() for name in opts.tlds.split(",") if name.strip())
    if not opts.fetch:
        judge = _by_text(codes)
        return candidates.choose(given, judge, codes, opts.most, opts.random_seed, tlds)
    wanted = opts.most * len(codes) * FETCHED
    drawn = candidates.choose(given, lambda *_: "any", ["any"], wanted, opts.random_seed, tlds)
    told = _fetched(drawn["any"], codes, settings)
    pages = [candidates.Candidate(url) for url in told]
    return candidates.choose(
        pages, lambda url, _: told.get(url), codes, opts.most, opts.random_seed, tlds
    )


def _fetched(urls: list[str], codes: list[str], settings: Settings) -> dict[str, str]:
    """Fetch pages as a crawl does; return the URLs that were told a language, and which.

    Raises LswcError for a mistake in the settings.
    """
    if not urls:
        return {}
    settings = settings.copy()
    web = prepare(settings.get("LSWC_WEB"), Path("crawls"))
    with TemporaryDirectory(prefix="lswc-seeds-") as folder:
        file = Path(folder, "seeds.txt")
        file.write_text("\n".join(urls), encoding="utf-8")
        unkept = {**_UNKEPT, "LSWC_CRAWL": folder, "LSWC_WEB": str(web or "")}
        settings.setdict(unkept, priority="cmdline")
        settings.set("LOG_LEVEL", "ERROR", priority="spider")
        settings.set_in_component_priority_dict("EXTENSIONS", SummaryExtension, None)
        told: dict[str, str] = {}
        _crawl(settings, {"lang": codes[0], "seeds": str(file), "codes": codes, "told": told})
    return told


def _crawl(settings: Settings, arguments: dict[str, Any]) -> None:
    """Crawl the seeds, and print how their requests ended."""
    SeedSpider.check(settings, **arguments)
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SeedSpider)
    process.crawl(crawler, **arguments)
    process.start()
    stats = crawler.stats.get_stats()
    ends = {kind: _counts(stats, f"lswc/{kind}/") for kind in ("finished", "dropped")}
    Console().print(counted("candidates", ends, longest=None))


def _counts(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): stats[name] for name in stats if name.startswith(prefix)}


class SeedSpider(LswcSpider):
    """Fetches its seeds as a crawl does, notes their languages, and follows no link.

    The target of a redirect takes the place of the seed. ``codes`` are the languages, the first
    of them the crawl's; ``told`` takes the URLs that are in one of them.
    """

    name = "seeds"

    def __init__(self, lang: str, seeds: str, codes: list[str], told: dict[str, str]) -> None:
        super().__init__(lang, seeds)
        self._others, self._told = _identifiers(codes[1:]), told

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Page]:
        """Note a page's language and end its visit; there is no record of it."""
        page = self.read(response)
        if page is not None:
            code = None if page.reading.unwanted else self._language(page, response)
            if code is not None:
                self._told[page.visit.url] = code
            page.visit.tally = Counter({("page", "relevant" if code else "irrelevant"): 1})
            self.running.commit(page.visit, page.reading.unwanted or Outcome.HTML)
        return iter(())

    def _language(self, page: Page, response: Response) -> str | None:
        if page.reading.identification.wanted(self.crawl.language) == self.lang:
            return self.lang
        header = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return _told(self._others, response.body, header, response.url)


def _identifiers(codes: list[str]) -> dict[str, Identifier]:
    return {code: Identifier(language(code)) for code in codes}


def _told(identifiers: dict[str, Identifier], body: bytes, header: str, url: str) -> str | None:
    """Return the first of the languages that a page is in."""
    for code, identifier in identifiers.items():
        if identifier.read(body, header, url).identification.wanted(identifier.target) == code:
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
    with writing(path):
        out.mkdir(parents=True, exist_ok=True)
        path.write_text(candidates.text_of(urls, language(code).tlds, source), encoding="utf-8")
    print(f"{path}: {len(urls):,} {name} seeds")
