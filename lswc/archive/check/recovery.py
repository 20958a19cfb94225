"""Recovery of a crawl's files before it goes on: nothing that they hold is ever deleted."""

from __future__ import annotations

import logging
from itertools import chain
from typing import TYPE_CHECKING

from lswc.archive import committed_lengths, crawl_log, page_record
from lswc.archive.appended_files import ArchiveError, Aside
from lswc.archive.check.fingerprints import Fingerprints
from lswc.frontier.contract import FrontierError
from lswc.frontier.shards import known_by
from lswc.plurals import numbered
from lswc.strategy import LISTING, REQUISITE, SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
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
            f"the frontier in {crawl} is older than the record beside it, which has {beyond} or "
            f"more visits that it doesn't know: put the lost frontier.db-wal back, or "
            f"{repair(crawl)} moves them aside, and fetches them anew"
        )
    refuse_lost(crawl, committed)


def refuse_lost(crawl: Path, committed: Mapping[str, int]) -> None:
    """Refuse a record that isn't all there. Raises ArchiveError."""
    if gone := page_record.gone(crawl, committed):
        raise ArchiveError(
            f"{crawl / gone[0]} is gone: put it back, or {repair(crawl)} fetches its pages anew"
        )


def repair(crawl: Path) -> str:
    """Return the command that repairs a crawl folder."""
    return f"`lswc check {crawl} --repair`"


def settle(crawl: Path, frontier: Frontier) -> dict[str, int]:
    """Make the files of a crawl what the frontier says; return their lengths then.

    What lies beyond the last commit is moved aside. The pages that a file has lost wait again.
    Raises LswcError.
    """
    committed = frontier.lengths()
    aside = Aside(crawl)
    if beyond := set_aside(crawl, frontier, aside):
        logger.info("%d bytes beyond the last visit were moved to %s", beyond, aside.folder)
        committed = frontier.lengths()
    gone = committed_lengths.missing(crawl, committed)
    damage = [
        f"{name} is shorter than it was" for name in committed_lengths.short(crawl, committed)
    ]
    damage += committed_lengths.torn(crawl)
    if damage and gone:
        raise ArchiveError(
            f"{crawl}: {'; '.join(damage)}, and {gone[0]} is gone: put it back, or "
            f"{repair(crawl)} fetches the pages anew that were lost"
        )
    if gone:
        more = f" and {len(gone) - 1} more" if len(gone) > 1 else ""
        logger.warning("%s%s: gone; if you didn't move it, see `lswc check %s`",
                       gone[0], more, crawl)  # fmt: skip
    if not damage:
        return committed
    logger.warning("%s: %s", crawl, "; ".join(damage))
    if taken_out := _taken_out(crawl, frontier):
        frontier.reopen(taken_out, committed, _requisites(taken_out))
    mend(crawl, frontier, aside)
    return frontier.lengths()


def set_aside(crawl: Path, frontier: Frontier, aside: Aside) -> int:
    """Move aside what the files hold beyond the frontier's last commit; return how many bytes.

    A Redis may be older than files that were closed since: then what it doesn't know is taken out.
    Raises LswcError.
    """
    older = frontier.older_lengths()
    committed = frontier.lengths()
    keeps_urls = frontier.finished() is not None
    if older is None and (keeps_urls or not committed_lengths.closed_beyond(crawl, committed)):
        return committed_lengths.cut(crawl, committed, aside)
    before = sum(committed_lengths.lengths(crawl).values())
    out, wait, requisites = _unlike(crawl, frontier, older)
    committed_lengths.take_out(crawl, out, aside)
    after = committed_lengths.lengths(crawl)
    frontier.reopen(wait, after, requisites)
    return before - sum(after.values())


def _unlike(
    crawl: Path, frontier: Frontier, then: Mapping[str, int] | None
) -> tuple[set[str], set[str], set[str]]:
    """Return the URLs to take out, those that wait again, and the requisites of these.

    What the store doesn't know is taken out: it is pending there, or its links are offered again.
    And all that was visited since the files were as long as ``then``, if a part of the store is
    older than the rest: what that part was given of it isn't known. And what was taken out before.
    """
    with (
        Fingerprints(frontier.finished_here()) as own,
        Fingerprints(frontier.visited_again()) as again,
    ):

        def is_known(name: int, visit: int | None) -> bool:
            return name in (again if (visit or 1) > 1 else own)

        def is_known_visit(row: crawl_log.Row) -> bool:
            return is_known(key_of(row), row.visit)

        records = page_record.records(crawl)
        out = {r["url"] for r in records if not is_known(known_by(r["url"]), r.get("visit"))}
        out |= {row.url for row in visits(crawl_log.rows(crawl)) if not is_known_visit(row)}
        since = () if then is None else visits(crawl_log.rows_beyond(crawl, then))
        # A URL may be known as a page only, and be unknown as what another page shows.
        besides = (row for row in visits(crawl_log.rows(crawl)) if row.url in out)
        lost = {row.url: row.kind for row in chain(since, besides) if is_known_visit(row)}
    lost |= _taken_out(crawl, frontier)
    listings = {url for url, kind in lost.items() if kind == crawl_log.LISTING_KIND}
    wait = lost.keys() - listings
    return out | wait, wait, _requisites(lost)


def _requisites(kinds: Mapping[str, str | None]) -> set[str]:
    return {url for url, kind in kinds.items() if kind == crawl_log.REQUISITE_KIND}


def _taken_out(crawl: Path, frontier: Frontier) -> dict[str, str | None]:
    """Return the kinds of the URLs that Redis knows as finished, though they were moved aside.

    By URL. A Redis may be one copy of before, then one of later, or a part of it one of before it
    was told of this. A check tells of listings.
    """
    if not (crawl / "aside").exists():  # all of the log would be read for nothing
        return {}
    with Fingerprints(not_logged(crawl, None, frontier.finished_here())) as keys:
        rows = visits(crawl_log.taken_out(crawl))
        found = {row.url: row.kind for row in rows if key_of(row) in keys}
    kinds = {url: kind for url, kind in found.items() if kind != crawl_log.LISTING_KIND}
    if kinds:
        known = numbered(len(kinds), "URL")
        logger.warning("%s that Redis knows as finished: only aside/ has them, so they wait", known)
    return kinds


def not_logged(
    crawl: Path, committed: Mapping[str, int] | None, finished: Iterable[int]
) -> list[int]:
    """Return the keys of finished URLs whose end isn't in the log, of journals what is committed.

    All of them if ``committed`` is None. Raises LswcError.
    """
    with Fingerprints(map(key_of, visits(crawl_log.rows(crawl, committed)))) as ended:
        return list(dict.fromkeys(key for key in finished if key not in ended))


_CODES = {crawl_log.REQUISITE_KIND: REQUISITE, crawl_log.LISTING_KIND: LISTING}


def visits(rows: Iterable[crawl_log.Row | None]) -> Iterator[crawl_log.Row]:
    """Yield the rows of the ends of visits."""
    for row in rows:
        if row is not None and row.outcome not in (*crawl_log.NO_VISIT, crawl_log.RETRY):
            yield row


def key_of(row: crawl_log.Row) -> int:
    """Return the key by which a frontier knows what was visited."""
    return known_by(row.url, _CODES.get(row.kind or "", SEED))


def mend(crawl: Path, frontier: Frontier, aside: Aside) -> int:
    """Take out of all files what they don't agree on, and let it wait again; return how many.

    A kill between the steps leaves what the next start mends. Raises LswcError.
    """
    from lswc.archive.check.comparison import disagreeing

    finished = frontier.finished()
    urls, requisites = disagreeing(crawl, finished)
    reopened = 0
    if finished is None:  # then only the files know these URLs
        reopened = frontier.reopen(urls, frontier.lengths(), requisites)
    committed_lengths.take_out(crawl, urls, aside)
    reopened += frontier.reopen(
        urls if finished is not None else (), committed_lengths.lengths(crawl)
    )
    kept = (
        f"; what the files had of {numbered(len(urls), 'URL')} is in {aside.folder}"
        if aside.is_used
        else ""
    )
    logger.warning("%d finished URLs are fetched anew, as a file had lost them%s", reopened, kept)
    return reopened
