"""Summary of a crawl on the terminal: a table, and what to do next."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from rich.filesize import decimal

from lswc.cli.command import program
from lswc.cli.tables import counted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.table import Table

    from lswc.monitor.snapshot import Coverage, OfLanguage, Snapshot


def summary_table(snapshot: Snapshot) -> Table:
    """Return a crawl that closed as a table for the terminal."""
    tallies, outlook, (worker, *_) = snapshot.tallies, snapshot.outlook, snapshot.workers
    result: dict[str, object] = {
        "pages": snapshot.pages,
        "relevant": snapshot.relevant,
        **({"guessed relevant": snapshot.guessed} if snapshot.guessed else {}),
        "harvest rate": f"{snapshot.harvest_rate or 0:.1%}",
        "received": decimal(snapshot.received),
    }
    if snapshot.coverage is not None:
        result["coverage of the known relevant pages"] = _covered(snapshot.coverage)
    if snapshot.pending:
        result["URLs pending"] = snapshot.pending
        result["relevant pages expected among them"] = round(outlook.expected)
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
        "pages fetched": tallies.fetched,
        "URLs pending": {group.name: group.pending for group in outlook.groups if group.pending},
        "URLs postponed": tallies.postponed,
        "requisites of archived pages": tallies.requisites,
        "pages that need their scripts": tallies.shells,
        "URLs finished": tallies.finished,
    }
    return counted(f"{snapshot.language}, {snapshot.strategy}: {snapshot.reason}", groups)


def _of_language(found: OfLanguage) -> dict[str, object]:
    rows: dict[str, object] = {
        "relevant": found.relevant,
        "harvest rate": f"{found.harvest_rate or 0:.1%}",
    }
    return rows | ({"coverage": _covered(found.coverage)} if found.coverage is not None else {})


def _covered(coverage: Coverage) -> str:
    return f"{coverage.share:.1%}, {coverage.collected:,} of {coverage.relevant:,}"


def advice(snapshot: Snapshot, folder: Path) -> str:
    """Return how to go on with a crawl, and what to do with what it collected."""
    lines = []
    if snapshot.pending:
        lines.append(f"{snapshot.pending:,} URLs are pending: the same command goes on with them.")
    if snapshot.pages:
        lines += ["Next:", *(f"  {program()} {command.format(folder)}" for command in _NEXT)]
    return "\n".join(lines)


_NEXT = ("analyze {} --out report", "corpus {}", "frontier {}")
"""Commands that make sense after a crawl."""
