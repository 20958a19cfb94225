"""One crawl of all that a hostile web can do, in a process of its own, and what it shows."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from contextlib import closing
from itertools import chain
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.parquet as pq

from lswc.frontier.store import report as sqlite_report
from lswc.language.base_url import Base
from tests.hostile import cases
from tests.hostile.server import PORT, serve
from tests.scenarios.site import ROOT, SCRAPY, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

IN_FLIGHT = 64
"""Pages that are on their way when a limit is reached still come: CONCURRENT_REQUESTS of them, and
as many that wait to be read, on a busy machine."""

MEMORY = 500_000_000
"""Bytes that a crawl of the hostile web may take at most: 160 MB before the first page, and what
the transfers in flight hold; 230 to 290 MB were seen, also on a busy machine."""

TRAPS = {
    "farm.co.th": ("near-duplicates on site", 4 * cases.DUPLICATES + IN_FLIGHT),
    "calendar.example": ("near-duplicates in directory", 4 * cases.DUPLICATES),
    "soft-404.example": ("near-duplicates in directory", 2 * cases.DUPLICATES),
    "sessions.example": ("", 1),
    "deeper.example": ("repeated path segment", 4),
    "mirror-1.example": ("twin", cases.DUPLICATES + 1),
    "links-most.example": ("near-duplicates in directory", cases.DUPLICATES + 2),
}
"""Traps, what ends them, and the most pages that are recorded of each."""

SETTINGS = {
    "LSWC_PROFILE": "bfs",
    "LSWC_TRY_AGAIN": "",
    "LSWC_CONTACT": "crawl@library.example",
    "LSWC_ARCHIVE": "all",
    "LSWC_MAX_DUPLICATES": cases.DUPLICATES,
    "LSWC_MAX_PER_ADDRESS": 0,  # all names lead to this machine
    "LSWC_MAX_PER_DOMAIN": 0,
    "LSWC_MAX_CRAWL_DELAY": cases.CRAWL_DELAY,
    "LSWC_ROBOTS_META": "nofollow,noindex,noarchive",
    "TWISTED_DNS_RESOLVER": "tests.hostile.server.HostileResolver",
    "URLLENGTH_LIMIT": cases.URL_LENGTH,
    "DOWNLOAD_MAXSIZE": cases.MAXSIZE,
    "LSWC_MAX_DOCUMENT": cases.MAX_DOCUMENT,
    "DOWNLOAD_TIMEOUT": 20,  # time enough for good pages on a busy machine
    "DOWNLOAD_DELAY": 0,
    "REDIRECT_MAX_TIMES": cases.REDIRECTS,
}


class Ended(NamedTuple):
    """What is left of the crawl.

    ``outcomes`` by URL; ``links`` that were discarded, by page and target, and why; ``tallies`` by
    kind and name; URLs ``recorded``; peak ``memory`` in bytes; ``seconds``; ``log``.
    """

    outcomes: dict[str, str]
    links: dict[tuple[str, str], str]
    tallies: dict[tuple[str, str], int]
    recorded: set[str]
    memory: int
    seconds: float
    log: str


class Check(NamedTuple):
    """A case: its kind, its name, what is expected of it, what was seen, whether that holds."""

    kind: str
    case: str
    expected: str
    seen: str
    holds: bool


def crawl(folder: Path) -> Ended:
    """Crawl the hostile web to its end."""
    seeds = folder / "seeds.txt"
    seeds.write_text("http://hub.example/")
    settings = {"LSWC_CRAWL": folder / "crawl", **SETTINGS}
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    start = monotonic()
    with (folder / "log").open("w+") as log, serve() as port:
        process = subprocess.Popen(
            [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", f"seeds={seeds}", *given],
            cwd=ROOT,
            env={**environment(), PORT: str(port)},
            stdout=subprocess.DEVNULL,
            stderr=log,
        )
        memory = 0
        while process.poll() is None:
            memory = max(memory, _peak(process.pid))
            sleep(0.1)
        seconds = monotonic() - start
        log.seek(0)
        text = log.read()
    assert process.returncode == 0, text
    return _read(folder / "crawl", memory, seconds, text)


def _peak(pid: int) -> int:
    """Return the largest resident memory of a process so far, in bytes; 0 if it has ended.

    Its resource usage has that of the process that started it, too.
    """
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def _read(folder: Path, memory: int, seconds: float, log: str) -> Ended:
    with closing(sqlite3.connect(folder / "frontier.db")) as db:
        outcomes = dict(
            db.execute("SELECT url, outcome FROM url ORDER BY outcome = 'listing' DESC")
        )
    with sqlite_report.opened(folder / "frontier.db") as reader:
        counted = reader.tallies()
    tallies = {(kind, name): n for kind, names in counted.items() for name, n in names.items()}
    links: dict[tuple[str, str], str] = {}
    for path in (folder / "log").glob("links-*.parquet"):
        rows = pq.read_table(path, columns=["source", "target", "dropped"]).to_pylist()
        links |= {(row["source"], row["target"]): row["dropped"] for row in rows if row["dropped"]}
    lines = (folder / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    recorded = {json.loads(line)["url"] for line in lines}
    return Ended(outcomes, links, tallies, recorded, memory, seconds, log)


def checks(ended: Ended) -> Iterator[Check]:
    """Yield every case with what was seen of it."""
    return chain(_links(ended), _requests(ended), _counts(ended), _traps(ended), _whole(ended))


def _equal(kind: str, case: str, expected: str, seen: str | None) -> Check:
    return Check(kind, case, expected, seen or "nothing", expected == seen)


def _links(ended: Ended) -> Iterator[Check]:
    hub = "http://hub.example/"
    for link, reason in cases.DISCARDED.items():
        logged = Base(hub).join(link)[: cases.URL_LENGTH]
        seen = ended.links.get((hub, logged))
        kind = "addresses" if "address" in reason else "links"
        yield _equal(kind, cases.NAMES.get(link, link), reason, seen)
    page = "http://nofollow.example/"
    yield _equal(
        "links", "of a nofollow page", "nofollow", ended.links.get((page, page + "secret"))
    )
    for link in cases.BELOW:
        yield _equal("links", cases.NAMES.get(link, link), "html", ended.outcomes.get(link))


def _requests(ended: Ended) -> Iterator[Check]:
    for kind, places in cases.FETCHED.items():
        for place, outcome in places.items():
            yield _equal(kind, place, outcome, ended.outcomes.get(f"http://{place}"))
    for place, outcome in cases.HTTPS.items():
        yield _equal("servers", f"https://{place}", outcome, ended.outcomes.get(f"https://{place}"))


def _counts(ended: Ended) -> Iterator[Check]:
    for kind, name, expected in (
        ("discarded", "too many links", sum(cases.UNREAD.values())),
        ("content", "page cut", len(cases.CUT)),
    ):
        yield _equal("counted", name, str(expected), str(ended.tallies.get((kind, name))))


def _traps(ended: Ended) -> Iterator[Check]:
    for host, (end, most) in TRAPS.items():
        pages = len([url for url in ended.recorded if f"{host}/" in url])
        ends = {reason for url, reason in ended.outcomes.items() if f"{host}/" in url}
        ends |= {reason for (_, url), reason in ended.links.items() if f"{host}/" in url}
        expected = f"at most {most} pages" + (f", then {end}" if end else "")
        seen = str(pages) if not end or end in ends else f"{pages}, without {end}"
        yield Check("traps", host, expected, seen, 1 <= pages <= most and seen == str(pages))


def _whole(ended: Ended) -> Iterator[Check]:
    good = cases.good()
    kept = len(good & ended.recorded)
    yield _equal("crawl", "good pages in between", f"{len(good)} pages", f"{kept} pages")
    discarded = [url for url in ended.outcomes if "secret" in url or url in cases.DISCARDED]
    open_ends = [url for url, end in ended.outcomes.items() if end in (None, "lost")]
    errors = [word for word in ("Traceback", "Deprecat", " ERROR: ") if word in ended.log]
    for case, found in (
        ("discarded links fetched", discarded),
        ("URLs left over", open_ends),
        ("errors in the log", errors),
    ):
        yield _equal("crawl", case, "none", " ".join(found) or "none")
    limit, peak = f"under {MEMORY // 10**6} MB", f"{ended.memory // 10**6} MB"
    yield Check("crawl", "peak memory", limit, peak, ended.memory < MEMORY)
