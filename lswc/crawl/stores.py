"""Stores that a crawl opens: frontier, instructions, the guest's; in its folder or in Redis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.crawl.web import seconds_a_day
from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, names_redis, open_frontier, sqlite_report
from lswc.frontier.contract import Terms, patience_of
from lswc.frontier.experience import taught_by
from lswc.guest.control import InFolder
from lswc.guest.guest import Stores
from lswc.guest.learned import FILE as LEARNED_FILE
from lswc.guest.learned import Learned
from lswc.guest.rests import FILE as BACKOFF_FILE
from lswc.guest.rests import Backoff
from lswc.guest.slots import OwnSlots

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.frontier import Frontier
    from lswc.frontier.seen_paragraphs import SeenParagraphs
    from lswc.guest.control.store import Instructions
    from lswc.guest.control_in_effect import ControlInEffect
    from lswc.strategy import Experience


def frontier_of(crawl: Crawl, settings: BaseSettings) -> Frontier:
    """Open a crawl's frontier; the caller closes it. Raises LswcError."""
    terms = Terms(
        haste=crawl.haste,
        patience=patience_of(crawl.politeness.delay),
        caps=crawl.caps,
        experience=_experience(crawl, settings),
        unproven_share=crawl.unproven_share,
        revisit=crawl.revisit,
        least_worth=crawl.stop_harvest,
        day=seconds_a_day(crawl.web),
    )
    if names_redis(crawl.store):
        from lswc.crawl import workers  # not above: Redis's client is only for crawls with one

        return workers.join(crawl, settings, terms)
    return open_frontier(crawl.store, crawl.folder, crawl.strategy, crawl.identity, terms)


def _experience(crawl: Crawl, settings: BaseSettings) -> Experience | None:
    if not crawl.experience:
        return None
    if not crawl.strategy.learns:
        raise ConfigError(
            f"LSWC_EXPERIENCE: strategy {crawl.strategy.name!r} learns nothing: choose 'adaptive'"
        )
    if names_redis(crawl.experience):
        from lswc.crawl import workers

        return workers.read_experience(crawl, settings)
    folder = Path(crawl.experience)
    opened = sqlite_report.opened(folder / FRONTIER_FILE)
    return taught_by(folder, opened, crawl.language.tag, crawl.strategy.value)


def control_of(crawl: Crawl, frontier: Frontier) -> Instructions:
    """Return what people say to a crawl: in its folder, or to all workers together."""
    if names_redis(crawl.store):
        from lswc.crawl import workers

        return workers.control(frontier)
    return InFolder(crawl.folder)


def seen_paragraphs_of(crawl: Crawl, frontier: Frontier) -> SeenParagraphs | None:
    """Return the paragraphs that the crawl's pages had before; None unless text counts.

    The caller closes them. Raises LswcError.
    """
    if not crawl.reading.clean_text:
        return None
    if names_redis(crawl.store):
        from lswc.crawl import workers

        return workers.seen_paragraphs(frontier)
    from lswc.frontier.seen_paragraphs import InFile

    return InFile(crawl.folder)


def learned_of(crawl: Crawl, frontier: Frontier) -> Learned:
    """Return what the crawl learned of servers so far; the caller closes it. Raises LswcError."""
    if names_redis(crawl.store):
        from lswc.crawl import workers

        return workers.learned(frontier)
    return Learned(crawl.folder / LEARNED_FILE)


def seen_of(crawl: Crawl, learned: Learned) -> Learned:
    """Return where a worker keeps what it saw, and is too little to be learned: in its folder.

    The caller closes it if it isn't ``learned``. Raises LswcError.
    """
    if names_redis(crawl.store):
        return Learned(crawl.folder / LEARNED_FILE)
    return learned


def guest_stores(crawl: Crawl, frontier: Frontier, control: ControlInEffect) -> Stores:
    """Return what the guest keeps: in the crawl's folder, or shared by all workers.

    Raises LswcError.
    """
    if names_redis(crawl.store):
        from lswc.crawl import workers

        return workers.guest_stores(crawl, frontier, control)
    backoff = Backoff(crawl.folder / BACKOFF_FILE, crawl.politeness.backoff)
    return Stores(crawl.folder, frontier, OwnSlots(), control, backoff)
