"""Invariants of a crawl's folder: what README promises of it, whatever happened to the crawl."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from lswc.archive import page_record
from lswc.archive.check.agreement import check
from lswc.archive.crawl_log import journals
from lswc.corpus import writing
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.store import report as sqlite_report
from lswc.outcomes import LIFTED, OF_QUOTA, OF_REQUISITE, RECORDED, Outcome
from tests.seams.web import FORBIDDEN, PAGES_OF, Web, links, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NEVER = (
    Outcome.SPIDER_ERROR, Outcome.NO_RECORD, Outcome.ITEM_DROPPED, Outcome.IGNORED, Outcome.LOST,
    Outcome.FAILED, Outcome.STATUS_INVALID, Outcome.INVALID_URL,
)  # fmt: skip
"""Outcomes that only a fault of the crawl's own can bring here."""

UNNAMED = (
    Outcome.TOO_MANY_LINKS, Outcome.SERVER_QUEUE_FULL, Outcome.SITE_QUEUE_FULL,
    Outcome.SERVER_BECAME_IRRELEVANT,
)  # fmt: skip
"""Reasons of what is discarded without a line for each link."""

_ON_ITS_WAY = 0.5
"""Seconds in which a request may arrive that was allowed before."""

_KEYS: dict[str, tuple[str, ...]] = {
    Outcome.BLOCKED: ("block",),
    Outcome.PAUSED: ("pause",),
    Outcome.NOT_TOLERATED: ("tolerate",),
    Outcome.DEPTH: ("max_depth",),
    **dict.fromkeys(OF_QUOTA, ("max_pages", "max_bytes")),
    Outcome.PORT: (),
    Outcome.DOMAIN_NOT_ALLOWED: (),
}
_OF_HOST: dict[str, set[str]] = {
    Outcome.NAME_NOT_RESOLVED: {"none"},
    Outcome.NAME_LOOKUP_FAILED: {"unanswered"},
    Outcome.CONNECTION_REFUSED: {"refuses"},
    Outcome.TIMEOUT: {"silent", "unanswered"},
    Outcome.ROBOTS: {"robots nothing", "robots redirect"},
    Outcome.ROBOTS_UNAVAILABLE: {"robots 500", "robots cut", "robots hang", "robots redirect"},
}


@dataclass
class Met:
    """What a crawl met that may end URLs otherwise.

    ``said`` are the keys of instructions that were ever given, ``unread`` outcomes of pages whose
    readers failed; ``poison`` are pages that end each process that reads them.
    """

    said: set[str] = field(default_factory=set)
    unread: set[str] = field(default_factory=set)
    poison: set[int] = field(default_factory=set)


def check_left(folder: Path, web: Web, met: Met) -> None:
    """Check a folder that no process has open."""
    report = check(folder)
    assert report.agrees, report
    with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
        finished = dict(reader.finished())
        tallies = reader.tallies()
    _check_records(folder, finished)
    _check_log(folder, web, finished, tallies)
    for address, outcome in finished.items():
        assert outcome.removeprefix(OF_REQUISITE) not in NEVER, (address, outcome)
        assert _is_due(address, outcome, web, met), (
            address, outcome, web.answered[_plain(address)], dict(web.met),
        )  # fmt: skip


def _plain(address: str) -> str:
    return address.replace("https://", "http://")


def _is_due(address: str, outcome: str, web: Web, met: Met) -> bool:
    """Tell whether a URL may have ended so, by what was answered and said."""
    if outcome.startswith(OF_REQUISITE) or address.endswith(".xml"):
        return True
    number = number_of(_plain(address))
    assert number is not None, address
    if outcome in LIFTED or outcome in OF_QUOTA:
        return bool(met.said & set(_KEYS[Outcome(outcome)]))
    if outcome in (Outcome.READER_DIED, Outcome.READING_TOO_LONG) and outcome not in met.unread:
        return False
    if outcome in RECORDED and number in met.poison:
        return False
    here = web.met[address.split("/")[2]]
    if here & _OF_HOST.get(outcome, set()):
        return True
    if outcome == Outcome.ROBOTS and "robots some" in here:
        return f"/{number}".startswith(FORBIDDEN)
    return any(web.answered[_plain(address)][kind] for kind in PAGES_OF.get(outcome, ()))


def check_heard(folder: Path, web: Web, heard: Mapping[tuple[str, str], float]) -> None:
    """Nothing is asked for against instructions, by place and key, since they were heard.

    Those to a place that it isn't asked, or no deeper than one link from the seeds.
    """
    depths = {record["url"]: record["depth"] for record in page_record.records(folder)}
    for (place, key), since in heard.items():
        for time, address in web.asked:
            if time > since + _ON_ITS_WAY and address.split("/")[2] == place:
                may_be = key == "max_depth" and depths.get(address, 0) <= 1
                assert may_be, (time, address, place, key, since)


def _check_records(folder: Path, finished: Mapping[str, str]) -> None:
    visits: defaultdict[str, list[int]] = defaultdict(list)
    for record in page_record.records(folder):
        visits[record["url"]].append(record["visit"])
    kept = {address for address, outcome in finished.items() if outcome in RECORDED}
    beyond = [address for address in visits if address not in kept]
    assert len(beyond) <= 1, beyond  # what was written when it was killed
    for address in kept:
        made = visits[address]
        assert made == list(range(1, len(made) + 1)), (address, made)
        assert made, address


def logged(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of the crawl log that say of a visit's end what it led to."""
    rows: list[dict[str, Any]] = []
    for table in sorted((folder / "log").glob("links-*.parquet")):
        led: dict[str, dict[str, Any]] = {}
        for link in pq.read_table(table).to_pylist():
            row = led.setdefault(
                link["source"], {"url": link["source"], "targets": [], "dropped": []}
            )
            row["targets"].append(link["target"])
            row["dropped"].append(link["dropped"])
        rows += led.values()
    for journal in journals(folder / "log"):
        for line in journal.read_bytes().splitlines():
            row = json.loads(line) if line.endswith(b"}") else {}
            if row.get("targets"):
                rows.append(row)
    return rows


def _check_log(
    folder: Path, web: Web, finished: Mapping[str, str], tallies: Mapping[str, Mapping[str, int]]
) -> None:
    """Each link is known, or was discarded with a reason that is counted."""
    committed = sqlite_report.lengths(folder / FRONTIER_FILE)
    assert committed is not None
    discarded: Counter[str] = Counter()
    known: dict[str, set[str]] = defaultdict(set)
    with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
        for row in logged(folder):
            if finished.get(row["url"]) not in (*RECORDED, Outcome.REDIRECT):
                continue  # it wasn't committed
            for target, reason in zip(row["targets"], row["dropped"], strict=True):
                known[row["url"]].add(target)
                if reason is not None:
                    discarded[reason] += 1
                elif reader.find(target) is None:
                    discarded[Outcome.SERVER_BECAME_IRRELEVANT] += 1
    counted = tallies.get("discarded", {})
    for reason in {*discarded, *counted} - set(UNNAMED):
        assert discarded[reason] == counted.get(reason, 0), (reason, discarded, counted)
    gone = sum(counted.get(reason, 0) for reason in UNNAMED)
    assert discarded[Outcome.SERVER_BECAME_IRRELEVANT] <= gone, (discarded, counted)
    for address, outcome in finished.items():
        whole = not web.answered[address]["cut"] and not web.answered[address]["nofollow"]
        if outcome == Outcome.HTML and whole:
            number = number_of(address)
            assert number is not None
            named = {link for link in links(number, web.pages) if link.startswith("http")}
            lost = named - known[address] - {address}
            assert not lost, (address, lost)


def check_corpus(folder: Path) -> None:
    """Each page that is kept has a row in the corpus, or a reason why not."""
    kept = [r for r in page_record.records(folder) if r["relevant"] or r["guessed"]]
    if not kept:
        return
    written = writing.write([folder], folder / "corpus").total
    assert written.unreadable == 0
    assert written.read == len(kept) == written.rows + written.left_out.total()
