"""Dry run of a crawl: its settings and where each comes from, and what it would ask for first."""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.project import ENVVAR

from lswc import settings as defaults
from lswc.cli.tables import lines_table, terminal
from lswc.crawl import crawl_file, profiles
from lswc.crawl.configuration import Crawl
from lswc.crawl.seed_files import list_of
from lswc.crawl.stores import frontier_of
from lswc.frontier import FRONTIER_FILE, MEMORY, open_frontier
from lswc.frontier.rules.visit import Visit
from lswc.guest.control import InFolder
from lswc.guest.control_in_effect import at_start
from lswc.logins import without_logins
from lswc.outcomes import Outcome
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.crawl.crawl_file import CrawlFile
    from lswc.frontier import Frontier
    from lswc.guest.control import Control
    from lswc.urls import Url

FIRST = 20
"""URLs that are shown."""

_SECRET = re.compile(r"PASS|SECRET|TOKEN|\AREDIS_PARAMS\Z")


def show(
    settings: BaseSettings, arguments: dict[str, str], file: CrawlFile | None, *, details: bool
) -> None:
    """Print what a crawl would do, by the settings as they are when it starts.

    Raises LswcError for what would end it at its start.
    """
    console = terminal(100)
    with _left_as_it_was(settings, arguments["lang"]):
        crawl = Crawl.of(settings, arguments["lang"], arguments.get("seeds", ""))
        rows = {
            name: f"{value}  ({origin})"
            for name, value, origin in _rows(settings, file, crawl, details=details)
        }
        urls, left_out = _first(crawl, settings)
    console.print(lines_table("", rows))
    if not details:
        print("The other settings have their defaults: --details shows them.")
    facts = {"language": crawl.language.tag, "seeds": f"{len(crawl.seeds):,}{_lists(crawl)}"}
    console.print(lines_table("", {**facts, **left_out}))
    print(f"The first {numbered(len(urls), 'URL')}, each after the robots.txt of its server:")
    for url in urls:
        console.print(f"  {url}", markup=False, highlight=False, soft_wrap=True)


def _lists(crawl: Crawl) -> str:
    """Name the lists that the seeds are of, if they are of some."""
    given = Path(crawl.seeds_given) if crawl.seeds_given else None
    if (given is not None and not given.is_dir()) or (given is None and crawl.web is not None):
        return ""
    lists = (list_of(language, given) for language in crawl.language.languages)
    return "".join(f", {found}" for found in lists)


@contextmanager
def _left_as_it_was(settings: BaseSettings, lang: str) -> Iterator[None]:
    """Take away the folders that were made meanwhile, and are empty."""
    folder = Path(settings.get("LSWC_CRAWL") or f"crawls/{lang}")
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        yield
    finally:
        for path in made:
            with suppress(OSError):
                path.rmdir()


def _rows(
    settings: BaseSettings, file: CrawlFile | None, crawl: Crawl, *, details: bool
) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and origin of the settings that aren't the defaults, or of all."""
    quotas = crawl.quotas
    by_language = {
        "LSWC_MAX_SERVER_PAGES": quotas.server.pages,
        "LSWC_MAX_SERVER_BYTES": quotas.server.bytes,
        "LSWC_MAX_DOMAIN_PAGES": quotas.domain.pages,
        "LSWC_MAX_DOMAIN_BYTES": quotas.domain.bytes,
    }
    ours = {name for name in vars(defaults) if name.isupper()}
    given = {name for name in settings if _priority(settings, name) > _OF_PROJECT}
    for name in sorted(ours | given):
        value, origin = settings.get(name), origin_of(settings, name, file)
        if name in by_language and by_language[name] != value:
            value, origin = f"{by_language[name]:.0f}", f"language {crawl.language.tag}"
        is_internal = name in _INTERNAL or isinstance(value, BaseSettings)  # components by name
        if is_internal or (origin == DEFAULT and not details):
            continue
        yield name, "(not shown)" if value and _SECRET.search(name) else _written(value), origin


_OF_PROJECT = SETTINGS_PRIORITIES["project"]
_INTERNAL = {
    name for name, value in vars(defaults).items() if isinstance(value, dict) or name == "ADDONS"
}
DEFAULT = "default"


def origin_of(settings: BaseSettings, name: str, file: CrawlFile | None) -> str:
    """Say where a setting's value comes from."""
    priority = _priority(settings, name)
    if priority == profiles.PRIORITY:
        return f"profile {settings.get('LSWC_PROFILE')}"
    if priority == SETTINGS_PRIORITIES["spider"]:
        return "LSWC_CONTACT"
    if priority == crawl_file.PRIORITY and file is not None:
        return f"{file.path}, {file.key_of(name)}"
    if priority > _OF_PROJECT:
        return "command line"
    module = os.environ.get(ENVVAR, defaults.__name__)
    usual = getattr(defaults, name, getattr(default_settings, name, None))
    if module != defaults.__name__ and getattr(import_module(module), name, usual) != usual:
        return f"environment, {ENVVAR}={module}"
    return DEFAULT


def _priority(settings: BaseSettings, name: str) -> int:
    return settings.getpriority(name) or 0


def _written(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return without_logins(" ".join(map(str, value)))
    return without_logins(str(value))


def _first(crawl: Crawl, settings: BaseSettings) -> tuple[list[str], dict[str, str]]:
    """Return the URLs that come first, and how many seeds are left out, by reason."""
    seeds = [crawl.seed(address) for address in crawl.seeds]
    reasons = Counter(str(seed) for seed in seeds if isinstance(seed, Outcome))
    left_out = {f"seeds left out, {reason}": f"{n:,}" for reason, n in reasons.items()}
    if not (crawl.folder / FRONTIER_FILE).exists():
        with closing(open_frontier(MEMORY, crawl.folder, crawl.strategy, crawl.identity)) as new:
            new.offer([seed for seed in seeds if not isinstance(seed, Outcome)])
            return list(_ended_at_once(new)), left_out
    with closing(frontier_of(crawl, settings)) as frontier:
        control = at_start(InFolder(crawl.folder))
        return list(_given_back(frontier, crawl, control)), left_out


def _ended_at_once(frontier: Frontier) -> Iterator[str]:
    """Yield the first URLs of a frontier that nobody needs any more."""
    for now in range(FIRST):
        lease = frontier.lease(now)
        if lease is None:
            return
        yield lease.url
        frontier.commit(Visit(lease, outcome=Outcome.TIMEOUT))


def _given_back(frontier: Frontier, crawl: Crawl, control: Control) -> Iterator[str]:
    """Yield the first URLs that a crawl goes on with, one of each server."""
    visits = list[Visit]()
    while len(visits) < FIRST and (lease := frontier.lease(monotonic())) is not None:
        visits.append(Visit(lease))
        url = crawl.reader.scope.check(lease.url, lease.depth)
        if not isinstance(url, Outcome) and not _refuses(control, url):
            yield lease.url
    for visit in visits:
        frontier.give_back(visit)


def _refuses(control: Control, url: Url) -> bool:
    rule, patterns = control.at(url), control.patterns
    by_pattern = patterns is not None and patterns.refusal(url) is not None
    return bool(rule.block or rule.pause) or by_pattern
