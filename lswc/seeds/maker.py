"""Seed lists for ``scrapy seeds``: judged by what the source says, or fetched politely."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import partial
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.crawler import AsyncCrawlerProcess

from lswc.crawl.checked_settings import contact
from lswc.crawl.requests import headers_of
from lswc.crawl.spider import LswcSpider
from lswc.crawl.web import prepare
from lswc.errors import writing
from lswc.files import whole
from lswc.frontier import MEMORY
from lswc.language import Identifier
from lswc.language.registry import language
from lswc.outcomes import Outcome
from lswc.plurals import numbered
from lswc.safety.content_types import declared_type
from lswc.seeds.candidates import Asked, SeedError
from lswc.seeds.formats import FORMATS, recognised
from lswc.seeds.pool import Place, Pool, database
from lswc.seeds.selection import SeedBounds, choose, text_of
from lswc.urls import parse, site, tld

if TYPE_CHECKING:
    import argparse
    from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence

    from scrapy.http import Response
    from scrapy.settings import Settings

    from lswc.crawl.pages import Page
    from lswc.progress import Say
    from lswc.seeds.selection import Judge

FETCHED = 4
"""How many times as many pages as seeds are fetched to find them."""

_ANY = "any"

_UNKEPT = {"LSWC_FRONTIER": MEMORY, "LSWC_ARCHIVE": "none", "LSWC_DOCUMENTS": False}


class Made(NamedTuple):
    """What came of it: counts in named groups, a line per list written, and what to know of it."""

    counts: dict[str, dict[str, int]]
    written: list[str]
    remarks: list[str]


def make(opts: argparse.Namespace, sources: Sequence[Path], settings: Settings, say: Say) -> Made:
    """Write the seed lists that the options of ``scrapy seeds`` ask for.

    Raises LswcError; SeedError if nothing in the sources is usable.
    """
    codes = [language(code.strip()).tag for code in opts.lang.split(",")]
    _check(opts, codes)
    if opts.fetch and not settings.get("LSWC_WEB"):
        contact(settings)  # now: a large file takes long to read
    reader = FORMATS[_format(opts.format, sources)]
    identifiers = _identifiers(codes)
    known = tuple(dict.fromkeys([*codes, *_bases(codes)]))
    asked = Asked(known, partial(_told, identifiers), say=say)
    tlds = frozenset(name.strip(" .").lower() for name in opts.tlds.split(",") if name.strip())
    with database() as db:
        pool = Pool(db, asked.passed, opts.random_seed, tlds)
        usable = sum(pool.add(reader(source, asked)) for source in sources)
        if not usable:
            raise SeedError(_nothing(sources, asked.passed))
        say("choose", 0, 0)
        chosen = _chosen(pool, codes, identifiers, opts, asked.passed)
    counts = {"read": {"usable": usable}, "passed over": dict((+asked.passed).most_common())}
    if opts.fetch:
        chosen, ends = _judged(chosen[_ANY], codes, opts, settings, say)
        counts |= ends
    if not any(chosen.values()):
        raise SeedError(_none(codes, asked.passed))
    source = ", ".join(path.name for path in sources[:3]) + (" and more" if sources[3:] else "")
    written = [_write(opts.out, code, urls, source) for code, urls in chosen.items() if urls]
    remarks = [
        f"no {language(code).name} page found, no {code}.txt written"
        for code, urls in chosen.items()
        if not urls
    ]
    return Made(counts, written, [*remarks, *_unknown(asked.passed)])


def _check(opts: argparse.Namespace, codes: list[str]) -> None:
    """Raise ConfigError for what is wrong before any work is done."""
    for name in ("most", "per_domain"):
        if getattr(opts, name) < 1:
            option = name.replace("_", "-")
            raise SeedError(f"--{option} must be at least 1, not {getattr(opts, name)}")
    if opts.trust and (len(codes) > 1 or opts.fetch):
        raise SeedError("--trust is for one language, and without --fetch")
    for code in codes:
        if (opts.out / f"{code}.txt").exists():
            raise SeedError(f"{opts.out / code}.txt exists: choose another --out")


def _format(given: str, sources: Sequence[Path]) -> str:
    if given:
        if given not in FORMATS:
            raise SeedError(f"unknown format {given!r}; known: {', '.join(FORMATS)}")
        return given
    formats = {recognised(path): path for path in sources}
    if len(formats) > 1:
        found = ", ".join(f"{path} ({name})" for name, path in formats.items())
        raise SeedError(f"files of one kind at a time, their evidence can't be compared: {found}")
    return next(iter(formats))


def _nothing(sources: Sequence[Path], passed: Counter[str]) -> str:
    names = ", ".join(map(str, sources))[:200]
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in passed.most_common(5))
    return f"nothing usable in {names}: {reasons or 'it is empty'}"


def _none(codes: Sequence[str], passed: Counter[str]) -> str:
    names = " or ".join(language(code).name for code in codes)
    return "; ".join([f"no {names} page found", *_unknown(passed)])


def _unknown(passed: Counter[str]) -> list[str]:
    """Return what can be done about URLs of which no language is known."""
    unknown = passed["language not known"]
    hint = "--fetch asks the pages, --trust takes the list's word"
    return [f"of {numbered(unknown, 'URL')} the language isn't known: {hint}"] if unknown else []


def _chosen(
    pool: Pool,
    codes: list[str],
    identifiers: dict[str, Identifier],
    opts: argparse.Namespace,
    passed: Counter[str],
) -> dict[str, list[str]]:
    """Choose the seeds, or what is worth fetching to find them."""
    left: Counter[str] = Counter()
    # Of a language in several variants a source doesn't say which: not known.
    bases = _bases(codes) - {*codes}
    ranked = (p._replace(language=None) if p.language in bases else p for p in pool.ranked())
    if opts.fetch:
        bounds = SeedBounds(opts.most * len(codes) * FETCHED, opts.per_domain * FETCHED)
        places = (
            place._replace(language=_ANY) if place.language in (None, *codes) else place
            for place in ranked
        )
        chosen = choose(places, lambda _: None, [_ANY], bounds, left)
    else:
        bounds = SeedBounds(opts.most, opts.per_domain)
        judge = _judge(codes, identifiers, codes[0] if opts.trust else None)
        chosen = choose(ranked, judge, codes, bounds, left)
    left["enough seeds"] += len(pool) - left.total() - sum(map(len, chosen.values()))
    passed.update(+left)
    return chosen


def _judge(codes: list[str], identifiers: dict[str, Identifier], trusted: str | None) -> Judge:
    """Tell a candidate's language by its text, else by a top-level domain of one language."""
    owners, bases = defaultdict(list), _bases(codes)
    for code in codes:
        for name in language(code).tlds:
            owners[name].append(code)

    def judge(place: Place) -> str | None:
        if place.text:
            body = f"<body>{escape(place.text)}".encode(errors="replace")
            for code, identifier in identifiers.items():
                reading = identifier.read(body, "text/html; charset=utf-8", place.url)
                if reading.identification.wanted(identifier.target) == code:
                    return code
            told = reading.identification.language
            if told is not None and told not in bases:
                return told
        url = parse(place.url)
        owner = owners.get(tld(url.hostname) if url else "", [])
        return owner[0] if len(owner) == 1 else trusted

    return judge


def _judged(
    urls: list[str], codes: list[str], opts: argparse.Namespace, settings: Settings, say: Say
) -> tuple[dict[str, list[str]], dict[str, dict[str, int]]]:
    """Fetch pages; return those in each language by rank, and how the requests ended."""
    told, ends = _fetched(urls, codes, settings, say)
    ranks = {url: rank for rank, url in reversed(list(enumerate(urls)))}
    sites = {_site(url): rank for url, rank in reversed(ranks.items())}
    # Where a redirect led to, in place of what was asked for.
    order = sorted(told, key=lambda url: (ranks.get(url, sites.get(_site(url), len(urls))), url))
    places = (Place(url, _site(url), "", told[url]) for url in order)
    bounds = SeedBounds(opts.most, opts.per_domain)
    return choose(places, lambda _: None, codes, bounds, Counter()), ends


def _bases(codes: Iterable[str]) -> set[str]:
    """Return the languages of variants: ``zh`` for ``zh-Hant``."""
    return {language(code).code for code in codes}


def _site(url: str) -> str:
    parsed = parse(url)
    return site(parsed.hostname) if parsed else ""


def _fetched(
    urls: list[str], codes: list[str], settings: Settings, say: Say
) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """Fetch pages as a crawl does.

    Return the URLs that were told a language, with that, and how the requests ended. Raises
    LswcError for a mistake in the settings.
    """
    if not urls:
        return {}, {}
    settings = settings.copy()
    web = prepare(settings.get("LSWC_WEB"), Path("crawls"))
    with TemporaryDirectory(prefix="lswc-seeds-") as folder:
        file = Path(folder, "seeds.txt")
        file.write_text("\n".join(urls), encoding="utf-8")
        unkept = {**_UNKEPT, "LSWC_CRAWL": folder, "LSWC_WEB": str(web or "")}
        settings.setdict(unkept, priority="cmdline")
        settings.set("LOG_LEVEL", "ERROR", priority="spider")
        told: dict[str, str] = {}
        given = {"lang": codes[0], "seeds": str(file), "codes": codes, "told": told}
        ends = _crawl(settings, {**given, "read": lambda done: say("fetch", done, len(urls))})
    return told, ends


def _crawl(settings: Settings, arguments: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Crawl the seeds, and return how their requests ended. Raises KeyboardInterrupt."""
    SeedSpider.check(settings, **arguments)
    process = AsyncCrawlerProcess(settings)
    crawler = process.create_crawler(SeedSpider)
    process.crawl(crawler, **arguments)
    process.start()
    stats = crawler.stats.get_stats()
    if stats.get("finish_reason") == "shutdown":
        raise KeyboardInterrupt
    return {kind: _counts(stats, f"lswc/{kind}/") for kind in ("finished", "discarded")}


def _counts(stats: Mapping[str, Any], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): stats[name] for name in stats if name.startswith(prefix)}


class SeedSpider(LswcSpider):
    """Fetches its seeds as a crawl does, notes their languages, and follows no link.

    The target of a redirect takes the place of the seed. ``codes`` are the languages, the first
    of them the crawl's; ``told`` takes the URLs that are in one of them; ``read`` hears the number
    of pages so far.
    """

    name = "seeds"

    def __init__(
        self,
        lang: str,
        seeds: str,
        codes: list[str],
        told: dict[str, str],
        read: Callable[[int], None],
    ) -> None:
        super().__init__(lang, seeds)
        self._others, self._told = _identifiers(codes[1:]), told
        self._read, self._pages = read, 0

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Page]:
        """Note a page's language and end its visit; there is no record of it."""
        page = await self.parts.pages.read(response)
        if page is not None:
            self._pages += 1
            self._read(self._pages)
            code = None if page.reading.unwanted else self._language(page, response)
            if code is not None:
                self._told[page.visit.url] = code
            page.visit.tally = Counter({("page", "relevant" if code else "irrelevant"): 1})
            self.parts.commits.commit(page.visit, page.reading.unwanted or Outcome.HTML)
        return
        yield

    def _language(self, page: Page, response: Response) -> str | None:
        if page.reading.identification.wanted(self.crawl.language.languages[0]) == self.lang:
            return self.lang
        header = declared_type(headers_of(response))
        return _told(self._others, response.body, header, response.url)


def _identifiers(codes: list[str]) -> dict[str, Identifier]:
    return {code: Identifier(language(code)) for code in codes}


def _told(identifiers: dict[str, Identifier], body: bytes, header: str, url: str) -> str | None:
    """Return the first of the languages that a page is in."""
    for code, identifier in identifiers.items():
        if identifier.read(body, header, url).identification.wanted(identifier.target) == code:
            return code
    return None


def _write(out: Path, code: str, urls: list[str], source: str) -> str:
    path = out / f"{code}.txt"
    with writing(path):
        out.mkdir(parents=True, exist_ok=True)
        with whole(path) as beside:
            beside.write_text(text_of(urls, language(code).tlds, source), encoding="utf-8")
    return f"{path}: {numbered(len(urls), f'{language(code).name} seed')}"
