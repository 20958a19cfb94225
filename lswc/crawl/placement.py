"""Placement of lswc's parts among Scrapy's components: what a user adds comes beside them.

Scrapy lets a setting of components be replaced as a whole, on the command line, by scrapyd, in a
settings module or by a spider. lswc's own stand in ``lswc.settings`` for all to see; here they are
put back where they are lacking. Spiders of other kinds have none of them, and Scrapy's own instead.
"""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec, module_from_spec
from inspect import isasyncgenfunction
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured
from scrapy.settings import SETTINGS_PRIORITIES, default_settings
from scrapy.utils.misc import load_object
from scrapy.utils.python import global_object_name

from lswc.crawl.checked_settings import switch as is_on
from lswc.errors import ConfigError, LswcError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

PRIORITY = 15
"""Of the settings that only a spider of lswc's has: below those of a project's module (20)."""

INSTEAD: dict[str, Any] = {
    # Hands out the frontier's URLs.
    "SCHEDULER": "lswc.crawl.scheduler.TierScheduler",
    # Scrapy's, with less work for each request, and never too many to one server.
    "DOWNLOADER": "lswc.crawl.downloader.DirectDownloader",
    # Scrapy's, with less work for each count.
    "STATS_CLASS": "lswc.crawl.stats.DirectStats",
    # A crawled page may link to anything; only http and https are ever fetched.
    "DOWNLOAD_HANDLERS": {
        "http": "lswc.crawl.transport.handler.AttemptHandler",
        "https": "lswc.crawl.transport.handler.AttemptHandler",
        "data": None,
        "file": None,
        "ftp": None,
        "s3": None,
    },
    # What a download fails by, here, that may be better a moment later. Scrapy's list has what its
    # own handler raises, and loads that.
    "RETRY_EXCEPTIONS": [
        "scrapy.exceptions.CannotResolveHostError",
        "scrapy.exceptions.DownloadConnectionRefusedError",
        "scrapy.exceptions.DownloadFailedError",
        "scrapy.exceptions.DownloadTimeoutError",
        "scrapy.exceptions.ResponseDataLossError",
        OSError,
    ],
    # Scrapy's own extensions, without its consoles: else their servers are loaded with every crawl.
    # The crawl's own progress says more than LogStats.
    "EXTENSIONS_BASE": {
        "scrapy.extensions.corestats.CoreStats": 0,
        "scrapy.extensions.logcount.LogCount": 0,
        "scrapy.extensions.memusage.MemoryUsage": 0,
        "scrapy.extensions.memdebug.MemoryDebugger": 0,
        "lswc.crawl.ends.CloseSpider": 0,
        "scrapy.extensions.feedexport.FeedExporter": 0,
        "scrapy.extensions.spiderstate.SpiderState": 0,
        "scrapy.extensions.throttle.AutoThrottle": 0,
    },
}
"""What a spider of lswc's has instead of Scrapy's defaults."""

_ON_REQUEST = {
    "TELNETCONSOLE_ENABLED": "scrapy.extensions.telnet.TelnetConsole",
    "REMOTE_CONTROL_ENABLED": "scrapy.extensions.remote_control.RemoteControl",
}
"""Scrapy's extensions that a crawl only loads if their setting says so."""

WITHOUT: dict[str, dict[str, str]] = {
    "SPIDER_MIDDLEWARES": {
        "scrapy.spidermiddlewares.depth.DepthMiddleware": "DEPTH_LIMIT is obeyed without it",
        "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": (
            "URLLENGTH_LIMIT is obeyed without it"
        ),
        # No start request, and no copied one, ever comes by: each costs every page its time.
        "scrapy.spidermiddlewares.start.StartSpiderMiddleware": "seeds come from the frontier",
        "scrapy.spidermiddlewares.metacopy.MetaCopyDetectionMiddleware": "no request is copied",
        "scrapy.spidermiddlewares.referer.RefererMiddleware": "each request has its Referer",
    },
    "DOWNLOADER_MIDDLEWARES": {
        "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": (
            "LSWC_ALLOWED_DOMAINS says which domains are crawled"
        ),
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": (
            "robots.txt is obeyed without it"
        ),
        "scrapy.downloadermiddlewares.retry.RetryMiddleware": "lswc has one of its own",
        "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": (
            "lswc has one of its own"
        ),
        # To put heads together for their lengths took 3 % of a page.
        "scrapy.downloadermiddlewares.stats.DownloaderStats": "the downloader counts the same",
        "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": "lswc has one of its own",
        # Its cookies would go from one page to the next, whichever came first.
        "scrapy.downloadermiddlewares.cookies.CookiesMiddleware": "lswc has one of its own",
    },
    "ITEM_PIPELINES": {},
    "EXTENSIONS": {},
}
"""Scrapy's components that a spider of lswc's works without, and why."""

MAY_GO = frozenset(
    {
        "lswc.crawl.ends.HarvestStopExtension",
        "lswc.monitor.end_notice.EndNotice",
        "lswc.monitor.metrics.MetricsExtension",
        "lswc.monitor.terminal_line.TerminalLine",
        "lswc.seeds.seeds_folder.SeedsFolderExtension",
    }
)
"""Parts of lswc's without which a crawl is still polite, and recorded."""

NEEDED = {
    "SPIDER_MIDDLEWARES": ("scrapy.spidermiddlewares.httperror.HttpErrorMiddleware",),
    "DOWNLOADER_MIDDLEWARES": ("scrapy.downloadermiddlewares.useragent.UserAgentMiddleware",),
}
"""Scrapy's components that lswc's parts rely on: an error is no page, and who crawls is said."""

OWN_ALONE = {
    "SCHEDULER": "the frontier decides what is next (LSWC_STRATEGY, and LSWC_FRONTIER for Redis)",
    "DOWNLOADER": "no server gets too many requests by it",
}
"""Settings that name one part of lswc's, which a subclass may replace."""

UNREAD = {
    "DUPEFILTER_CLASS": "the frontier knows which URLs it has seen",
    "REQUEST_FINGERPRINTER_CLASS": "the frontier tells URLs apart by the URL Standard",
    **dict.fromkeys(
        (
            "SCHEDULER_PRIORITY_QUEUE", "SCHEDULER_DISK_QUEUE", "SCHEDULER_MEMORY_QUEUE",
            "SCHEDULER_START_DISK_QUEUE", "SCHEDULER_START_MEMORY_QUEUE", "DEPTH_PRIORITY",
        ),
        "LSWC_STRATEGY says what is fetched next",
    ),
    "HTTPCACHE_ENABLED": (
        "a crawl records what servers answered; LSWC_RECRAWL asks only for what has changed, and "
        "LSWC_WEB crawls a frozen web"
    ),
}  # fmt: skip
"""Settings of Scrapy's that mean nothing to a spider of lswc's, and what does instead."""

FOREIGN = "these settings don't build on lswc's: begin them with `from lswc.settings import *`"
"""What is said where Scrapy's own settings are in force."""

_NUMBER = (int, float)
_GUARD = "lswc.crawl.middlewares.VisitGuardMiddleware"
_ENTRY = "lswc.crawl.middlewares.EntryPipeline"
_EXIT = "lswc.crawl.middlewares.RecordPipeline"


@cache
def own(name: str) -> Mapping[str, int]:
    """Return lswc's parts of a setting, in their order: as in the file, whoever changed it since.

    A settings module that builds on lswc's may have taken one out of the same dictionary.
    """
    return {path: order for path, order in _written()[name].items() if order is not None}


@cache
def _written() -> dict[str, Any]:
    spec: Any = find_spec("lswc.settings")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def place(settings: BaseSettings) -> None:
    """Put lswc's parts beside what a user adds. Raises ConfigError for what is no component."""
    for name, value in INSTEAD.items():
        settings.set(name, value, PRIORITY)
    handlers = {**INSTEAD["DOWNLOAD_HANDLERS"], **_given(settings, "DOWNLOAD_HANDLERS")}
    _set(settings, "DOWNLOAD_HANDLERS", handlers)
    extensions = _given(settings, "EXTENSIONS_BASE")
    for switch, extension in _ON_REQUEST.items():
        if (settings.getpriority(switch) or 0) >= PRIORITY and is_on(settings, switch):
            extensions.setdefault(extension, 0)
    if under_scrapyd():
        extensions.setdefault("scrapy.extensions.logstats.LogStats", 0)
    _set(settings, "EXTENSIONS_BASE", extensions)
    for name, without in WITHOUT.items():
        given = _given(settings, name)
        known = {_path(component) for component in given}
        ours = {**dict.fromkeys(without), **_written()[name]}
        placed = {**{path: ours[path] for path in ours if path not in known}, **given}
        _set(settings, name, _with_ends(placed))


def _with_ends(placed: dict[Any, Any]) -> dict[Any, Any]:
    """Return components with the guard and the record's pipelines round all others."""
    for path, end, step in ((_GUARD, min, -1), (_ENTRY, min, -1), (_EXIT, max, 1)):
        if isinstance(placed.get(path), _NUMBER):
            orders = {one: order for one, order in placed.items() if isinstance(order, _NUMBER)}
            own_order = orders.pop(path)
            placed[path] = end([own_order, *(order + step for order in orders.values())])
    return placed


def apply_addons(crawler: Crawler) -> None:
    """Let a user's add-ons change a crawler's settings. Raises ConfigError if one can't."""
    _loaded(crawler.settings, "ADDONS")
    try:
        crawler.addons.load_settings(crawler.settings)
    except LswcError:
        raise
    except Exception as error:  # whatever a user's own module raises
        raise ConfigError(f"ADDONS: {type(error).__name__}: {error}") from error


def is_crawl(crawler: Crawler) -> bool:
    """Tell whether a crawler runs a spider of lswc's."""
    return hasattr(crawler.spidercls, "parts")


def only_for_crawls(crawler: Crawler) -> None:
    """Raise NotConfigured for the crawler of a spider that isn't lswc's."""
    if not is_crawl(crawler):
        raise NotConfigured


def under_scrapyd() -> bool:
    """Tell whether this process is a job of scrapyd's: others read its log, by Scrapy's lines."""
    return "SCRAPY_PROJECT" in os.environ  # it sets that for each job


def check(settings: BaseSettings) -> None:
    """Check that all that a crawl needs is in its place. Raises ConfigError."""
    for name, why in OWN_ALONE.items():
        _check_alone(settings, name, why)
    _check_resolver(settings)
    for name, instead in UNREAD.items():
        is_given = (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["project"]
        if is_given and _is_on(settings.get(name)):
            raise ConfigError(f"{name} means nothing to lswc: {instead}; leave it out")
    for scheme in ("http", "https"):
        _check_handler(settings, scheme)
    for name in WITHOUT:
        _check_components(settings, name)


def _check_components(settings: BaseSettings, name: str) -> None:
    given = {_path(component): order for component, order in _given(settings, name).items()}
    base = f"{name}_BASE"
    is_usual = settings.getpriority(base) in (0, PRIORITY, SETTINGS_PRIORITIES["project"] + 1)
    if is_usual and given == {**dict.fromkeys(WITHOUT[name]), **_written()[name]}:
        return  # nobody changed anything: a dry run needn't load it
    for path, why in WITHOUT[name].items():
        if given.get(path) is not None:
            raise ConfigError(f"{name}: leave out {path}: {why}")
    loaded = _loaded(settings, name)
    _check_ours(name, loaded, own(name))
    for component in loaded:
        _check_async(name, component)
    every = {**_given(settings, f"{name}_BASE"), **given}
    for path in NEEDED.get(name, ()):
        is_there = every.get(path) is not None
        if not (is_there or any(_is_kind_of(component, path) for component in loaded)):
            raise _lacking(name, path)


def check_reactor(settings: BaseSettings) -> None:
    """Check that a process runs what lswc looks names up with. Raises ConfigError."""
    name = "TWISTED_REACTOR"
    usual = getattr(default_settings, name)
    if not is_on(settings, f"{name}_ENABLED") or settings.get(name) != usual:
        raise ConfigError(f"{name}: names are looked up by {usual}; leave it, and {name}_ENABLED")


def _is_on(value: object) -> bool:
    return value not in (None, False, 0, "0", "False", "false", "")


def _check_alone(settings: BaseSettings, name: str, why: str) -> None:
    wanted = INSTEAD[name]
    if settings.get(name) != wanted and not _is_kind_of(_load(name, settings.get(name)), wanted):
        raise ConfigError(
            f"{name}={settings.get(name)!r}: only a subclass of {wanted} can replace it: {why}"
        )


def _check_resolver(settings: BaseSettings) -> None:
    """Check that addresses are kept out: a process has one resolver, which settings name early."""
    name = "TWISTED_DNS_RESOLVER"
    resolver = _load(name, settings.get(name))
    if not settings.getpriority(name):
        raise ConfigError(FOREIGN)
    if resolver.__module__.startswith("scrapy."):
        raise ConfigError(
            f"{name}: {_path(resolver)} would let pages lead into private networks; "
            "LSWC_ALLOWED_NETWORKS says which may be asked"
        )


def _check_handler(settings: BaseSettings, scheme: str) -> None:
    wanted = INSTEAD["DOWNLOAD_HANDLERS"][scheme]
    given = _given(settings, "DOWNLOAD_HANDLERS").get(scheme)
    if given == wanted:
        return
    if given is None or not _is_kind_of(_load("DOWNLOAD_HANDLERS", given), wanted):
        raise ConfigError(
            f"DOWNLOAD_HANDLERS: {scheme} must be {wanted}, or a subclass: it records every "
            f"attempt, and keeps its bytes; not {given!r}"
        )


def _check_ours(name: str, loaded: Mapping[Any, float], ours: Mapping[str, int]) -> None:
    """Check that each part of lswc's is there, or a subclass of it, and in its order."""
    if name == "EXTENSIONS":  # the order of extensions means nothing
        ours = {path: 0 for path in ours if path not in MAY_GO}
    before: tuple[float, str] | None = None
    for path in sorted(ours, key=lambda path: ours[path]):
        part = load_object(path)
        orders = [float(n) for one, n in loaded.items() if _is_kind_of(one, part)]
        if not orders:
            raise _lacking(name, path)
        if before is not None and ours[path] and orders[0] < before[0]:
            raise ConfigError(f"{name}: {path} must come after {before[1]}, as in lswc/settings.py")
        before = orders[0], path


def _check_async(name: str, component: Any) -> None:
    """Check that a spider middleware takes pages as they come. Raises ConfigError."""
    method = getattr(component, "process_spider_output", None)
    both = hasattr(component, "process_spider_output_async")
    if method is not None and not both and not isasyncgenfunction(method):
        raise ConfigError(
            f"{name}: process_spider_output of {_path(component)} must be an async generator: "
            "`async def`, and `async for item in result`"
        )


def _lacking(name: str, path: str) -> ConfigError:
    return ConfigError(
        f"{name}: {path} can't be taken out: without it pages wouldn't be asked for and recorded "
        "as promised; put a subclass of it in its place, or leave it"
    )


def _is_kind_of(component: Any, of: Any) -> bool:
    kind = load_object(of) if isinstance(of, str) else of
    # Not issubclass: to Scrapy every scheduler is a subclass of any other.
    return component is kind or kind in getattr(component, "__mro__", ())


def _loaded(settings: BaseSettings, name: str) -> dict[Any, float]:
    """Return the components of a setting that aren't off. Raises ConfigError for what is none."""
    loaded: dict[Any, float] = {}
    for component, order in _given(settings, name).items():
        if order is None:
            continue
        if not isinstance(order, _NUMBER):
            raise ConfigError(
                f"{name}: the order of {_path(component)} must be a number, or None, not {order!r}"
            )
        loaded[_load(name, component)] = order
    return loaded


def _load(name: str, component: Any) -> Any:
    try:
        return load_object(component)
    except Exception as error:  # whatever a user's own module raises
        raise ConfigError(f"{name}: can't import {_path(component)}: {error}") from error


def _given(settings: BaseSettings, name: str) -> dict[Any, Any]:
    """Return a setting that is a dictionary, also as JSON. Raises ConfigError for what is none."""
    value = settings.get(name)
    if value is None:
        return {}
    try:
        return dict(settings.getdict(name))
    except (TypeError, ValueError) as error:
        example = '{"my_module.MyClass": 300}'
        raise ConfigError(
            f"{name} must be a dictionary, such as {example}, not {value!r}"
        ) from error


def _set(settings: BaseSettings, name: str, value: dict[Any, Any]) -> None:
    """Set a setting above what was given: a process gives its settings to its crawlers again.

    And above a project's: without a reactor Scrapy sets its own download handlers there.
    """
    given = max(settings.getpriority(name) or 0, SETTINGS_PRIORITIES["project"])
    settings.set(name, value, given + 1)


def _path(component: Any) -> str:
    return component if isinstance(component, str) else global_object_name(component)
