"""Stores that a crawl opens in its folder: frontier, instructions, what it learned."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.crawl.web import seconds_a_day
from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, names_redis, open_frontier
from lswc.frontier.rules.contract import Terms, patience_of
from lswc.frontier.store.report import taught_by
from lswc.strategy import Experience, ExperienceError, Value
from lswc.strategy.prior import Prior

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.workers import Shared
    from lswc.frontier import Frontier
    from lswc.frontier.store.seen_paragraphs import SeenParagraphs

NONE, TABLE = "none", ".toml"
"""LSWC_EXPERIENCE of a crawl that begins with nothing, and how a table of learn-order ends."""


def frontier_of(crawl: Crawl, settings: BaseSettings) -> Frontier:
    """Open a crawl's frontier; the caller closes it. Raises LswcError."""
    terms = Terms(
        haste=crawl.haste,
        patience=patience_of(crawl.politeness.delay),
        caps=crawl.caps,
        experience=_earlier(crawl, settings),
        prior=_prior(crawl),
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


def check_shared(crawl: Crawl, settings: BaseSettings) -> None:
    """See whether the Redis of a crawl that many share is there. Raises ConfigError, AwayError."""
    if names_redis(crawl.store):
        from lswc.crawl import workers

        workers.connect(settings, workers.name_of(crawl, settings)).begun()


def _earlier(crawl: Crawl, settings: BaseSettings) -> Experience | None:
    """Return the experience of the earlier crawl that a new one begins with, if one is named."""
    name = crawl.experience
    if name and name != NONE and not crawl.strategy.learns:
        raise ConfigError(
            f"LSWC_EXPERIENCE: strategy {crawl.strategy.name!r} learns nothing: choose 'adaptive'"
        )
    if not name or name == NONE or name.endswith(TABLE):
        return None
    if names_redis(name):
        from lswc.crawl import workers

        return workers.read_experience(crawl, settings)
    return taught_by(Path(name) / FRONTIER_FILE, crawl.language.tag, crawl.strategy.value)


def _prior(crawl: Crawl) -> Experience | None:
    """Return what a new crawl begins with else; None if that is what lswc comes with."""
    name = crawl.experience
    if name == NONE:
        return Experience()
    if not name.endswith(TABLE):
        return None
    if crawl.strategy.value is not Value.PAGES:
        value = crawl.strategy.value.name.lower()
        raise ConfigError(f"LSWC_EXPERIENCE={name}: it counts pages, and LSWC_VALUE is {value}")
    try:
        return Prior.load(Path(name).read_text("utf-8")).experience
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"LSWC_EXPERIENCE={name}: it can't be read ({error})") from error
    except ExperienceError as error:
        raise ConfigError(f"LSWC_EXPERIENCE={name}: {error}") from error


def seen_paragraphs_of(crawl: Crawl) -> SeenParagraphs | None:
    """Return the paragraphs that the crawl's pages had before; None unless text counts.

    The caller closes them. Raises LswcError.
    """
    if not crawl.reading.clean_text:
        return None
    from lswc.frontier.store.seen_paragraphs import SeenParagraphs

    return SeenParagraphs(crawl.folder)
