"""Recovery of a crawl's files before it goes on: nothing that they hold is ever deleted."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lswc.archive import committed_lengths, page_record
from lswc.archive.appended_files import ArchiveError, Aside
from lswc.errors import repair
from lswc.frontier.rules.contract import FrontierError
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lswc.frontier import Frontier

logger = logging.getLogger(__name__)


def refuse_older(crawl: Path, committed: Mapping[str, int]) -> None:
    """Refuse a frontier that is older than the files beside it, and a record that isn't all there.

    ``committed`` are the frontier's lengths of the files. Raises LswcError; nothing has changed.
    """
    beyond = committed_lengths.visits_beyond(crawl, committed)
    if beyond > 1:
        raise FrontierError(
            f"the frontier in {crawl} is older than the record beside it: it lacks {beyond} "
            f"or more visits that the record has. Put the lost frontier.db-wal back, or "
            f"{repair(crawl)} moves these visits aside and fetches them again"
        )
    refuse_lost(crawl, committed)


def refuse_lost(crawl: Path, committed: Mapping[str, int]) -> None:
    """Refuse a record that isn't all there. Raises ArchiveError."""
    if gone := page_record.gone(crawl, committed):
        raise ArchiveError(
            f"{crawl / gone[0]} is gone: put it back, or {repair(crawl)} fetches its pages again"
        )


def settle(crawl: Path, frontier: Frontier) -> dict[str, int]:
    """Make the files of a crawl what the frontier says; return their lengths then.

    What lies beyond the last commit is moved aside. The pages that a file has lost wait again.
    Raises LswcError.
    """
    committed = frontier.lengths()
    aside = Aside(crawl)
    if beyond := committed_lengths.cut(crawl, committed, aside):
        logger.info("%d bytes beyond the last visit were moved to %s", beyond, aside.folder)
    gone = committed_lengths.missing(crawl, committed)
    damage = [
        f"{name} is shorter than it was" for name in committed_lengths.short(crawl, committed)
    ]
    damage += committed_lengths.torn(crawl)
    if damage and gone:
        raise ArchiveError(
            f"{crawl}: {'; '.join(damage)}, and {gone[0]} is gone: put it back, or "
            f"{repair(crawl)} fetches the lost pages again"
        )
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        logger.warning("%s%s: gone; if you didn't move it, see `lswc check %s`",
                       gone[0], more, crawl)  # fmt: skip
    if not damage:
        return committed
    logger.warning("%s: %s", crawl, "; ".join(damage))
    mend(crawl, frontier, aside)
    return frontier.lengths()


def mend(crawl: Path, frontier: Frontier, aside: Aside) -> int:
    """Take out of all files what they don't agree on, and let it wait again; return how many.

    A kill between the steps leaves what the next start mends. Raises LswcError.
    """
    from lswc.archive.check.comparison import disagreeing

    with frontier.reading() as reader:
        urls = disagreeing(crawl, reader.finished(), reader.finished_elsewhere())
    committed_lengths.take_out(crawl, urls, aside)
    reopened = frontier.reopen(urls, committed_lengths.lengths(crawl))
    kept = (
        f"; what the files had of {numbered(len(urls), 'URL')} is in {aside.folder}"
        if aside.is_used
        else ""
    )
    logger.warning("%d finished URLs are fetched again, as a file lost them%s", reopened, kept)
    return reopened
