"""Stores that a crawl opens in its folder: frontier, instructions, what it learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.crawl.web import seconds_a_day
from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, names_redis, open_frontier
from lswc.frontier.rules.contract import Terms, patience_of
from lswc.frontier.store.report import taught_by

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.workers import Shared
    from lswc.frontier import Frontier
    from lswc.frontier.store.seen_paragraphs import SeenParagraphs
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
    return open_frontier(crawl.store, crawl.folder, crawl.strategy, crawl.identity, terms)


def shared_of(crawl: Crawl, settings: BaseSettings, frontier: Frontier) -> Shared | None:
    """Return what a worker has of a crawl that many share; None of one that is alone.

    Raises LswcError.
    """
    if names_redis(crawl.store):
        from lswc.crawl import workers  # not above: Redis's client is only for crawls with one

        return workers.share(crawl, settings, frontier)
    if frontier.is_shared:
        raise ConfigError(
            f"{crawl.folder} is the folder of a worker that shares its crawl: go on with the same "
            "LSWC_FRONTIER=redis://..."
        )
    return None


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
    path = Path(crawl.experience) / FRONTIER_FILE
    return taught_by(path, crawl.language.tag, crawl.strategy.value)


def seen_paragraphs_of(crawl: Crawl) -> SeenParagraphs | None:
    """Return the paragraphs that the crawl's pages had before; None unless text counts.

    The caller closes them. Raises LswcError.
    """
    if not crawl.reading.clean_text:
        return None
    from lswc.frontier.store.seen_paragraphs import SeenParagraphs

    return SeenParagraphs(crawl.folder)
