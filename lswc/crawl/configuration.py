"""What one crawl is: its settings, read once."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.resources import files
from math import inf
from operator import attrgetter
from pathlib import Path
from sys import maxsize
from typing import TYPE_CHECKING

import msgspec
import scrapy
from scrapy.settings import SETTINGS_PRIORITIES

from lswc import __version__
from lswc import settings as defaults
from lswc.archive import record_parts
from lswc.archive.check.recovery import refuse_older, repair
from lswc.crawl.web import prepare
from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, MEMORY, names_redis, sqlite_report
from lswc.frontier.contract import Caps
from lswc.frontier.lock import lock
from lswc.language import registry
from lswc.language.registry import Language, Wanted, wanted
from lswc.language.text_bounds import Bounds
from lswc.reading.browser.installed import chromium
from lswc.reading.browser.messages import Settings as BrowserSettings
from lswc.reading.reader_settings import ReaderSettings
from lswc.safety.quotas import Quota, Quotas
from lswc.safety.server_limits import Limits
from lswc.safety.traps import TrapShape
from lswc.strategy import PageLanguage, Strategy, Unit, strategy
from lswc.urls import directory, parse, tld

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

    from lswc.reading.page import PageReader
    from lswc.urls import Url

MOST_READERS = 2
"""As many readers, at most, as one crawl keeps busy; LSWC_READERS may say more."""

_ANY = 2**31  # requests

_CONTACT = re.compile(r"https?://[!-~]+\.[!-~]+|[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+")
_HEADER = re.compile(r"[ -~]+")
UNKNOWN = {"irrelevant": False, "guess": True}
REQUISITES = ("none", "all")
ARCHIVED = ("relevant", "all", "none")
OPT_OUT = ("record", "skip-corpus", "skip-archive")
ROBOTS_WORDS = ("nofollow", "noindex", "noarchive")


@dataclass(frozen=True)
class Politeness:
    """How a crawl spares servers; seconds, but for ``delay_factor``.

    A server rests ``delay`` after an answer, and ``delay_factor`` times as long as that took; at
    first ``backoff`` if it is overloaded and doesn't say for how long. It is left alone if it asks
    for a longer Crawl-delay or Retry-After than these. ``per_address`` and ``per_domain`` are
    requests at a time, any number at 0.
    """

    delay: float
    delay_factor: float
    backoff: float
    timeout: float
    longest_crawl_delay: float
    longest_retry_after: float
    per_address: int
    per_domain: int

    @classmethod
    def of(cls, settings: BaseSettings) -> Politeness:
        """Read the settings. Raises ConfigError."""
        delay = number(settings, "DOWNLOAD_DELAY")
        return cls(
            delay,
            number(settings, "LSWC_DELAY_FACTOR") if delay else 0.0,
            number(settings, "LSWC_BACKOFF") if delay else 0.0,
            number(settings, "DOWNLOAD_TIMEOUT"),
            number(settings, "LSWC_MAX_CRAWL_DELAY") or inf,
            number(settings, "LSWC_MAX_RETRY_AFTER") or inf,
            # Behind a proxy the addresses aren't known.
            0
            if settings.getbool("HTTPPROXY_ENABLED")
            else int(number(settings, "LSWC_MAX_PER_ADDRESS")),
            int(number(settings, "LSWC_MAX_PER_DOMAIN")),
        )


@dataclass(frozen=True)
class LimitSettings:
    """The numbers of ``lswc.safety.server_limits.Limits``; off at 0."""

    directory_pages: int
    duplicates: int
    timeouts: int

    @classmethod
    def of(cls, settings: BaseSettings) -> LimitSettings:
        """Read the settings. Raises ConfigError."""
        names = ("DIRECTORY_PAGES", "DUPLICATES", "TIMEOUTS")
        return cls(*(int(number(settings, f"LSWC_MAX_{name}")) for name in names))

    def new(self) -> Limits:
        """Return limits of which nothing is used yet."""
        return Limits(self.directory_pages, self.duplicates, self.timeouts)


@dataclass(frozen=True)
class RenderingSettings:
    """How pages are shown that need their scripts: in a ``browser``, None if in none.

    ``share`` is that of the pages which may be.
    """

    browser: BrowserSettings | None
    share: float

    @classmethod
    def of(cls, settings: BaseSettings, accepted: str) -> RenderingSettings:
        """Read the settings. Raises ConfigError, also if there is no browser."""
        wanted = settings.get("LSWC_BROWSER")
        browser = BrowserSettings(
            executable="" if wanted == "off" else chromium(wanted),
            sandbox=settings.getbool("LSWC_BROWSER_SANDBOX"),
            agent=settings.get("USER_AGENT"),
            language=accepted,
            seconds=number(settings, "LSWC_MAX_RENDERING"),
            requests=int(number(settings, "LSWC_MAX_RENDERING_REQUESTS")) or _ANY,
            largest=int(number(settings, "DOWNLOAD_MAXSIZE")),
            memory=int(number(settings, "LSWC_MAX_BROWSER_MEMORY")),
        )
        share = _share(settings, "LSWC_RENDERED_SHARE")
        return cls(None if wanted == "off" else browser, share)


@dataclass(frozen=True)
class Crawl:
    """A crawl as its user asked for it.

    ``guesses_unknown``: a page of unknown language takes its referrer's. ``web`` is the
    folder of a frozen web, None for the real one. ``store`` says where the frontier is, and
    ``lease_seconds`` after how long a dead worker's URLs go to others. ``patience``: a URL waits
    while another is that much more likely to be relevant. ``in_order``: one URL at a time, in the
    papers' order. ``readers`` processes read pages as ``reading`` says, each in ``max_reading``
    seconds; ``reader`` does so in this process. Documents have up to ``max_document`` bytes.
    ``stop_harvest``: the expected harvest rate below which the crawl ends. ``experience`` names
    an earlier crawl's folder or Redis, or is empty. ``try_again`` are the seconds after which a
    URL that couldn't be had is tried again, and again; for one that is due in ``stay`` seconds
    a crawl waits that has no other, and ``max_offline`` for the network. ``retry_failed``: what
    ended so is tried once more. ``judge`` are the settings that say what is recorded as what.
    ``archived`` says what goes into WARC files of ``warc_size`` bytes: "relevant", "all" or
    "none"; a part of the record is closed at ``rotate`` bytes, none at 0. ``sitemaps``: those of
    relevant servers are asked for. ``requisites_share`` is that of the requests for what such
    pages need, while pages can be asked for; ``opt_out`` what follows from a page's opt-out.
    ``earlier`` are the folders of crawls that this one visits again, the latest first.
    ``headers`` are those that each page is asked for with, and ``rendering`` says which are shown
    in a browser.
    """

    language: Wanted
    strategy: Strategy
    reading: ReaderSettings
    reader: PageReader
    readers: int
    max_reading: float
    max_document: int
    headers: Mapping[str, str]
    rendering: RenderingSettings
    limits: LimitSettings
    quotas: Quotas
    politeness: Politeness
    seeds: tuple[str, ...]
    folder: Path
    web: Path | None
    store: str
    lease_seconds: float
    patience: float
    caps: Caps
    in_order: bool
    stop_harvest: float
    experience: str
    try_again: tuple[float, ...]
    stay: float
    max_offline: float
    min_disk: float
    retry_failed: bool
    judge: Mapping[str, str]
    guesses_unknown: bool
    archived: str
    sitemaps: bool
    requisites_share: float
    opt_out: str
    warc_size: float
    rotate: float
    earlier: tuple[Path, ...]

    @classmethod
    def of(cls, settings: BaseSettings, lang: str, seeds: str = "") -> Crawl:
        """Work out the crawl that the settings and the spider's arguments describe.

        Raises ConfigError with a message for the user.
        """
        _check_names(settings)
        _check_numbers(settings)
        if not lang:
            raise ConfigError("say which language to crawl for, for example: -a lang=th")
        registry.use(settings.get("LSWC_LANGUAGES"))
        target = wanted(lang)
        chosen = strategy(settings.get("LSWC_STRATEGY"))
        if chosen.needs_oracle:
            raise ConfigError(f"strategy {chosen.name!r} needs an oracle: simulations only")
        folder = Path(settings.get("LSWC_CRAWL") or f"crawls/{target.name}")
        _make_writable(folder)
        _check_records(folder, settings.get("LSWC_FRONTIER"))
        web = prepare(settings.get("LSWC_WEB"), folder.parent)
        if web is None:
            contact(settings)
        guesses = _guesses(settings.get("LSWC_UNKNOWN"), chosen)
        reading = msgspec.structs.replace(
            reader_settings(target.tag, settings),
            requisites_of=_requisites_of(settings, guesses),
            feeds_of=(PageLanguage.TARGET,) if settings.getbool("LSWC_FEEDS") else (),
            max_requisites=int(number(settings, "LSWC_MAX_REQUISITES")),
        )
        return cls(
            language=target,
            strategy=chosen,
            reading=reading,
            reader=reading.reader(),
            readers=_readers(settings),
            max_reading=number(settings, "LSWC_MAX_READING"),
            max_document=int(number(settings, "LSWC_MAX_DOCUMENT")),
            sitemaps=settings.getbool("LSWC_SITEMAPS"),
            requisites_share=_share(settings, "LSWC_REQUISITES_SHARE"),
            headers=(headers := _headers(target, settings)),
            rendering=RenderingSettings.of(settings, headers["Accept-Language"]),
            limits=LimitSettings.of(settings),
            quotas=Quotas(_quota(settings, "SERVER", target), _quota(settings, "DOMAIN", target)),
            politeness=Politeness.of(settings),
            seeds=_seeds(target, seeds, web),
            folder=folder,
            web=web,
            store=settings.get("LSWC_FRONTIER"),
            lease_seconds=_lease_seconds(settings),
            patience=number(settings, "LSWC_PATIENCE"),
            caps=Caps(
                int(number(settings, "LSWC_MAX_WAITING_PER_SERVER")),
                int(number(settings, "LSWC_MAX_WAITING_PER_DOMAIN")),
            ),
            in_order=_in_order(settings),
            stop_harvest=number(settings, "LSWC_STOP_HARVEST"),
            experience=settings.get("LSWC_EXPERIENCE"),
            try_again=_try_again(settings),
            stay=number(settings, "LSWC_STAY"),
            max_offline=number(settings, "LSWC_MAX_OFFLINE"),
            min_disk=number(settings, "LSWC_MIN_DISK"),
            retry_failed=settings.getbool("LSWC_RETRY_FAILED"),
            judge={name: _written(settings.get(name)) for name in _JUDGE},
            guesses_unknown=guesses,
            archived=_one_of(settings, "LSWC_ARCHIVE", ARCHIVED),
            opt_out=_one_of(settings, "LSWC_OPT_OUT", OPT_OUT),
            warc_size=number(settings, "LSWC_WARC_SIZE"),
            rotate=_rotate(settings),
            earlier=_earlier(settings.getlist("LSWC_RECRAWL"), folder),
        )

    @cached_property
    def unit(self) -> Callable[[Url], str]:
        """What tells for what the strategy counts a URL's page: its server or its directory."""
        return attrgetter("server") if self.strategy.unit is Unit.SERVER else directory

    def keeps(self, relevant: bool) -> bool:
        """Tell whether a page is archived, and so may get into the corpus, if that is wanted."""
        return relevant or self.archived == "all"

    @property
    def has_records(self) -> bool:
        """Whether the folder holds records of pages, or what was archived of them."""
        return _has_records(self.folder)

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
            **_names(settings),
            "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            "http-header-user-agent": settings.get("USER_AGENT"),
            **{name: settings.get(name) for name in [*names, *_DESCRIBED] if name not in _PRIVATE},
            "LSWC_RECRAWL": [str(path) for path in self.earlier],
            "LSWC_MAX_SERVER_PAGES": self.quotas.server.pages,
            "LSWC_MAX_SERVER_BYTES": self.quotas.server.bytes,
            "LSWC_MAX_DOMAIN_PAGES": self.quotas.domain.pages,
            "LSWC_MAX_DOMAIN_BYTES": self.quotas.domain.bytes,
        }


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


_JUDGE = ("LSWC_IDENTIFIER", "LSWC_MIN_SHARE", "LSWC_RELEVANT", "LSWC_ROBOTS_META", "LSWC_OPT_OUT")
_DESCRIBED = ("DOWNLOAD_DELAY", "CONCURRENT_REQUESTS", "DEPTH_LIMIT", "URLLENGTH_LIMIT")
_PRIVATE = {"LSWC_FRONTIER", "LSWC_CRAWL"}  # may hold a password; says nothing elsewhere


def reader_settings(tag: str, settings: BaseSettings) -> ReaderSettings:
    """Return how pages are read for a language, or for several, by the settings.

    Raises ConfigError.
    """
    bounds = ("LINKS", "PAGE_SIZE", "TAGS", "NESTING", "ATTRIBUTES", "TAG_SIZE", "WORDS")
    shape = ("PATH_SEGMENTS", "REPEATS", "PARAMETERS")
    return ReaderSettings(
        language=tag,
        own_languages=settings.get("LSWC_LANGUAGES"),
        identifier=settings.get("LSWC_IDENTIFIER"),
        min_share=number(settings, "LSWC_MIN_SHARE"),
        bounds=Bounds(*(int(number(settings, f"LSWC_MAX_{name}")) or maxsize for name in bounds)),
        relevant=settings.get("LSWC_RELEVANT"),
        depth=int(number(settings, "DEPTH_LIMIT")),
        length=int(number(settings, "URLLENGTH_LIMIT")),
        domains=tuple(settings.getlist("LSWC_ALLOWED_DOMAINS")),
        networks=tuple(settings.getlist("LSWC_ALLOWED_NETWORKS")),
        ports=tuple(map(str, settings.getlist("LSWC_ALLOWED_PORTS"))),
        shape=TrapShape(*(int(number(settings, f"LSWC_MAX_{name}")) for name in shape)),
        obeyed=_robots_words(settings.getlist("LSWC_ROBOTS_META")),
        documents=settings.getbool("LSWC_DOCUMENTS"),
    )


def _readers(settings: BaseSettings) -> int:
    """Return how many processes read pages: by default as many as there are other cores."""
    given = str(settings.get("LSWC_READERS"))
    if given.isdecimal():
        return int(given)
    if given != "cores":
        raise ConfigError(f"LSWC_READERS must be 'cores' or a number of processes, not {given!r}")
    # Containers and taskset leave a process fewer than there are; not all systems tell.
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min((own or 1) - 1, MOST_READERS)


def _requisites_of(settings: BaseSettings, guesses_unknown: bool) -> tuple[PageLanguage, ...]:
    """Return of which pages requisites are read: of those that will be archived."""
    wanted = _one_of(settings, "LSWC_REQUISITES", REQUISITES)
    archived = _one_of(settings, "LSWC_ARCHIVE", ARCHIVED)
    if wanted == "none" or archived == "none":
        return ()
    if archived == "all":
        return tuple(PageLanguage)
    return (PageLanguage.TARGET, *((PageLanguage.UNKNOWN,) if guesses_unknown else ()))


def _share(settings: BaseSettings, name: str) -> float:
    share = number(settings, name)
    if share > 1:
        raise ConfigError(f"{name} must be a number from 0 to 1, not {settings.get(name)!r}")
    return share


def number(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a number of at least 0. Raises ConfigError."""
    try:
        value = float(settings.get(name))
    except (TypeError, ValueError):
        value = -1
    if not 0 <= value < float("inf"):
        raise ConfigError(f"{name} must be a number of at least 0, not {settings.get(name)!r}")
    return value


def contact(settings: BaseSettings) -> str:
    """Return whom a server's owner can write to. Raises ConfigError if that isn't set."""
    given = str(settings.get("LSWC_CONTACT") or "").strip()
    if not _CONTACT.fullmatch(given):
        raise ConfigError(
            "LSWC_CONTACT must say who crawls the real web: a URL or an e-mail address, "
            f"for example -s LSWC_CONTACT=https://library.example/crawl, not {given!r}"
        )
    return given


def _quota(settings: BaseSettings, scope: str, target: Wanted) -> Quota:
    """Return a quota: the settings', or the languages' where those are the defaults."""
    return Quota(*(_most(settings, f"{scope}_{what}", target) for what in ("PAGES", "BYTES")))


def _most(settings: BaseSettings, name: str, target: Wanted) -> float:
    setting = f"LSWC_MAX_{name}"
    most = number(settings, setting)
    is_chosen = (settings.getpriority(setting) or 0) > SETTINGS_PRIORITIES["project"]
    if is_chosen or most != getattr(defaults, setting):
        return most
    return target.quota(name.lower(), most)


def _headers(target: Wanted, settings: BaseSettings) -> dict[str, str]:
    accepted = settings.get("LSWC_ACCEPT_LANGUAGE") or target.accepted
    if not _HEADER.fullmatch(accepted):
        raise ConfigError(f"LSWC_ACCEPT_LANGUAGE: {accepted!r} isn't like 'th, en;q=0.5'")
    return {"Accept-Language": accepted}


def _check_names(settings: BaseSettings) -> None:
    known = {name for name in dir(defaults) if name.startswith("LSWC_")} | {"LSWC_STRATEGY"}
    for name in settings:
        if name.startswith("LSWC_") and name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(known))}"
            raise ConfigError(f"unknown setting {name}; {hint}")


def _check_numbers(settings: BaseSettings) -> None:
    for name, default in vars(defaults).items():
        if name.startswith("LSWC_") and isinstance(default, (int, float)):
            number(settings, name)


def _check_records(folder: Path, store: str) -> None:
    """Refuse records whose frontier is gone, or older than they are. Raises LswcError."""
    if names_redis(store):
        return  # many workers know it: the frontier itself tells
    if not _has_records(folder):
        return
    lock(folder).close()  # or a running crawl's files would be ahead of what is read of them
    committed = None if store == MEMORY else sqlite_report.lengths(folder / FRONTIER_FILE)
    if committed is None:
        raise ConfigError(
            f"{folder} holds the record of another crawl, whose frontier isn't there, or is empty: "
            f"put {FRONTIER_FILE} and its -wal back, choose another folder with LSWC_CRAWL, or "
            f"{repair(folder)} moves the record aside, so that the crawl begins anew"
        )
    refuse_older(folder, committed)


def _has_records(folder: Path) -> bool:
    recorded = any(record_parts.lengths(folder).values())
    return recorded or any(any((folder / name).glob("*")) for name in ("warc", "log"))


def _rotate(settings: BaseSettings) -> float:
    length = number(settings, "LSWC_ROTATE")
    if length and not record_parts.SHORTEST <= length <= record_parts.LONGEST:
        raise ConfigError(
            f"LSWC_ROTATE must be from {record_parts.SHORTEST:,} to {record_parts.LONGEST:,} "
            f"bytes, or 0 for one file, not {settings.get('LSWC_ROTATE')!r}"
        )
    return length


def _lease_seconds(settings: BaseSettings) -> float:
    seconds = number(settings, "LSWC_LEASE_SECONDS")
    if not seconds:
        raise ConfigError("LSWC_LEASE_SECONDS must be more than 0")
    return seconds


def _written(value: object) -> str:
    """Return a setting as text, the same whether it comes from a file or the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    try:
        return str(float(str(value)))
    except ValueError:
        return str(value)


def _try_again(settings: BaseSettings) -> tuple[float, ...]:
    given = settings.getlist("LSWC_TRY_AGAIN")
    try:
        waits = tuple(float(wait) for wait in given)
    except (TypeError, ValueError):
        waits = (-1.0,)
    if not all(0 <= wait < inf for wait in waits):
        raise ConfigError(f"LSWC_TRY_AGAIN must be numbers of at least 0, not {given!r}")
    return waits


def _in_order(settings: BaseSettings) -> bool:
    wanted = number(settings, "LSWC_IN_ORDER") > 0
    if wanted and names_redis(settings.get("LSWC_FRONTIER")):
        raise ConfigError(
            "LSWC_IN_ORDER: the workers of a Redis crawl keep no order; use LSWC_FRONTIER=sqlite"
        )
    return wanted


def _guesses(setting: str, chosen: Strategy) -> bool:
    if setting == "strategy":
        return chosen.guesses_unknown
    if setting not in UNKNOWN:
        known = ", ".join(["strategy", *UNKNOWN])
        raise ConfigError(f"LSWC_UNKNOWN={setting!r} isn't one of: {known}")
    return UNKNOWN[setting]


def _one_of(settings: BaseSettings, name: str, known: tuple[str, ...]) -> str:
    setting: str = settings.get(name)
    if setting not in known:
        raise ConfigError(f"{name}={setting!r} isn't one of: {', '.join(known)}")
    return setting


def _robots_words(given: list[str]) -> tuple[str, ...]:
    for word in given:
        if word not in ROBOTS_WORDS:
            known = ", ".join(ROBOTS_WORDS)
            raise ConfigError(f"LSWC_ROBOTS_META: {word!r} isn't one of: {known}")
    return tuple(given)


def _earlier(given: list[str], folder: Path) -> tuple[Path, ...]:
    earlier = tuple(Path(name) for name in given)
    for crawl in earlier:
        if not any((crawl / "warc").glob("*.cdxj")):
            raise ConfigError(f"LSWC_RECRAWL: {crawl} isn't the folder of a crawl that archived")
        if crawl.resolve() == folder.resolve():
            raise ConfigError(
                f"LSWC_RECRAWL: {crawl} is this crawl's own folder: choose a new one, LSWC_CRAWL"
            )
    return earlier


def _make_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"can't make the crawl folder {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"can't write to the crawl folder {folder}: choose one with LSWC_CRAWL")


def _seeds(target: Wanted, given: str, web: Path | None) -> tuple[str, ...]:
    if given:
        return read_seeds(Path(given))
    seeds = (seed for language in target.languages for seed in _seeds_of(language, web))
    return tuple(dict.fromkeys(seeds))


def _seeds_of(target: Language, web: Path | None) -> tuple[str, ...]:
    if web is not None:
        return read_seeds(seeds_of_web(web, target))
    own = registry.own_folder()
    for tag in dict.fromkeys((target.tag, target.code)):
        if own is not None and (own / "seeds" / f"{tag}.txt").is_file():
            return _of_variant(target, read_seeds(own / "seeds" / f"{tag}.txt"))
        shipped = files("seeds") / f"{tag}.txt"
        if shipped.is_file():
            text = shipped.read_text(encoding="utf-8")
            return _of_variant(target, _seeds_in(f"seeds/{tag}.txt", text))
    raise ConfigError(f"no seeds are shipped for {target.tag!r}: give some, -a seeds=FILE")


def seeds_of_web(web: Path, target: Language) -> Path:
    """Return the file of a frozen web with the seeds of a language. Raises ConfigError."""
    names = [f"seeds-{tag}.txt" for tag in dict.fromkeys((target.tag, target.code))]
    for name in names:
        if (web / name).is_file():
            return web / name
    raise ConfigError(f"the frozen web has no {names[-1]}: give seeds with -a seeds=FILE")


def _of_variant(target: Language, seeds: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out the seeds whose top-level domain is rather that of another variant."""
    if target.variant is None:
        return seeds
    others = {domain for v in target.variants if v != target.variant for domain in v.tlds}
    hosts = ((seed, parse(seed)) for seed in seeds)
    return tuple(seed for seed, url in hosts if url is None or tld(url.hostname) not in others)


def read_seeds(path: Path) -> tuple[str, ...]:
    """Return the URLs of a seeds file, one a line. Raises ConfigError, naming the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"can't read the seeds file {path}: {error}") from error
    return _seeds_in(str(path), text)


def _seeds_in(name: str, text: str) -> tuple[str, ...]:
    seeds: dict[str, None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        address = line.strip()
        if not address or address.startswith("#"):
            continue
        url = parse(address)
        if url is None or url.scheme not in ("http", "https"):
            raise ConfigError(f"{name}, line {number}: not an http or https URL: {address!r}")
        seeds[url.href] = None
    if not seeds:
        raise ConfigError(f"the seeds file {name} names no URL")
    return tuple(seeds)
