"""One site of a crawl: how far it is, what was kept and refused, and how it is treated, and why."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.archive.appended_files import ArchiveError
from lswc.archive.run_settings import settings_of
from lswc.errors import ConfigError, StorageError
from lswc.extras import how_to_install, is_installed
from lswc.guest.control import Control, ControlError, Rule, place_of, read
from lswc.guest.learned import CRAWL_DELAY
from lswc.guest.learned import FILE as LEARNED
from lswc.guest.learned import read as learned_of
from lswc.guest.pageless import NO_PAGE
from lswc.guest.rests import FILE as BACKOFF
from lswc.guest.rests import read as rests_of
from lswc.monitor.story import explained
from lswc.outcomes import OF_REQUISITE, RECORDED, Outcome
from lswc.plurals import numbered
from lswc.urls import parse, site
from lswc.workbench import marks
from lswc.workbench.html import moment, size
from lswc.workbench.instructions import earlier, in_force, in_words, is_in, seen
from lswc.workbench.sites import searched

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lswc.frontier.rules.report import OfSite
    from lswc.monitor.stored import StoredCrawl
    from lswc.workbench.watch import Watch

SERVERS, PAGES = 100, 50
"""Servers and latest pages that are shown."""

URL_CHARACTERS = 2_083
"""Characters of what is looked for: URLs of a crawl are no longer (URLLENGTH_LIMIT)."""

LOG_SECONDS = 2.0
"""Seconds in which the log is read for the latest pages, over all workers' folders."""

NAMED = 5
"""Servers that are named of those that ask for something, and reasons of those that gave nothing.
"""

_AGAIN = (
    Outcome.COPY, Outcome.TWIN, Outcome.CANONICAL, Outcome.DUPLICATES_IN_DIRECTORY,
    Outcome.DUPLICATES_ON_SERVER, Outcome.DUPLICATES_ON_SITE, Outcome.REPEATED_SEGMENT,
    Outcome.FACETED_QUERY, Outcome.DEEP_PATH,
)  # fmt: skip
"""Outcomes of URLs that show what another does, or that programs make without end."""


class Heard(NamedTuple):
    """What servers of a site were heard to say, by server.

    Why they gave no page: numbers of URLs by reason. ``delays`` are their Crawl-delays in seconds;
    ``rests`` how often they were overloaded in a row, and until when they rest, in Unix time.
    """

    no_page: dict[str, dict[str, int]]
    delays: dict[str, float]
    rests: dict[str, tuple[int, float]]


def shown(watch: Watch, given: Mapping[str, str]) -> dict[str, Any]:
    """Return what is known of a site. Raises LswcError, also if the crawl doesn't know it."""
    crawl, name = watch.crawl, _site(given.get("name", ""))
    found = crawl.site(name, SERVERS)
    if found is None:
        raise ConfigError(
            f"the crawl knows no site {name!r}: look for a part of its name in the list of sites"
        )
    place = place_of(given.get("place") or name)
    if not is_in(place.name, name):
        raise ConfigError(f"{place.name} is no part of {name}")
    control, wrong = _control(crawl)
    url = parse(f"http://{name}/")
    rule = Rule() if url is None else control.at(url)
    folders = crawl.folders()
    heard = _heard(folders, name)
    pages, no_log = _latest(folders, name)
    marked = marks.read(folders)
    return {
        "title": name,
        "name": name,
        "site": found,
        "kept": [(o, n, explained(o)) for o, n in found.outcomes.items() if o in RECORDED],
        "refused": [
            (o, n, explained(o))
            for o, n in found.outcomes.items()
            if o not in RECORDED and not _is_requisite(o)
        ],
        "requisites": sum(n for o, n in found.outcomes.items() if _is_requisite(o)),
        "again": [(o, found.outcomes[o]) for o in _AGAIN if o in found.outcomes],
        "because": because(found, rule, heard),
        "politeness": politeness(folders, rule, heard, time()),
        "wrong": wrong,
        "place": place.name,
        "seen": seen(control, place.name),
        "seen_of_site": seen(control, name),
        "in_force": in_force(control, name),
        "blocked": bool(rule.block),
        "earlier": [(one, in_words(one.key, one.value)) for one in earlier(crawl, name)],
        "latest": pages,
        "no_log": no_log,
        "mark": marked.get(name),
        "page_marks": [mark for mark in marked.values() if mark.is_page and mark.site == name],
    }


def _site(written: str) -> str:
    """Return the site that somebody named: itself, a server of its or a URL."""
    text = written.strip()[:URL_CHARACTERS]
    url = parse(text if "://" in text else f"http://{text}")
    return searched(text) if url is None else site(url.hostname)


def _is_requisite(outcome: str) -> bool:
    return outcome.startswith(OF_REQUISITE) or outcome == Outcome.REQUISITE


def _control(crawl: StoredCrawl) -> tuple[Control, str]:
    try:
        return read(crawl.kept), ""
    except ControlError as error:
        return Control(), str(error)


def _heard(folders: list[Path], name: str) -> Heard:
    heard = Heard({}, {}, {})
    for folder in folders:
        try:
            learned, rests = learned_of(folder / LEARNED, name), rests_of(folder / BACKOFF)
        except OSError as error:
            raise StorageError(f"can't read {error.filename}: {error.strerror}") from error
        for (server, subject), value in learned.items():
            if is_in(server, name) and subject == NO_PAGE:
                heard.no_page[server] = value[0]
            elif is_in(server, name) and subject == CRAWL_DELAY:
                heard.delays[server] = value
        heard.rests.update((one, rest) for one, rest in rests.items() if is_in(one, name))
    return heard


def _latest(folders: list[Path], name: str) -> tuple[list[dict[str, Any]], str]:
    """Return the latest pages of a site by the log, and why there may be more, or ""."""
    if not is_installed("pyarrow"):
        return [], f"To read the crawl's log: {how_to_install('parquet')}"
    from lswc.archive.url_history import pages_of_site  # not above: pyarrow isn't always there

    logs = [folder for folder in folders if (folder / "log").is_dir()]
    if not logs:
        return [], "The crawl's log isn't on this machine."
    try:
        found = [pages_of_site(one, name, PAGES, LOG_SECONDS / len(logs)) for one in logs]
    except ArchiveError as error:
        return [], str(error)
    pages = [page for one in found for page in one.pages]
    pages.sort(key=lambda page: page["time"], reverse=True)
    for page in pages:
        page["time"] = page["time"].timestamp()
    is_all = all(one.is_all for one in found) or len(pages) >= PAGES
    return pages[:PAGES], "" if is_all else (
        f"Only the latest part of the log was looked at, for {LOG_SECONDS:.0f} seconds."
    )


def because(found: OfSite, rule: Rule, heard: Heard) -> list[str]:
    """Say why a site gave nothing, or nothing relevant; nothing of one that did.

    ``rule`` is the instruction in force for it.
    """
    totals = found.totals
    if totals.relevant:
        return []
    lines = []
    if rule.block or rule.pause:
        why = f": {rule.why}" if rule.why else ""
        lines.append(f"An instruction {'blocks' if rule.block else 'pauses'} it{why}.")
    if totals.pages:
        lines.append(f"None of its {numbered(totals.pages, 'page')} is in the crawl's language.")
        return lines
    for server, reasons in list(heard.no_page.items())[:NAMED]:
        first = max(reasons, key=reasons.__getitem__)
        lines.append(f"{server} answered: {first}. {explained(first)}")
    if not heard.no_page:
        ended = [(o, n) for o, n in found.outcomes.items() if not _is_requisite(o)][:NAMED]
        lines += [f"{numbered(n, 'URL')}: {o}. {explained(o)}" for o, n in ended]
    if totals.pending:
        family = (
            f" Hardly a site but {found.family} links to it: such sites get few requests."
            if found.family
            else ""
        )
        lines.append(f"{numbered(totals.pending, 'URL')} of it wait for their turn.{family}")
    return lines or ["No URL of it was asked for."]


def politeness(folders: list[Path], rule: Rule, heard: Heard, now: float) -> list[tuple[str, str]]:
    """Say how a site is treated: by the settings, its own rules, and instructions."""
    try:
        settings = settings_of(folders[0]) if folders else {}
    except ArchiveError:
        settings = {}
    lines = []
    if settings:
        obeyed = settings.get("robots") == "obey"
        lines.append(("robots.txt", "is obeyed" if obeyed else "isn't obeyed"))
        factor = settings.get("LSWC_DELAY_FACTOR")
        lines.append(("a server rests after each answer",
                     f"{settings.get('DOWNLOAD_DELAY')} s at least, and {factor} times as long as "
                     "it took to answer"))  # fmt: skip
        lines.append(("requests at a time", f"{settings.get('LSWC_MAX_PER_DOMAIN') or 'any'}"))
    if rule.delay is not None:
        lines.append(("by instruction it rests", f"{rule.delay:g} s at least"))
    for server, delay in list(heard.delays.items())[:NAMED]:
        lines.append((f"Crawl-delay of {server}", f"{delay:g} s"))
    for server, (times, until) in list(heard.rests.items())[:NAMED]:
        if until > now:
            lines.append((f"{server} rests until", f"{moment(until)} UTC: it was overloaded, "
                         f"{numbered(times, 'time')} in a row"))  # fmt: skip
    lines.append(("pages at most", _bound(rule.max_pages, settings.get("LSWC_MAX_DOMAIN_PAGES"))))
    most = rule.max_bytes or settings.get("LSWC_MAX_DOMAIN_BYTES")
    lines.append(("bytes at most", size(most) if most else "any number"))
    return lines


def _bound(instructed: float | None, setting: float | None) -> str:
    most = instructed or setting
    return f"{most:,.0f}" if most else "any number"
