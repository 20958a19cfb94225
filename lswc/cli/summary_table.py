"""Summary of a crawl on the terminal: what it brought, what is left, and what to do next."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice
from math import ceil, floor
from shlex import quote
from typing import TYPE_CHECKING

from rich.filesize import decimal

from lswc.cli.command import program
from lswc.cli.tables import counted, lines_table
from lswc.crawl.ends import REASON as LITTLE_LEFT
from lswc.extras import GROUPS, how_to_install, is_installed
from lswc.outcomes import Outcome
from lswc.plurals import numbered
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.table import Table

    from lswc.guest.pageless import Server, Without
    from lswc.monitor.snapshot import Coverage, OfLanguage, Snapshot


LARGE_FAMILY_SITES = 1000
"""Unproven sites of a family that is named."""

SERVERS_NAMED = 3
"""Servers without a page that are named."""

NAMES_IN_A_LINE = 5
"""Names in a line of the summary."""


def summary_table(snapshot: Snapshot) -> Table:
    """Return a crawl that closed in as few lines as a terminal shows: the result, and what is left.

    ``details_table`` has the rest.
    """
    tallies, (worker, *_) = snapshot.tallies, snapshot.workers
    found = f"{snapshot.relevant:,}, a harvest rate of {snapshot.harvest_rate or 0:.1%}"
    lines = {
        "pages": f"{snapshot.pages:,}, {decimal(snapshot.received)} received",
        "relevant": found + (f"; {snapshot.guessed:,} more guessed" if snapshot.guessed else ""),
        "clean text": _letters(tallies.clean_text),
        "coverage": _covered(snapshot.coverage) if snapshot.coverage else "",
        **{f"  {tag}": _line_of(found) for tag, found in snapshot.by_language.items()},
        "this run": _ran(worker.pages, worker.seconds),
        "all runs": (
            f"{_ran(snapshot.pages, snapshot.seconds)}, in {snapshot.runs} runs"
            if snapshot.runs > 1
            else ""
        ),
        "languages": _listed(tallies.languages),
        "failed": _listed(tallies.errors),
        "left out": _listed(tallies.left_out),
        "no page from": _without_page(snapshot.without_page),
        "pending": _ahead(snapshot),
        "families": _families(snapshot),
    }
    return lines_table(_title(snapshot), {name: line for name, line in lines.items() if line})


def _letters(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    new, seen = counts.get("new letters", 0), counts.get("letters seen before", 0)
    return f"{new:,} new letters; {seen:,} in paragraphs of earlier pages"


def _ran(pages: int, seconds: float) -> str:
    speed = f"{pages / seconds:.1f} a second" if seconds else "at once"
    return f"{numbered(pages, 'page')} in {timedelta(seconds=round(seconds))}, {speed}"


def _title(snapshot: Snapshot) -> str:
    return f"{snapshot.language}, {snapshot.strategy}: {snapshot.reason}"


def _listed(counts: Mapping[str, int]) -> str:
    names = [f"{name} {count:,}" for name, count in islice(counts.items(), NAMES_IN_A_LINE)]
    more = [f"{len(counts) - NAMES_IN_A_LINE} more kinds"] if len(counts) > NAMES_IN_A_LINE else []
    return ", ".join(names + more)


def _line_of(found: OfLanguage) -> str:
    known = f"; coverage {_covered(found.coverage)}" if found.coverage is not None else ""
    return f"{found.relevant:,} relevant, {found.harvest_rate or 0:.1%} of the pages{known}"


def _ahead(snapshot: Snapshot) -> str:
    """Say what is pending, and what is known of it: an estimate, which leaves out what it hides."""
    if not snapshot.pending:
        return "no URL"
    urls = numbered(snapshot.pending, "URL")
    return f"{urls}, {snapshot.outlook.in_words}; what lies behind is unknown"


def _without_page(without: Without) -> str:
    """Say which servers answered and gave no page, and why: the most promising first."""
    if not without.servers:
        return ""
    names = ", ".join(f"{one.name} ({_commonest(one)})" for one in without.first[:SERVERS_NAMED])
    more = f"; {_listed(without.reasons)}" if without.servers > SERVERS_NAMED else ""
    return f"{numbered(without.servers, 'server')} that answered: {names}{more}"


def _commonest(server: Server) -> str:
    return max(server.reasons, key=server.reasons.__getitem__)


def _families(snapshot: Snapshot) -> str:
    """Say which sites introduced many that nobody else links to: a farm is among them, if any."""
    large = [one for one in snapshot.families or () if one.sites >= LARGE_FAMILY_SITES]
    return ", ".join(f"{one.name} {one.sites:,} sites" for one in large[:NAMES_IN_A_LINE])


def details_table(snapshot: Snapshot) -> Table:
    """Return all that is counted of a crawl that closed."""
    tallies, outlook, (worker, *_) = snapshot.tallies, snapshot.outlook, snapshot.workers
    result: dict[str, object] = {
        "pages": snapshot.pages,
        "relevant": snapshot.relevant,
        **({"guessed relevant": snapshot.guessed} if snapshot.guessed else {}),
        "harvest rate": f"{snapshot.harvest_rate or 0:.1%}",
        "received": decimal(snapshot.received),
    }
    if snapshot.coverage is not None:
        result["coverage"] = _covered(snapshot.coverage)
    if snapshot.pending:
        result["URLs pending"] = snapshot.pending
        result["relevant, estimated"] = f"{floor(outlook.at_least):,} to {ceil(outlook.at_most):,}"
    groups: dict[str, Mapping[str, object]] = {
        "result": result,
        **{tag: _of_language(found) for tag, found in snapshot.by_language.items()},
        "this run": {
            "pages": worker.pages,
            "time": str(timedelta(seconds=round(worker.seconds))),
            "pages per second": worker.mean_pages_per_second,
            "received": decimal(worker.received),
        },
        "languages": tallies.languages,
        "kinds of pages": tallies.kinds,
        "relevant pages, found by": tallies.sources,
        "remarkable pages": tallies.content,
        "servers": snapshot.by_status or {},
        "links kept": tallies.links_kept,
        "discarded": tallies.discarded,
        "servers that answered without a page": snapshot.without_page.reasons,
        "pages fetched": tallies.fetched,
        "URLs pending": {group.name: group.pending for group in outlook.groups if group.pending},
        "URLs postponed": tallies.postponed,
        "documents in no known language": tallies.linked_documents,
        "requisites of archived pages": tallies.requisites,
        "pages that need their scripts": tallies.shells,
        "URLs finished": tallies.finished,
    }
    return counted(_title(snapshot), groups)


def _of_language(found: OfLanguage) -> dict[str, object]:
    rows: dict[str, object] = {
        "relevant": found.relevant,
        "harvest rate": f"{found.harvest_rate or 0:.1%}",
    }
    return rows | ({"coverage": _covered(found.coverage)} if found.coverage is not None else {})


def _covered(coverage: Coverage) -> str:
    known = f"{numbered(coverage.relevant, 'relevant page')} known"
    return f"{coverage.share:.1%}, {coverage.collected:,} of {known}"


def advice(snapshot: Snapshot, folder: Path) -> str:
    """Return how to go on with a crawl, and what to do with what it collected."""
    lines = []
    if snapshot.pending:
        more = _TO_THE_END if snapshot.reason == LITTLE_LEFT else ""
        are = "is" if snapshot.pending == 1 else "are"
        urls = numbered(snapshot.pending, "URL")
        lines.append(f"{urls} {are} pending: the same command{more} goes on.")
    lines += _unshown(snapshot)
    if snapshot.pages:
        lines += [
            "Next:",
            *(_next(group, line.format(quote(str(folder)))) for group, line in _NEXT),
        ]
    return "\n".join(lines)


def _unshown(snapshot: Snapshot) -> list[str]:
    """Say which pages need a browser, and what to set."""
    finished, lines = snapshot.tallies.finished, []
    for outcome, setting in _SHOW.items():
        if number := finished.get(outcome):
            hosts = [one.name for one in snapshot.without_page.first if outcome in one.reasons]
            named = f" ({readable(', '.join(hosts[:NAMES_IN_A_LINE]))})" if hosts else ""
            need = "needs its scripts" if number == 1 else "need their scripts"
            pages = f"{numbered(number, 'page')}{named} {need} and wasn't shown"
            pages = pages if number == 1 else pages.replace("wasn't", "weren't")
            lines.append(f"{pages}: the same command with -s {setting}.")
    return lines


_SHOW = {
    Outcome.NOT_RENDERED: "LSWC_BROWSER=auto shows them (docs/browser.md)",
    Outcome.RENDERED_ENOUGH: "LSWC_BROWSER_SHARE=1 and a larger LSWC_BROWSER_TRIES shows more",
}

_TO_THE_END = " with -s LSWC_STOP_HARVEST=0"

_NEXT = (("lab", "analyze {} --out report"), ("corpus", "corpus {}"), ("", "frontier {}"))
"""Commands that make sense after a crawl, each with the group of lswc.extras that it needs."""


def _next(group: str, command: str) -> str:
    """Return the line of a command, with what is to be installed before it, if anything is."""
    line = f"  {program()} {command}"
    if all(map(is_installed, GROUPS.get(group, ()))):
        return line
    return f"{line}    (after {how_to_install(group)})"
