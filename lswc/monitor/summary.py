"""Summary: what came of a crawl, written to ``summary.json`` when it closes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.monitor.snapshot import Snapshot

SUMMARY = "summary.json"
"""Name of the summary in the crawl folder."""


def summary(snapshot: Snapshot, reason: str) -> dict[str, Any]:
    """Return a crawl that closed for a reason as ``summary.json`` has it, for JSON.

    Resumed runs are included: ``all_runs`` counts them, ``run`` is the latest. ``received`` are
    bytes of bodies as they were sent. ``servers`` (or directories) by status, ``families`` those
    with most unproven sites; ``fetched`` pages and ``pending`` URLs by tier, or by expected
    relevance in a learned order; ``without_page`` the servers that answered and gave none;
    ``forecast`` says what the pending ones should bring.
    ``postponed`` are URLs that couldn't be had and are tried again, by what went wrong last.
    ``by_language`` is left out unless the crawl has several, ``clean text`` unless text counts,
    ``freshness`` unless pages are visited again.
    """
    tallies, outlook, (worker, *_) = snapshot.tallies, snapshot.outlook, snapshot.workers
    languages = to_builtins(snapshot.by_language)
    return {
        "language": snapshot.language,
        "strategy": snapshot.strategy,
        "reason": reason,
        "run": {
            "began": _utc(worker.began),
            "ended": _utc(worker.time),
            "seconds": worker.seconds,
            "pages": worker.pages,
            "received": worker.received,
        },
        "all_runs": {"runs": snapshot.runs, "seconds": snapshot.seconds},
        "pages": snapshot.pages,
        "relevant": snapshot.relevant,
        "guessed": snapshot.guessed,
        "received": snapshot.received,
        "harvest_rate": snapshot.harvest_rate or 0.0,
        "coverage": to_builtins(snapshot.coverage),
        "kinds": tallies.kinds,
        "sources": tallies.sources,
        "languages": tallies.languages,
        "encodings": tallies.encodings,
        "content": tallies.content,
        "servers": snapshot.by_status,
        "families": [family._asdict() for family in snapshot.families or ()],
        "without_page": {
            "servers": snapshot.without_page.servers,
            "reasons": snapshot.without_page.reasons,
            "first": [to_builtins(server) for server in snapshot.without_page.first],
        },
        "links_kept": tallies.links_kept,
        "discarded": tallies.discarded,
        "fetched": tallies.fetched,
        "pending": {group.name: group.pending for group in outlook.groups if group.pending},
        "postponed": tallies.postponed,
        "linked documents": tallies.linked_documents,
        "requisites": tallies.requisites,
        "shells": tallies.shells,
        **({"clean text": tallies.clean_text} if tallies.clean_text else {}),
        "forecast": {
            "pending": outlook.expected,
            "pending_at_least": outlook.at_least,
            "pending_at_most": outlook.at_most,
            "next_downloads": outlook.next_downloads,
            "next_relevant": outlook.next_relevant,
        },
        "finished": tallies.finished,
        **({"freshness": to_builtins(snapshot.freshness)} if snapshot.freshness else {}),
        **({"by_language": languages} if languages else {}),
    }


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def text(snapshot: Snapshot, reason: str) -> str:
    """Return the summary of a crawl that closed, as JSON."""
    return json.dumps(summary(snapshot, reason), ensure_ascii=False, indent=1) + "\n"


def write(folder: Path, snapshot: Snapshot, reason: str) -> None:
    """Write the summary of a crawl that closed into its folder. Raises OSError."""
    (folder / SUMMARY).write_text(text(snapshot, reason), encoding="utf-8")
