"""Crawl configuration: what one crawl was asked to do, as its settings and its language say."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import scrapy
from scrapy.settings import SETTINGS_PRIORITIES, default_settings

from lswc import __version__
from lswc import settings as defaults
from lswc.archive.archive import FileSizes
from lswc.archive.page_index import TEXT_CHARACTERS
from lswc.archive.page_record import part_size
from lswc.archive.run_settings import EARLIER_ARCHIVES, IDENTITY
from lswc.crawl import checked_settings as checked
from lswc.crawl.checked_settings import number, whole
from lswc.crawl.crawl_folder import check_records, earlier_crawls, has_records, make_writable
from lswc.crawl.seed_files import seeds_of
from lswc.crawl.web import prepare
from lswc.errors import ConfigError
from lswc.frontier.rules.contract import Caps
from lswc.frontier.rules.visit import Offer
from lswc.guest.politeness import Politeness
from lswc.language import registry
from lswc.language.registry import Wanted, wanted
from lswc.logins import without_logins
from lswc.outcomes import Outcome
from lswc.reading.browser.installed import chromium
from lswc.reading.browser.messages import Settings as BrowserSettings
from lswc.reading.opt_outs import forbids_mining
from lswc.reading.reader_settings import ReaderSettings
from lswc.safety.server_limits import Quota, Quotas
from lswc.strategy import SEED, PageLanguage, Strategy, Unit, Value, strategy
from lswc.urls import directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.settings import BaseSettings

    from lswc.reading.page import PageReader
    from lswc.urls import Url

SITE_SERVERS = 10
"""A registered domain may have as many pending URLs as ten of its servers."""

CODINGS = "gzip, deflate, br"
"""Codings that a server may choose from. Zstandard is unpacked, too, but no player of archives
knows it: pywb 2.10 shows its bytes, ReplayWeb.page 2.4.6 nothing."""


@dataclass(frozen=True, kw_only=True)
class Crawl:
    """A crawl as its user asked for it.

    ``seeds_given`` names their file, or is empty if they are shipped. ``guesses_unknown``: a page
    of unknown language takes its referrer's. ``web`` is the folder of a frozen web, None for the
    real one. ``store`` says where the frontier is. ``in_order``: one URL at a time, in the papers'
    order. ``unproven_share`` is that of the requests for sites that hardly anybody vouches for,
    ``haste`` that of those for URLs that would wait. ``readers`` processes read pages as
    ``reading`` says; ``reader`` does so in this process. Documents have up to ``max_document``
    bytes; those that are archived because a relevant page links to them, ``linked_documents`` in
    all. Other linked files are archived if their media type is one of ``files``, up to ``max_file``
    bytes of each. ``stop_harvest``: the expected harvest rate below which the crawl ends.
    ``generated`` is LSWC_GENERATED.
    ``experience`` names an earlier crawl's folder or Redis, or is empty. ``max_offline`` are the
    seconds that a crawl waits for the network. ``retry_failed``: what couldn't be had is tried once
    more. ``judge`` are the settings that say what is recorded as what. ``archived`` says what goes
    into WARC files: "relevant", "all" or "none", and ``file_sizes`` when files are closed.
    ``sitemaps``: those of relevant servers are asked for; ``twins``: what has several names is
    collected once. ``requisites_share`` is that of the
    requests for what such pages need, while pages can be asked for; ``opt_out`` what follows from a
    page's opt-out. Each relevant page is visited again ``revisit`` times a day, on the mean.
    ``earlier`` are the folders of crawls that this one visits again, the latest first. ``headers``
    are those that each page is asked for with, and ``browser`` shows those that need their scripts,
    if it isn't None, and ``browser_pages`` besides.
    """

    language: Wanted
    strategy: Strategy
    reading: ReaderSettings
    reader: PageReader
    readers: int
    max_document: int
    files: tuple[str, ...]
    max_file: int
    linked_documents: float
    headers: Mapping[str, str]
    browser: BrowserSettings | None
    browser_pages: checked.BrowserPages
    max_duplicates: int
    twins: bool
    quotas: Quotas
    politeness: Politeness
    seeds: tuple[str, ...]
    seeds_given: str
    folder: Path
    web: Path | None
    store: str
    caps: Caps
    unproven_share: float
    haste: float
    in_order: bool
    generated: str
    stop_harvest: float
    experience: str
    max_offline: float
    retry_failed: bool
    judge: Mapping[str, str]
    guesses_unknown: bool
    archived: str
    sitemaps: bool
    requisites_share: float
    opt_out: str
    file_sizes: FileSizes
    revisit: float
    earlier: tuple[Path, ...]

    @classmethod
    def of(cls, settings: BaseSettings, lang: str, seeds: str = "") -> Crawl:
        """Work out the crawl that the settings and the spider's arguments describe.

        Raises ConfigError with a message for the user.
        """
        checked.check(settings)
        if not lang:
            raise ConfigError("say which language to crawl for, for example: -a lang=th")
        registry.use(settings.get("LSWC_LANGUAGES"))
        target = wanted(lang)
        chosen = strategy_of(settings)
        if chosen.needs_oracle:
            raise ConfigError(f"strategy {chosen.name!r} needs an oracle: simulations only")
        if not settings.get("LSWC_WEB"):
            checked.contact(settings)
        folder = Path(settings.get("LSWC_CRAWL") or f"crawls/{target.name}")
        make_writable(folder)
        check_records(folder, settings.get("LSWC_FRONTIER"))
        web = prepare(settings.get("LSWC_WEB"), folder.parent)
        guesses = _guesses(settings, chosen)
        accepted = checked.accept_language(settings, target.accepted)
        quotas = quotas_of(settings, target)
        reading = msgspec.structs.replace(
            reader_settings(target.tag, settings),
            requisites_of=_requisites_of(settings, guesses),
            depth=_depth(whole(settings, "DEPTH_LIMIT"), chosen),
            clean_text=chosen.value != Value.PAGES or _counts_text(settings),
            feeds_of=(PageLanguage.TARGET,) if settings.getbool("LSWC_SITEMAPS") else (),
            text=TEXT_CHARACTERS if settings.getbool("LSWC_PAGE_INDEX") else 0,
        )
        most_pending = whole(settings, "LSWC_MAX_WAITING_PER_SERVER")
        return cls(
            language=target,
            strategy=chosen,
            reading=reading,
            reader=reading.reader(),
            readers=checked.readers(settings),
            max_document=whole(settings, "LSWC_MAX_DOCUMENT"),
            files=checked.archived_files(settings),
            max_file=whole(settings, "LSWC_MAX_FILE"),
            linked_documents=number(settings, "LSWC_LINKED_DOCUMENTS"),
            sitemaps=settings.getbool("LSWC_SITEMAPS"),
            requisites_share=checked.requisites_share(settings),
            headers={"Accept-Language": accepted, "Accept-Encoding": CODINGS},
            browser=_browser(settings, accepted),
            browser_pages=checked.browser_pages(settings),
            max_duplicates=whole(settings, "LSWC_MAX_DUPLICATES"),
            twins=settings.getbool("LSWC_TWINS"),
            quotas=quotas,
            politeness=_politeness(settings),
            seeds=seeds_of(target, seeds, web),
            seeds_given=seeds,
            folder=folder,
            web=web,
            store=settings.get("LSWC_FRONTIER"),
            caps=Caps(
                server=most_pending,
                domain=SITE_SERVERS * most_pending,
                sites=whole(settings, "LSWC_MAX_UNPROVEN_SITES"),
            ),
            unproven_share=checked.unproven_share(settings),
            haste=checked.share(settings, "LSWC_HASTE"),
            in_order=checked.in_order(settings),
            generated=checked.generated(settings),
            stop_harvest=checked.share(settings, "LSWC_STOP_HARVEST"),
            experience=settings.get("LSWC_EXPERIENCE"),
            max_offline=number(settings, "LSWC_MAX_OFFLINE"),
            retry_failed=settings.getbool("LSWC_RETRY_FAILED"),
            judge={name: checked.as_text(settings.get(name)) for name in _JUDGE},
            guesses_unknown=guesses,
            archived=checked.one_of(settings, "LSWC_ARCHIVE", checked.ARCHIVED),
            opt_out=checked.one_of(settings, "LSWC_OPT_OUT", checked.OPT_OUT),
            file_sizes=FileSizes(
                warc=(warc := number(settings, "LSWC_WARC_SIZE")), part=part_size(warc)
            ),
            revisit=checked.revisit(settings),
            earlier=earlier_crawls(settings.getlist("LSWC_RECRAWL"), folder),
        )

    def seed(self, address: str) -> Offer | Outcome:
        """Return a seed as it is offered to the frontier, or why it is left out."""
        url = self.reader.scope.check(address, 0, routes=True)
        if isinstance(url, Outcome):
            return url
        return Offer(url.href, url.server, self.unit(url), SEED, PageLanguage.TARGET, 0)

    @cached_property
    def unit(self) -> Callable[[Url], str]:
        """What tells for what the strategy counts a URL's page: its server or its directory."""
        return attrgetter("server") if self.strategy.unit is Unit.SERVER else directory

    def withholds(self, opt_outs: Iterable[str]) -> bool:
        """Tell whether what has these opt-outs is kept out of the archive."""
        return self.opt_out == "skip-archive" and forbids_mining(opt_outs)

    @property
    def has_records(self) -> bool:
        """Whether the folder holds records of pages, or what was archived of them."""
        return has_records(self.folder)

    @property
    def identity(self) -> dict[str, str]:
        """What must be the same when the crawl is resumed."""
        return {
            "language": self.language.tag,
            "strategy": self.strategy.name,
            "unknown": "guess" if self.guesses_unknown else "irrelevant",
            **self.judge,
        }

    def described(self, settings: BaseSettings) -> dict[str, object]:
        """Return what the crawl is run with, for its folder and for ``warcinfo`` records."""
        names = [name for name in vars(defaults) if name.startswith("LSWC_")]
        return {
            "software": f"lswc/{__version__} Scrapy/{scrapy.__version__}",
            "format": "WARC File Format 1.1",
            "language": self.language.tag,
            "strategy": self.strategy.name,
            IDENTITY: self.identity,
            "seeds": self.seeds_given,
            **_names(settings),
            "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            "http-header-user-agent": settings.get("USER_AGENT"),
            **{name: settings.get(name) for name in [*names, *_DESCRIBED] if name not in _PRIVATE},
            **{name: settings.get(name) for name in _chosen(settings) if name not in _PRIVATE},
            "LSWC_EXPERIENCE": without_logins(settings.get("LSWC_EXPERIENCE") or ""),
            "LSWC_RECRAWL": [str(path.resolve()) for path in self.earlier],
            EARLIER_ARCHIVES: [_archive(path) for path in self.earlier],
            "LSWC_MAX_SERVER_PAGES": self.quotas.server.pages,
            "LSWC_MAX_SERVER_BYTES": self.quotas.server.bytes,
            "LSWC_MAX_DOMAIN_PAGES": self.quotas.domain.pages,
            "LSWC_MAX_DOMAIN_BYTES": self.quotas.domain.bytes,
        }


def _archive(crawl: Path) -> str:
    """Return the name of the first WARC file of a crawl that archived."""
    return min(path.name for path in (crawl / "warc").glob("*.warc.gz"))


def _names(settings: BaseSettings) -> dict[str, object]:
    """Return who crawls and what for, in the words of WARC's warcinfo (DCMI, ISO 28500:2017)."""
    contact = settings.get("LSWC_CONTACT")
    names = {
        "operator": settings.get("LSWC_OPERATOR"),
        "description": settings.get("LSWC_DESCRIPTION"),
        "http-header-from": contact if contact and "://" not in contact else "",
        "contact": contact,
    }
    return {name: value for name, value in names.items() if value}


def _chosen(settings: BaseSettings) -> list[str]:
    """Return the settings of Scrapy's that were given for this crawl, and hold no secret."""
    bounds = {name for name in vars(default_settings) if name.startswith("CLOSESPIDER_")}
    told = bounds | {name for name, value in vars(defaults).items() if not isinstance(value, dict)}
    given = SETTINGS_PRIORITIES["spider"]
    return sorted(name for name in told if (settings.getpriority(name) or 0) > given)


_JUDGE = (
    "LSWC_IDENTIFIER", "LSWC_MIN_SHARE", "LSWC_RELEVANT", "LSWC_MACHINE_TRANSLATED",
    "LSWC_ROBOTS_META", "LSWC_OPT_OUT",
)  # fmt: skip
_DESCRIBED = ("DOWNLOAD_DELAY", "CONCURRENT_REQUESTS", "DEPTH_LIMIT", "URLLENGTH_LIMIT")
_PRIVATE = {
    "LSWC_FRONTIER",
    "LSWC_CRAWL",
    "LSWC_ON_END",
    "LSWC_JOBS_MAY",
}  # may hold a password; says nothing elsewhere


def reader_settings(tag: str, settings: BaseSettings) -> ReaderSettings:
    """Return how pages are read for a language, or for several, by the settings.

    Raises ConfigError.
    """
    return ReaderSettings(
        language=tag,
        own_languages=settings.get("LSWC_LANGUAGES"),
        identifier=settings.get("LSWC_IDENTIFIER"),
        min_share=checked.share(settings, "LSWC_MIN_SHARE"),
        relevant=settings.get("LSWC_RELEVANT"),
        machine_translated=checked.one_of(
            settings, "LSWC_MACHINE_TRANSLATED", checked.MACHINE_TRANSLATED
        ),
        depth=whole(settings, "DEPTH_LIMIT"),
        length=whole(settings, "URLLENGTH_LIMIT"),
        domains=tuple(settings.getlist("LSWC_ALLOWED_DOMAINS")),
        networks=tuple(settings.getlist("LSWC_ALLOWED_NETWORKS")),
        ports=tuple(map(str, settings.getlist("LSWC_ALLOWED_PORTS"))),
        include=checked.patterns(settings, "LSWC_INCLUDE"),
        exclude=checked.patterns(settings, "LSWC_EXCLUDE"),
        obeyed=checked.robots_words(settings),
        documents=settings.getbool("LSWC_DOCUMENTS"),
        clean_text=_counts_text(settings),
    )


def _counts_text(settings: BaseSettings) -> bool:
    return checked.one_of(settings, "LSWC_VALUE", checked.VALUES) == "text"


def strategy_of(settings: BaseSettings) -> Strategy:
    """Return the strategy of the settings; the learned one by what counts. Raises ConfigError."""
    name: str = settings.get("LSWC_STRATEGY")
    by_text = name == "adaptive" and _counts_text(settings)
    return strategy("adaptive_text" if by_text else name)


def _browser(settings: BaseSettings, accepted: str) -> BrowserSettings | None:
    """Return how pages are shown that need their scripts. Raises ConfigError for no browser."""
    wanted = settings.get("LSWC_BROWSER")
    if wanted == "off":
        return None
    return BrowserSettings(
        executable=chromium(wanted),
        sandbox=settings.getbool("LSWC_BROWSER_SANDBOX"),
        agent=settings.get("USER_AGENT"),
        language=accepted,
        largest=whole(settings, "DOWNLOAD_MAXSIZE"),
        presses=settings.getbool("LSWC_BROWSER_PRESS"),
    )


def _guesses(settings: BaseSettings, chosen: Strategy) -> bool:
    unknown = checked.one_of(settings, "LSWC_UNKNOWN", checked.UNKNOWN)
    return chosen.guesses_unknown if unknown == "strategy" else unknown == "guess"


def _requisites_of(settings: BaseSettings, guesses_unknown: bool) -> tuple[PageLanguage, ...]:
    """Return of which pages requisites are read: of those that will be archived."""
    wanted = settings.get("LSWC_REQUISITES")
    archived = checked.one_of(settings, "LSWC_ARCHIVE", checked.ARCHIVED)
    if wanted == "none" or archived == "none":
        return ()
    if archived == "all":
        return tuple(PageLanguage)
    return (PageLanguage.TARGET, *((PageLanguage.UNKNOWN,) if guesses_unknown else ()))


def _politeness(settings: BaseSettings) -> Politeness:
    """Read how servers are spared. Raises ConfigError."""
    delay = number(settings, "DOWNLOAD_DELAY")
    # Behind a proxy the addresses aren't known.
    is_hidden = checked.switch(settings, "HTTPPROXY_ENABLED")
    return Politeness(
        delay=delay,
        delay_factor=number(settings, "LSWC_DELAY_FACTOR") if delay else 0.0,
        backoff=number(settings, "LSWC_BACKOFF") if delay else 0.0,
        timeout=number(settings, "DOWNLOAD_TIMEOUT"),
        longest_crawl_delay=number(settings, "LSWC_MAX_CRAWL_DELAY") or inf,
        per_address=0 if is_hidden else whole(settings, "LSWC_MAX_PER_ADDRESS"),
        per_domain=whole(settings, "LSWC_MAX_PER_DOMAIN"),
        robot=checked.robot(settings),
        try_again=checked.try_again(settings),
        least_disk=number(settings, "LSWC_MIN_DISK"),
    )


def _depth(limit: int, strategy: Strategy) -> int:
    """Return the most links from a seed, by the setting and the strategy's levels; 0 for any."""
    return min((most for most in (limit, strategy.levels - 1) if most > 0), default=0)


def quotas_of(settings: BaseSettings, target: Wanted) -> Quotas:
    """Return the quotas: the settings', or the languages' where those are the defaults.

    Raises ConfigError.
    """

    def most(name: str) -> float:
        setting = f"LSWC_MAX_{name.upper()}"
        given = number(settings, setting)
        is_chosen = (settings.getpriority(setting) or 0) > SETTINGS_PRIORITIES["project"]
        if is_chosen or given != getattr(defaults, setting):
            return given
        return target.quota(name, given)

    return Quotas(
        server=Quota(pages=most("server_pages"), bytes=most("server_bytes")),
        domain=Quota(pages=most("domain_pages"), bytes=most("domain_bytes")),
    )
