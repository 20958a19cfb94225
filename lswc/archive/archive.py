"""Archive of a crawl: all that it writes for a URL, in the order that makes it safe."""

from __future__ import annotations

import codecs
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lswc.archive import page_record
from lswc.archive.appended_files import OpenFiles, json_line
from lswc.archive.crawl_log import LISTING_KIND, RENDERING, REQUISITE_KIND, RETRY, STEP, Log
from lswc.archive.page_index import WAITING, Collected
from lswc.archive.page_record import Parts
from lswc.archive.run_settings import keep, published
from lswc.archive.warc_writer import WarcWriter
from lswc.frontier.rules.visit import STOPPED, Attempt
from lswc.outcomes import OF_READERS, Outcome
from lswc.strategy import PageLanguage, distance_of, source_of
from lswc.urls import fingerprint, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from lswc.archive.page_index import PageIndex
    from lswc.frontier.rules.visit import Record, Visit

HELD = 16_000_000
"""Bytes of robots.txt and its like, headers included, kept until a page of theirs is archived."""


@dataclass(frozen=True, kw_only=True)
class FileSizes:
    """Bytes at which a ``warc`` file is closed, and a ``part`` of the record; none at 0."""

    warc: float
    part: float


@dataclass
class _Latest:
    """What the latest ``store`` took: rules that had to be logged, and were written; its index.

    ``lengths`` are those of the files since, ``page`` is what the page index gets.
    """

    to_log: list[tuple[Attempt, str]] = field(default_factory=list)
    rules: list[Attempt] = field(default_factory=list)
    lines: bytes = b""
    page: Collected | None = None
    lengths: Mapping[str, int] = field(default_factory=dict)


class Archive:
    """Record, WARC, index and log of a crawl: one call a visit, before the frontier commits it.

    ``archived`` says what goes into WARC files: "relevant", "all" or "none"; their names begin with
    ``prefix``. ``description`` is what the crawl is run with.
    ``committed`` has the lengths of the files at the frontier's last commit, by their paths
    in the crawl folder; nothing may lie beyond. ``indexed`` is given the lines of the index of what
    was stored, once it is committed. So is ``page_index`` the page. Raises LswcError.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        archived: str,
        sizes: FileSizes,
        description: Mapping[str, object],
        committed: Mapping[str, int],
    ) -> None:
        self._folder, self._prefix, self._archived, self._sizes = folder, prefix, archived, sizes
        self.indexed: Callable[[bytes], None] | None = None
        self.page_index: PageIndex | None = None
        self._rules: OrderedDict[str, list[Attempt]] = OrderedDict()
        self._held = 0
        self._rules_to_log: list[tuple[Attempt, str]] = []
        self._latest = _Latest()
        keep(folder, description)
        self._published = published(description)
        self._open(committed)

    def _open(self, committed: Mapping[str, int]) -> None:
        self._files = files = OpenFiles(self._folder)
        self._pages = Parts(files, self._sizes.part, committed)
        self._warc = WarcWriter(files, self._prefix, self._published, self._sizes.warc, committed)
        self._log = Log(files, committed)
        # A kill may have kept the frontier from hearing of the latest.
        self._parts = page_record.lengths(self._folder)

    def add(self, attempt: Attempt, name: str) -> None:
        """Take an attempt to get a server's rules: of a file of this name, such as robots.txt.

        That there is no robots.txt says that all is allowed; that there is no other says nothing.
        """
        self._rules_to_log.append((attempt, name))
        if attempt.exchange is None or (attempt.status >= 300 and name != "robots.txt"):
            return
        self._hold(attempt)
        while self._held > HELD:
            self._release(next(iter(self._rules)))

    def _hold(self, attempt: Attempt) -> None:
        self._rules.setdefault(_server(attempt.url), []).append(attempt)
        self._held += attempt.exchange.weight if attempt.exchange is not None else 0

    def forget(self, is_left: Callable[[str], bool]) -> None:
        """Leave out what was added of servers, whose URL ``is_left`` is asked."""
        for server in [name for name in self._rules if is_left(f"http://{name}/")]:
            self._release(server)

    def store(self, visit: Visit) -> dict[str, int]:
        """Write what is kept of a visit that ended; return the lengths of files by their paths.

        Those of files that were closed are left out, if they were told of while they were open.

        Raises LswcError; what was written of the visit is cut when the crawl is resumed.
        """
        self.confirm()
        self._files.mark()
        self._latest = latest = _Latest(self._rules_to_log)
        self._rules_to_log = []
        if visit.record is not None:
            self._pages.growing.append(json_line(visit.record))
        keeps, place = self._keeps(visit), _place(visit)
        if visit.record is not None and self.page_index is not None:
            latest.page = self._collected(visit, visit.record, keeps)
        if keeps:
            about: list[Mapping[str, object]] = [{}] * len(visit.attempts)
            about[-1:] = [_about(visit, place)] if visit.attempts else []
            latest.rules = self._released(visit.lease.server)
            own = zip(visit.attempts, about, strict=True)
            besides = [*latest.rules, *visit.fetched]
            latest.lines = self._warc.write([*((attempt, {}) for attempt in besides), *own])
        self._log.write(list(self._rows(visit, {"url": visit.url, **place}, keeps)))
        latest.lengths = self._files.lengths()
        return {**self._parts, **latest.lengths}

    def confirm(self) -> None:
        """Take notice that the latest ``store`` won't be withdrawn."""
        if self.indexed is not None and self._latest.lines:
            self.indexed(self._latest.lines)
        self._latest.lines = b""
        index, page = self.page_index, self._latest.page
        if index is None or page is None:
            return
        if len(index.waiting) < WAITING:
            index.waiting.append(page)
        else:
            index.left_out += 1
        self._latest.page = None

    def _collected(self, visit: Visit, record: Record, keeps: bool) -> Collected:
        last = visit.attempts[-1] if visit.attempts else None
        is_archived = keeps and last is not None and last.exchange is not None
        until = self._pages.length_closed + self._pages.growing.end
        return Collected(record, visit.text, last.size if last else None, is_archived, until)

    def sync(self) -> None:
        """Return once all that was stored would outlast a power cut. Raises LswcError."""
        self._files.sync()

    def rotate(self) -> None:
        """Close a long record, and begin another: now, because all of it is committed and durable.

        Raises LswcError.
        """
        self._parts |= self._pages.turn()
        self._pages.pack()

    def check(self) -> None:
        """Raise StorageError if a file was removed while the crawl writes it."""
        self._files.check()

    def withdraw(self) -> None:
        """Take back what the latest ``store`` wrote. Raises ArchiveError.

        The servers' rules that it wrote are for the next one to write.
        """
        self._files.withdraw()
        self._warc.forget()
        self._take_back()

    def _take_back(self) -> None:
        latest, self._latest = self._latest, _Latest()
        self._rules_to_log[:0] = latest.to_log
        for attempt in latest.rules:
            self._hold(attempt)

    def _keeps(self, visit: Visit) -> bool:
        match self._archived:
            case _ if visit.postponed:
                return False
            case "all" | "relevant" if not visit.is_page and visit.lease.is_requisite:
                return bool(visit.attempts)  # of an archived page
            case "all":
                # What begins a file that was left isn't the file.
                return not visit.attempts or visit.attempts[-1].truncated != STOPPED
            case "relevant" if visit.record is not None:
                record = visit.record
                return bool(record.relevant or record.guessed or record.reason)
            case "relevant":
                # A redirect, an error or a file that a reader of the archived pages may meet; a
                # page that we failed to read.
                linked = visit.lease.inherited == PageLanguage.TARGET and bool(visit.attempts)
                is_wanted = visit.is_file or visit.outcome in OF_READERS
                return linked and (is_wanted or visit.attempts[-1].status >= 300)
        return False

    def _released(self, server: str) -> list[Attempt]:
        servers = list(self._rules) if self._archived == "all" else [server]
        return [attempt for name in servers for attempt in self._release(name)]

    def _release(self, server: str) -> list[Attempt]:
        attempts = self._rules.pop(server, [])
        self._held -= sum(a.exchange.weight for a in attempts if a.exchange is not None)
        return attempts

    def _rows(self, visit: Visit, place: dict[str, Any], keeps: bool) -> Iterator[dict[str, Any]]:
        for attempt, name in self._latest.to_log:
            yield {"url": attempt.url, "outcome": f"{name} file".strip(), **_seen(attempt)}
        for attempt in visit.attempts if visit.postponed else visit.attempts[:-1]:
            archived = keeps and attempt.exchange is not None
            tried = {"url": attempt.url, "outcome": RETRY, "archived": archived}
            if attempt.url != visit.url and fingerprint(attempt.url) != fingerprint(visit.url):
                tried |= {"outcome": STEP, "referrer": visit.url}
            yield place | _seen(attempt) | tried
        for attempt in visit.fetched:
            archived = keeps and attempt.exchange is not None
            of_page = {"outcome": RENDERING, "archived": archived, "referrer": visit.url}
            yield {"url": attempt.url, **_seen(attempt), **of_page}
        if visit.postponed:
            return
        last = visit.attempts[-1] if visit.attempts else Attempt(visit.url, datetime.now(UTC))
        row = place | _seen(last) | {"outcome": visit.outcome}
        row["archived"] = keeps and last.exchange is not None
        if visit.record is not None:
            row |= {name: getattr(visit.record, name) for name in _OF_RECORD}
        row["requisites"] = list(visit.requisites)
        links = visit.links
        row["targets"] = [link.url for link in links]
        row["anchors"] = [link.anchor for link in links]
        row["named"] = [link.named for link in links]
        row["tiers"] = [link.tier for link in links]
        row["dropped"] = [link.discarded for link in links]
        yield row
        ended = {"time": row["time"], "outcome": Outcome.SERVER_BECAME_IRRELEVANT}
        yield from (ended | {"url": url, "server_status": "irrelevant"} for url in visit.discarded)

    def close(self, *, whole: bool) -> None:
        """Close the files; if all in them is committed, sort the index, and make tables of the log.

        Raises LswcError; the next start does it then.
        """
        if whole:
            self.confirm()
        if self.page_index is not None:
            self.page_index.close()
        self._pages.close()
        self._warc.close(whole=whole)
        self._log.close(whole=whole)


_YES_OR_NO = {True: "yes", False: "no", None: None}
_OF_RECORD = (
    "kind",
    "title",
    "language",
    "variant",
    "encoding",
    "decided_by",
    "shares",
    "content_language",
    "vary",
    "opt_outs",
    "rendered",
    "relevant",
    "guessed",
    "server_status",
    "change",
)


def _server(url: str) -> str:
    parsed = parse(url)
    return parsed.server if parsed else ""


def _place(visit: Visit) -> dict[str, Any]:
    """Return what the frontier knew of a URL, as the log says it."""
    lease = visit.lease
    place: dict[str, Any] = {
        "kind": None,
        "tier": lease.tier,
        "expected": lease.expected,
        "distance": None,
        "depth": lease.depth,
        "source": None,
        "referrer": lease.referrer,
        "visit": lease.visits + 1,
    }
    if visit.is_page:
        return place | {"distance": distance_of(lease.code), "source": source_of(lease.code)}
    return place | {"kind": REQUISITE_KIND if lease.is_requisite else LISTING_KIND}


def _seen(attempt: Attempt) -> dict[str, Any]:
    return {
        "time": int(attempt.time.timestamp() * 1000),
        "status": attempt.status,
        "bytes": attempt.size,
        "mime": attempt.mime or None,
        "error": attempt.error,
        "address": attempt.ip or None,
    }


def _about(visit: Visit, place: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a URL's metadata record; those without a value are left out."""
    expected, record = place["expected"], visit.record
    fields: dict[str, object] = {"outcome": visit.outcome}
    if record is not None:
        fields |= {
            "kind": record.kind,
            "language": record.language,
            "variant": record.variant or None,
            "encoding": record.encoding,
            "charset": _charset(record.encoding),
            "decided-by": record.decided_by,
            "shares": record.shares or None,
            "confidence": record.confidence,
            "relevant": _YES_OR_NO[record.relevant],
            "reason": record.reason or None,
            "server-status": record.server_status,
            "opt-out": "; ".join(record.opt_outs) or None,
            "rendered": "yes" if record.rendered else None,
        }
    if record is not None and record.visit > 1:
        fields |= {"visit": record.visit, "change": record.change}
    fields |= {
        **({"kind": place["kind"]} if place["kind"] else {}),
        "distance": place["distance"],
        "tier": place["tier"],
        "expected": None if expected is None else round(expected, 4),
        "depth": place["depth"],
        "via": place["referrer"],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _charset(encoding: str) -> str | None:
    """Return the charset that bytes are in: a font's own encoding is none that readers know."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return None
