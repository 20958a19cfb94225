"""Visits of candidates: each entry page is fetched as a crawl does it, and what is seen is kept.

The visits are a crawl of their own, whose folder goes on after Ctrl-C. Where an entry page is in
another language, one more page of its site is asked for: that which a menu, ``hreflang`` or an
address such as ``/cy/`` names as being in the language.
"""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec
from scrapy.crawler import AsyncCrawlerProcess

from lswc.archive.log_tables import scan
from lswc.crawl.spider import LswcSpider
from lswc.crawl.web import prepare
from lswc.errors import writing
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store import report as sqlite_report
from lswc.outcomes import Outcome
from lswc.reading.opt_outs import forbids_mining
from lswc.seeds.kinds import of_page
from lswc.strategy import SEED, Locality, Named, PageLanguage
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence

    from scrapy.http import Response
    from scrapy.settings import Settings

    from lswc.crawl.pages import Page
    from lswc.progress import Say
    from lswc.reading.page import ReadLink

NOTES = "seen.jsonl"
"""Name of the file, in the folder of the visits, that has a line for each page that was seen."""

NOT_VISITED = "not visited"
"""Reason for a candidate whose visit hasn't ended."""

_UNKEPT = {"LSWC_ARCHIVE": "none", "LSWC_DOCUMENTS": False, "LSWC_SITEMAPS": False}
_MOST_LINKS = 300
"""Links of an entry page that add to what its site should bring."""


class Seen(msgspec.Struct, frozen=True):
    """What was seen of a candidate: ``asked`` is its URL, ``url`` that of the page.

    ``language`` is the one asked for that leads on the page, "" if none does, and ``share`` its
    share of the text; ``leads`` is what leads there. ``links`` lead to pages of its own site,
    without those that name another language. ``unwanted`` says that it asks not to be kept,
    ``is_closed`` that it forbids to mine its text. ``day`` is when, in UTC.
    """

    asked: str
    url: str
    language: str
    share: float
    leads: str
    kind: str
    links: int
    unwanted: str
    is_closed: bool
    day: str

    @property
    def worth(self) -> float:
        """What its site should bring: its links, as far as its text is in the language."""
        return self.share * (1 + min(self.links, _MOST_LINKS))


class Visits(NamedTuple):
    """What came of the candidates: the best page seen of each, and why there is none, by URL."""

    seen: dict[str, Seen]
    failed: dict[str, str]


def visit(
    urls: Sequence[str], codes: Sequence[str], folder: Path, settings: Settings, say: Say
) -> Visits:
    """Fetch pages, politely; go on where an earlier run in the same folder stopped.

    Raises LswcError for a mistake in the settings, KeyboardInterrupt after Ctrl-C.
    """
    if not urls:
        return Visits({}, {})
    web = prepare(settings.get("LSWC_WEB"), Path("crawls"))
    settings = settings.copy()
    own = {"LSWC_CRAWL": str(folder), "LSWC_FRONTIER": "sqlite", "LSWC_WEB": str(web or "")}
    settings.setdict({**_UNKEPT, **own}, priority="cmdline")
    settings.set("LOG_LEVEL", "ERROR", priority="spider")
    before, seeds = _seen(folder), folder / "seeds.txt"
    with _taken_back(folder):
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            seeds.write_text("\n".join(urls), encoding="utf-8")
        given: dict[str, Any] = {
            "lang": ",".join(codes),
            "seeds": str(seeds),
            "before": before,
            "read": lambda done: say("fetch", done, len(urls)),
        }
        SeedSpider.check(settings, **given, notes=BytesIO())
    with writing(folder), (folder / NOTES).open("ab") as notes:
        notes.write(b"\n")  # a kill may have cut the last line short
        reasons = _crawl(settings, urls, {**given, "notes": notes})
    return _visits(urls, _seen(folder), reasons | dict(_ended(folder)), _redirects(folder))


@contextmanager
def _taken_back(folder: Path) -> Iterator[None]:
    """Take away the folders that the block made, if it raises."""
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        if made:
            rmtree(folder, ignore_errors=True)
        for path in made[1:]:
            with suppress(OSError):
                path.rmdir()
        raise


def _crawl(settings: Settings, urls: Sequence[str], given: dict[str, Any]) -> dict[str, str]:
    """Crawl the candidates; return why some were never asked for. Raises KeyboardInterrupt."""
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SeedSpider)
    process.crawl(crawler, **given)
    process.start()
    if crawler.stats.get_value("finish_reason") == "shutdown":
        raise KeyboardInterrupt
    if not isinstance(crawler.spider, SeedSpider):
        return {}
    crawl = crawler.spider.crawl
    scoped = ((url, crawl.seed(url)) for url in urls)
    return {url: str(offer) for url, offer in scoped if isinstance(offer, Outcome)}


def _ended(folder: Path) -> Iterable[tuple[str, str]]:
    frontier = folder / FRONTIER_FILE
    return sqlite_report.finished(frontier) if frontier.exists() else ()


def _redirects(folder: Path) -> dict[str, str]:
    """Return by its target what led somewhere else: no other link is in the log of visits."""
    return {
        target: source
        for rows in scan(folder, "links", ["source", "target"])
        for source, target in zip(*(column.to_pylist() for column in rows.columns), strict=True)
    }


def _seen(folder: Path) -> list[Seen]:
    """Return what was seen so far; a line that a kill cut short is left out."""
    try:
        lines = (folder / NOTES).read_bytes().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            found.append(msgspec.json.decode(line, type=Seen))
        except msgspec.DecodeError:
            continue
    return found


def _visits(
    urls: Sequence[str], notes: Iterable[Seen], ends: dict[str, str], came: Mapping[str, str]
) -> Visits:
    """Return what is known of each candidate: the best page that it led to.

    ``came`` says, by their targets, which URLs redirected.
    """
    asked = set(urls)
    seen: dict[str, Seen] = {}
    for note in notes:
        entry = note.asked
        for _ in range(len(came)):
            if entry in asked or entry not in came:
                break
            entry = came[entry]
        best = seen.get(entry)
        if entry in asked and (best is None or _rank(note) >= _rank(best)):
            seen[entry] = note
    failed = {url: ends.get(url, NOT_VISITED) for url in urls if url not in seen}
    return Visits(seen, failed)


def _rank(note: Seen) -> tuple[bool, float]:
    return bool(note.language) and not note.unwanted, note.share


def site_of(url: str) -> str:
    """Return the registered domain of a URL, "" of what is none."""
    parsed = parse(url)
    return site(parsed.hostname) if parsed else ""


class SeedSpider(LswcSpider):
    """Fetches candidates as a crawl does, notes what it sees, and follows one link at most of each.

    The target of a redirect takes the place of a candidate. ``notes`` takes a line for each page,
    ``before`` are those of earlier runs; ``read`` hears the number of pages so far.
    """

    name = "seeds"

    def __init__(
        self,
        lang: str,
        seeds: str,
        notes: IO[bytes],
        before: list[Seen],
        read: Callable[[int], None],
    ) -> None:
        super().__init__(lang, seeds)
        self._notes, self._read, self._pages = notes, read, len(before)
        self._asked = {note.url: note.asked for note in before}

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Page]:
        """Note what a page is and end its visit; there is no record of it."""
        page = await self.parts.pages.read(response)
        if page is not None:
            self._pages += 1
            self._read(self._pages)
            note = self._note(page, response)
            self._notes.write(msgspec.json.encode(note) + b"\n")
            self._notes.flush()
            if not note.language and page.visit.lease.depth == 0:
                page.visit.offers = self._others(page)
            kind = "relevant" if note.language else "irrelevant"
            page.visit.tally = Counter({("page", kind): 1})
            self.parts.commits.commit(page.visit, page.reading.unwanted or Outcome.HTML)
        return
        yield

    def _note(self, page: Page, response: Response) -> Seen:
        reading, visit = page.reading, page.visit
        identified = reading.identification
        language = self._language(page)
        referrer = visit.lease.referrer
        asked = visit.lease.url if referrer is None else self._asked.get(referrer, referrer)
        self._asked[visit.url] = self._asked[visit.lease.url] = asked
        markup = response.body.decode("latin-1")
        return Seen(
            asked=asked,
            url=visit.url,
            language=language,
            share=round(identified.share(language), 3) if language else 0.0,
            leads=identified.language or "",
            kind=of_page(page.url.hostname, markup),
            links=sum(_is_inside(link) and link.named != Named.OTHER for link in reading.links),
            unwanted=str(reading.unwanted or ""),
            is_closed=forbids_mining(reading.opt_outs.said),
            day=datetime.now(UTC).date().isoformat(),
        )

    def _language(self, page: Page) -> str:
        """Return which of the languages leads on a page; "" if none does."""
        identified = page.reading.identification
        for target in self.crawl.language.languages:
            if identified.wanted(target) == target.tag:
                return target.tag
        return ""

    def _others(self, page: Page) -> list[Offer]:
        """Return the page of the same site that is named as being in the language, if any is.

        Of several that nearest to the root: a translation of the whole, not of an article.
        """
        inside = [link for link in page.reading.links if _is_inside(link)]
        found = [link.url for link in inside if link.named == Named.TARGET]
        if not found:  # what a user's own language is called is in no table
            codes = {language.code for language in self.crawl.language.languages}
            found = [link.url for link in inside if codes & set(link.url.path.split("/"))]
        if not found:
            return []
        url = min(found, key=lambda url: (url.path.count("/"), len(url.href)))
        unit = self.crawl.unit(url)
        return [Offer(url.href, url.server, unit, SEED, PageLanguage.TARGET, 1)]


def _is_inside(link: ReadLink) -> bool:
    return link.locality in (Locality.SAME_SERVER, Locality.SAME_SITE)
