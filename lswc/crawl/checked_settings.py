"""Checked settings: each as a plain value, or one line that says what is wrong with it."""

from __future__ import annotations

import logging
import os
import re
from difflib import get_close_matches
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from scrapy.settings import default_settings

from lswc import settings as defaults
from lswc.crawl import crawl_file
from lswc.errors import ConfigError
from lswc.frontier import names_redis
from lswc.guest.control.rules_in_force import GENERATED, KEEP
from lswc.guest.robots_txt import can_be_named
from lswc.reading.opt_outs import RECORDING
from lswc.safety.url_patterns import patterns_of

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from lswc.safety.url_patterns import Pattern

MOST_READERS = 2
"""As many readers, at most, as one crawl keeps busy; LSWC_READERS may say more."""

MOST_VISITS = 24
"""Visits a day to each page, on the mean: once an hour, no page is left in peace."""

ARCHIVED = ("relevant", "all", "none")
VALUES = ("pages", "text")
MACHINE_TRANSLATED = ("relevant", "irrelevant")
REQUISITES_SHARE = 0.09
"""Share of the requests that requisites get, if LSWC_REQUISITES names no other."""
OPT_OUT = (*RECORDING, "skip-corpus", "skip-archive")
UNKNOWN = ("strategy", "irrelevant", "guess")
ROBOTS_WORDS = ("nofollow", "noindex", "noarchive")

_MISSPELLED = 0.9
"""How near a name is to a known one, by difflib's ratio, if it is that one misspelled."""

_SIGNED = {"DEPTH_PRIORITY", "REDIRECT_PRIORITY_ADJUST", "RETRY_PRIORITY_ADJUST"}
"""Settings that may be less than 0."""

_CONTACT = re.compile(r"https?://[!-~]+\.[!-~]+|[!-?A-~]+@[!-?A-~]+\.[!-?A-~]+")
_MEDIA_TYPE = re.compile(r"\*/\*|[a-z0-9][a-z0-9!#$&^_.+-]*/(\*|[a-z0-9][a-z0-9!#$&^_.+-]*)")
_HEADER = re.compile(r"[ -~]+")


class BrowserPages(NamedTuple):
    """Which pages a browser shows.

    Of those that aren't empty, a ``share`` of the relevant ones, or what ``patterns`` name. Of
    empty ones in vain a share of all pages, the ``budget``, and so many ``tries`` of a site.
    """

    share: float
    patterns: tuple[Pattern, ...]
    budget: float
    tries: int


def check(settings: BaseSettings) -> None:
    """Check the names of all settings, and those that are numbers or switches.

    Raises ConfigError.
    """
    known = _of_scrapy() | _own()
    for name in unknown(settings):
        is_own = name.startswith("LSWC_")
        of = [one for one in known if one.startswith("LSWC_")] if is_own else list(known)
        close = get_close_matches(name, of, 1, 0.6 if is_own else _MISSPELLED)
        if close or is_own:
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(sorted(of))}"
            raise ConfigError(f"unknown setting {name}; {hint}")
    for name, default in known.items():
        if isinstance(default, bool) or name.endswith("_ENABLED"):  # Scrapy's may be 1
            switch(settings, name)
        elif isinstance(default, (int, float)) and name not in _SIGNED:
            number(settings, name)
    if not whole(settings, "CONCURRENT_REQUESTS"):
        raise ConfigError("CONCURRENT_REQUESTS must be at least 1")
    level = settings.get("LOG_LEVEL")
    if isinstance(level, str) and level not in (levels := logging.getLevelNamesMapping()):
        names = ", ".join(sorted(levels, key=levels.__getitem__))
        raise ConfigError(f"LOG_LEVEL={level!r} isn't one of: {names}")


def unknown(settings: BaseSettings) -> list[str]:
    """Return the settings given for this crawl that nothing is known to read."""
    known = _of_scrapy().keys() | _own().keys() | _OF_SCRAPY_REDIS
    return [
        name
        for name in settings
        if name not in known
        and (name.startswith("LSWC_") or (settings.getpriority(name) or 0) >= crawl_file.PRIORITY)
    ]


_OF_SCRAPY_REDIS = {"REDIS_PARAMS", "REDIS_START_URLS_KEY"}  # which lswc.crawl.workers reads


def _own() -> dict[str, object]:
    return {name: value for name, value in vars(defaults).items() if name.isupper()}


def _of_scrapy() -> dict[str, object]:
    return {name: value for name, value in vars(default_settings).items() if name.isupper()}


def number(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a number of at least 0. Raises ConfigError."""
    try:
        value = float(settings.get(name))
    except (TypeError, ValueError):
        value = -1
    if not 0 <= value < inf:
        raise ConfigError(f"{name} must be a number of at least 0, not {settings.get(name)!r}")
    return value


def whole(settings: BaseSettings, name: str) -> int:
    """Return a setting that is a whole number of at least 0. Raises ConfigError."""
    value = number(settings, name)
    if not value.is_integer():
        raise ConfigError(f"{name} must be a whole number, not {settings.get(name)!r}")
    return int(value)


def share(settings: BaseSettings, name: str) -> float:
    """Return a setting that is a share. Raises ConfigError."""
    value = number(settings, name)
    if value > 1:
        raise ConfigError(f"{name} must be a number from 0 to 1, not {settings.get(name)!r}")
    return value


def requisites_share(settings: BaseSettings) -> float:
    """Return what share of the requests LSWC_REQUISITES gives them. Raises ConfigError."""
    given = settings.get("LSWC_REQUISITES")
    if given in ("all", "none"):
        return REQUISITES_SHARE
    try:
        return share(settings, "LSWC_REQUISITES")
    except ConfigError as error:
        message = f"LSWC_REQUISITES must be all, none, or a number from 0 to 1, not {given!r}"
        raise ConfigError(message) from error


def switch(settings: BaseSettings, name: str) -> bool:
    """Return a setting that is on or off. Raises ConfigError."""
    try:
        return settings.getbool(name)
    except ValueError as error:
        given = settings.get(name)
        raise ConfigError(f"{name} must be 0 or 1, True or False, not {given!r}") from error


def one_of(settings: BaseSettings, name: str, known: tuple[str, ...]) -> str:
    """Return a setting that is one of the ``known`` words. Raises ConfigError."""
    setting: str = settings.get(name)
    if setting not in known:
        raise ConfigError(f"{name}={setting!r} isn't one of: {', '.join(known)}")
    return setting


def generated(settings: BaseSettings) -> str:
    """Return what becomes of sites that machines wrote. Raises ConfigError."""
    setting = one_of(settings, "LSWC_GENERATED", GENERATED)
    if setting != KEEP and not settings.getbool("LSWC_PAGE_INDEX"):
        raise ConfigError(
            f"LSWC_GENERATED={setting} needs LSWC_PAGE_INDEX=1: it has the texts that tell"
        )
    return setting


def archived_files(settings: BaseSettings) -> tuple[str, ...]:
    """Return the media types of linked files that are archived. Raises ConfigError."""
    given = tuple(one.strip().lower() for one in settings.getlist("LSWC_ARCHIVE_FILES"))
    for one in given:
        if not _MEDIA_TYPE.fullmatch(one):
            raise ConfigError(
                f"LSWC_ARCHIVE_FILES: {one!r} isn't a media type, such as image/*, "
                "application/zip, or */* for all"
            )
    archived = one_of(settings, "LSWC_ARCHIVE", ARCHIVED)
    return {"all": ("*/*",), "none": ()}.get(archived, given)


def try_again(settings: BaseSettings) -> tuple[float, ...]:
    """Return LSWC_TRY_AGAIN, in seconds. Raises ConfigError."""
    given = settings.getlist("LSWC_TRY_AGAIN")
    try:
        waits = tuple(float(wait) for wait in given)
    except (TypeError, ValueError):
        waits = (-1.0,)
    if not all(0 <= wait < inf for wait in waits):
        raise ConfigError(f"LSWC_TRY_AGAIN must be numbers of at least 0, not {given!r}")
    return waits


def contact(settings: BaseSettings) -> str:
    """Return whom a server's owner can write to. Raises ConfigError if that isn't set."""
    given = str(settings.get("LSWC_CONTACT") or "").strip()
    if not _CONTACT.fullmatch(given):
        raise ConfigError(
            "who crawls the real web? Give a URL or an e-mail address: --contact "
            "crawl@library.example, `contact` in a crawl's file, or -s LSWC_CONTACT=..."
            + (f"; {given!r} is neither" if given else "")
        )
    return given


def accept_language(settings: BaseSettings, default: str) -> str:
    """Return what pages are asked for in Accept-Language. Raises ConfigError."""
    accepted: str = settings.get("LSWC_ACCEPT_LANGUAGE") or default
    if not _HEADER.fullmatch(accepted):
        raise ConfigError(f"LSWC_ACCEPT_LANGUAGE: {accepted!r} isn't like 'th, en;q=0.5'")
    return accepted


def robot(settings: BaseSettings) -> str:
    """Return the name that is looked for in robots.txt; "" if that isn't obeyed.

    Raises ConfigError for one that no robots.txt can have.
    """
    if not settings.getbool("ROBOTSTXT_OBEY"):
        return ""
    setting = "ROBOTSTXT_USER_AGENT" if settings.get("ROBOTSTXT_USER_AGENT") else "USER_AGENT"
    agent = str(settings.get(setting))
    if not can_be_named(agent):
        raise ConfigError(
            f"{setting}={agent!r}: no robots.txt can name this robot; its name, up to a slash, must"
            " be one word of letters, digits and signs such as - _ and ."
        )
    return agent


def robots_words(settings: BaseSettings) -> tuple[str, ...]:
    """Return the words of LSWC_ROBOTS_META. Raises ConfigError."""
    given = settings.getlist("LSWC_ROBOTS_META")
    for word in given:
        if word not in ROBOTS_WORDS:
            known = ", ".join(ROBOTS_WORDS)
            raise ConfigError(f"LSWC_ROBOTS_META: {word!r} isn't one of: {known}")
    return tuple(given)


def patterns(settings: BaseSettings, name: str) -> tuple[str, ...]:
    """Return a setting that is a list of URL patterns. Raises ConfigError."""
    given = tuple(settings.getlist(name))
    try:
        patterns_of(given)
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from error
    return given


def browser_pages(settings: BaseSettings) -> BrowserPages:
    """Return which pages a browser shows. Raises ConfigError."""
    named = _browser_pages(settings)
    budget = share(settings, "LSWC_BROWSER_SHARE")
    return named._replace(budget=budget, tries=whole(settings, "LSWC_BROWSER_TRIES"))


def _browser_pages(settings: BaseSettings) -> BrowserPages:
    """Return which pages are shown that aren't empty without their scripts."""
    given = settings.getlist("LSWC_BROWSER_PAGES")
    if given in ([], ["shells"]):
        return BrowserPages(0.0, (), 0.0, 0)
    if len(given) == 1 and given[0] == "all":
        return BrowserPages(1.0, (), 0.0, 0)
    if len(given) == 1 and str(given[0]).replace(".", "", 1).isdecimal():
        if not 0 <= float(given[0]) <= 1:
            raise ConfigError(f"LSWC_BROWSER_PAGES must be a share up to 1, not {given[0]!r}")
        return BrowserPages(float(given[0]), (), 0.0, 0)
    try:
        return BrowserPages(0.0, patterns_of([str(one) for one in given]), 0.0, 0)
    except ConfigError as error:
        raise ConfigError(
            f"LSWC_BROWSER_PAGES is shells, all, a share such as 0.1, or URL patterns: {error}"
        ) from error


def readers(settings: BaseSettings) -> int:
    """Return how many processes read pages: by default as many as there are other cores.

    Raises ConfigError.
    """
    given = str(settings.get("LSWC_READERS"))
    if given.isdecimal():
        return int(given)
    if given != "cores":
        raise ConfigError(f"LSWC_READERS must be 'cores' or a number of processes, not {given!r}")
    # Containers and taskset leave a process fewer than there are; not all systems tell.
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min((own or 1) - 1, MOST_READERS)


def revisit(settings: BaseSettings) -> float:
    """Return how often a day a page is visited again. Raises ConfigError."""
    visits = number(settings, "LSWC_REVISIT")
    if visits > MOST_VISITS:
        raise ConfigError(
            f"LSWC_REVISIT must be from 0 to {MOST_VISITS} visits a day to each page, on the mean, "
            f"not {settings.get('LSWC_REVISIT')!r}"
        )
    if visits and in_order(settings):
        raise ConfigError("LSWC_REVISIT: the papers' order visits no page again; LSWC_IN_ORDER=0")
    return visits


def in_order(settings: BaseSettings) -> bool:
    """Tell whether URLs are taken one at a time, in the papers' order. Raises ConfigError."""
    wanted = number(settings, "LSWC_IN_ORDER") > 0
    if wanted and names_redis(settings.get("LSWC_FRONTIER")):
        raise ConfigError(
            "LSWC_IN_ORDER: the workers of a Redis crawl keep no order; use LSWC_FRONTIER=sqlite"
        )
    return wanted


def unproven_share(settings: BaseSettings) -> float:
    """Return the share of the unproven; all, in the papers' order. Raises ConfigError."""
    wanted = share(settings, "LSWC_UNPROVEN_SHARE")
    return 1.0 if in_order(settings) else wanted


def as_text(value: object) -> str:
    """Return a setting as text, the same whether it comes from a file or the command line."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    try:
        return str(float(str(value)))
    except ValueError:
        return str(value)
