"""Trust: which settings run something, or reach beyond a crawl's own place.

Whoever gives them has the rights of the user whom the crawl runs as. So a crawl file of another's,
and a job of scrapyd's, have to be allowed them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scrapy.settings import default_settings

from lswc import settings as defaults
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from scrapy.settings import BaseSettings

ALLOWED = "LSWC_JOBS_MAY"
"""Setting of the project: those settings that a job of scrapyd's may give all the same."""

_CODE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")  # a class or module, by its path
_NAMED_SO = re.compile(
    r"(?:_CLASS|_MODULES?|_MIDDLEWARES(?:_BASE)?|_PIPELINES(?:_BASE)?|EXTENSIONS(?:_BASE)?|ADDONS"
    r"|_HANDLERS(?:_BASE)?|_FACTORY|_STORAGES(?:_BASE)?|_EXPORTERS(?:_BASE)?|_QUEUE|REACTOR"
    r"|EVENT_LOOP|_METHOD|COMMANDS_MODULE|EDITOR)\Z"
)
_BROWSERS = ("", "off", "auto")
_OF_SCRAPYD = ("LOG_FILE", "FEEDS")  # it gives them itself
_PLACES = (
    "FEED_URI", "FEED_TEMPDIR", "FILES_STORE", "IMAGES_STORE", "HTTPCACHE_DIR", "JOBDIR",
    "LSWC_CRAWL", "LSWC_EXPERIENCE", "LSWC_LANGUAGES", "LSWC_RECRAWL", "LSWC_WEB", *_OF_SCRAPYD,
)  # fmt: skip


def runs(name: str, value: Any) -> bool:
    """Tell whether a setting runs a program, or code that it names.

    One that neither lswc nor Scrapy has is a plug-in's: nobody here knows what it does.
    """
    if value in ("", None, [], {}):
        return False
    match name:
        case "LSWC_ON_END":
            return True
        case "LSWC_BROWSER":
            return str(value) not in _BROWSERS
        case "LSWC_STRATEGY":
            return re.match(r"[\w.]+:[A-Za-z_]\w*(?::|\Z)", str(value)) is not None
    ours, usual = vars(defaults), vars(default_settings)
    if name not in ours and name not in usual:
        return True
    default = usual.get(name, ours.get(name))
    if name in _PLACES or value == default:
        return False
    is_code = isinstance(default, str) and _CODE.fullmatch(default) is not None
    return is_code or isinstance(default, dict) or _NAMED_SO.search(name) is not None


def running(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some settings that run something."""
    return {name: value for name, value in settings.items() if runs(name, value)}


def check_job(settings: BaseSettings, given: Iterable[str], here: Path) -> None:
    """Check what a job of scrapyd's gives: nothing that runs, no place out of the folder.

    ``given`` are the names of the settings. What the project's ``LSWC_JOBS_MAY`` names is allowed.
    Raises ConfigError.
    """
    given = set(given)
    # What a job allows itself counts for nothing, and it hides what the project says.
    allowed = set() if ALLOWED in given else {name.strip() for name in settings.getlist(ALLOWED)}
    for name in sorted(given - allowed, key=lambda name: (name != ALLOWED, name)):
        if name == ALLOWED or runs(name, settings.get(name)):
            what = "runs something"
        elif name in _PLACES and not all(_is_in(one, here) for one in _named(settings.get(name))):
            what = f"names a place outside {here}"
        else:
            continue
        raise ConfigError(
            f"{name} {what}: no job may say so, unless {ALLOWED} in the project's settings names it"
        )


def _named(value: Any) -> list[str]:
    """Return the places that a setting names."""
    if isinstance(value, (Mapping, list, tuple)):  # FEEDS, as Scrapy reads them
        return [str(one) for one in value]
    return str(value or "").split(",")


def _is_in(place: str, here: Path) -> bool:
    """Tell whether a place is nowhere but in a folder; one on a network isn't."""
    place = place.strip().removeprefix("file://")
    if "://" in place or re.match(r"(?:s3|gs|ftp|redis|rediss|unix|stdout):", place):
        return False
    return (here / place).resolve().is_relative_to(here.resolve())
