"""All that a crawl writes into its folder for a URL, in the order that makes it safe."""

from __future__ import annotations

import json
from collections import OrderedDict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lswc.archive.files import Appended, ArchiveError, cut
from lswc.archive.log import Log
from lswc.archive.warc import WarcWriter
from lswc.errors import writing
from lswc.languages import Language, language
from lswc.strategy import PageLanguage, distance_of
from lswc.urls import parse
from lswc.visit.attempt import Attempt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lswc.visit.visit import Visit

PAGES = "pages.jsonl"
"""Name of the record file in the crawl folder."""

SETTINGS = "settings.json"
"""Name of the file in the crawl folder with what the crawl was run with."""

HELD = 16_000_000
"""Bytes of robots.txt files, headers included, kept until a page of their server is archived."""


class Archive:
    """Record, WARC, index and log of a crawl: one call a visit, before the frontier commits it.

    ``archived`` says what goes into WARC files of ``warc_size`` bytes: "relevant", "all" or
    "none"; their names begin with ``prefix``. ``description`` is what the crawl is run with.
    ``committed`` has the lengths of the files at the frontier's last commit, by their paths
    in the crawl folder: what a killed crawl wrote beyond is cut, so that every finished URL is
    in every file exactly once. Raises ArchiveError.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        archived: str,
        warc_size: float,
        description: Mapping[str, object],
        committed: Mapping[str, int],
    ) -> None:
        self._folder = folder
        self._archived = archived
        self._robots: OrderedDict[str, list[Attempt]] = OrderedDict()
        self._held = 0
        self._robots_to_log: list[Attempt] = []
        self._lengths = dict(committed)
        _describe(folder / SETTINGS, description)
        self._pages = Appended(folder / PAGES, committed.get(PAGES, 0))
        self._warc = WarcWriter(folder, prefix, description, warc_size, committed)
        self._log = Log(folder, committed)

    def add(self, attempt: Attempt) -> None:
        """Take an attempt that no lease was given for: robots.txt."""
        self._robots_to_log.append(attempt)
        if attempt.exchange is None:
            return
        self._robots.setdefault(_server(attempt.url), []).append(attempt)
        self._held += attempt.exchange.weight
        while self._held > HELD:
            self._release(next(iter(self._robots)))

    def store(self, visit: Visit) -> dict[str, int]:
        """Write what is kept of a visit that ended; return the lengths of the latest files.

        Raises ArchiveError; what was written of the visit is cut when the crawl is resumed.
        """
        for file in self._opened:
            file.mark()
        if visit.record is not None:
            self._pages.append(visit.record.line())
        if self._keeps(visit):
            about: list[Mapping[str, object]] = [{}] * len(visit.attempts)
            about[-1:] = [_about(visit)] if visit.attempts else []
            robots = self._released(visit.lease.server)
            own = zip(visit.attempts, about, strict=True)
            self._warc.write([*((attempt, {}) for attempt in robots), *own])
        self._log.write(self._rows(visit))
        lengths = {str(file.path.relative_to(self._folder)): file.end for file in self._opened}
        # A run that writes no WARC must not forget which file was the last.
        written = {name.partition("/")[0] for name in lengths}
        unchanged = {n: at for n, at in self._lengths.items() if n.partition("/")[0] not in written}
        self._lengths = unchanged | lengths
        return self._lengths

    @property
    def _opened(self) -> list[Appended]:
        return [self._pages, *self._warc.opened, *self._log.opened]

    def withdraw(self) -> None:
        """Take back what the latest ``store`` wrote. Raises ArchiveError."""
        for file in self._opened:
            file.withdraw()
        self._warc.forget()

    def _keeps(self, visit: Visit) -> bool:
        match self._archived:
            case "all":
                return True
            case "relevant" if visit.record is not None:
                return visit.record.relevant or visit.record.guessed
            case "relevant":
                # A redirect or an error that a reader of the archived pages may meet.
                linked = visit.lease.inherited == PageLanguage.TARGET
                return linked and bool(visit.attempts) and visit.attempts[-1].status >= 300
        return False

    def _released(self, server: str) -> list[Attempt]:
        servers = list(self._robots) if self._archived == "all" else [server]
        return [attempt for name in servers for attempt in self._release(name)]

    def _release(self, server: str) -> list[Attempt]:
        attempts = self._robots.pop(server, [])
        self._held -= sum(a.exchange.weight for a in attempts if a.exchange is not None)
        return attempts

    def _rows(self, visit: Visit) -> Iterator[dict[str, Any]]:
        for attempt in self._robots_to_log:
            yield {"url": attempt.url, "outcome": "robots.txt file", **_seen(attempt)}
        self._robots_to_log.clear()
        shared = _place(visit)
        for attempt in visit.attempts[:-1]:
            yield shared | _seen(attempt) | {"outcome": "retry"}
        last = visit.attempts[-1] if visit.attempts else Attempt(visit.url, datetime.now(UTC))
        row = shared | _seen(last) | {"outcome": visit.outcome}
        if visit.record is not None:
            row |= {name: getattr(visit.record, name) for name in _OF_RECORD}
        row["targets"] = [link.url for link in visit.links]
        row["anchors"] = [link.anchor for link in visit.links]
        row["named"] = [link.named for link in visit.links]
        row["tiers"] = [link.tier for link in visit.links]
        row["dropped"] = [link.dropped for link in visit.links]
        yield row

    def close(self, committed: Mapping[str, int]) -> None:
        """Close the files, sort the index, turn the journal into tables.

        ``committed`` as for opening. Raises ArchiveError; the next start does it then.
        """
        self._pages.close()
        for name, length in committed.items():
            cut(self._folder / name, length)
        self._warc.close()
        self._log.close()


_OF_RECORD = (
    "title",
    "language",
    "variant",
    "encoding",
    "decided_by",
    "shares",
    "content_language",
    "vary",
    "opt_outs",
    "relevant",
    "guessed",
    "server_status",
)


def language_of(crawl: Path) -> Language:
    """Return the language of the crawl in a folder. Raises ArchiveError if it holds none."""
    return language(str(_setting(crawl, "language")))


def earlier_of(crawl: Path) -> tuple[Path, ...]:
    """Return the folders of the crawls that a crawl visited again. Raises ArchiveError."""
    return tuple(Path(name) for name in _setting(crawl, "LSWC_RECRAWL"))


def opt_out_of(crawl: Path) -> str:
    """Return what a crawl does with opted-out pages. Raises ArchiveError if it holds none."""
    return str(_setting(crawl, "LSWC_OPT_OUT"))


def _setting(crawl: Path, name: str) -> Any:
    try:
        return json.loads((crawl / SETTINGS).read_text("utf-8"))[name]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{crawl} is not a crawl folder: it has no {SETTINGS}") from error


def _describe(path: Path, settings: Mapping[str, object]) -> None:
    with writing(path):
        path.write_text(json.dumps(settings, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _server(url: str) -> str:
    parsed = parse(url)
    return parsed.server if parsed else ""


def _place(visit: Visit) -> dict[str, Any]:
    lease = visit.lease
    return {
        "url": visit.url,
        "tier": lease.tier,
        "expected": lease.expected,
        "distance": distance_of(lease.code),
        "depth": lease.depth,
        "referrer": lease.referrer,
    }


def _seen(attempt: Attempt) -> dict[str, Any]:
    return {
        "time": int(attempt.time.timestamp() * 1000),
        "status": attempt.status,
        "bytes": attempt.size,
        "mime": attempt.mime or None,
        "error": attempt.error,
        "address": attempt.ip or None,
    }


def _about(visit: Visit) -> dict[str, object]:
    """Return the fields of a URL's metadata record; those without a value are left out."""
    lease, record = visit.lease, visit.record
    fields: dict[str, object] = {"outcome": visit.outcome}
    if record is not None:
        fields |= {
            "language": record.language,
            "variant": record.variant or None,
            "encoding": record.encoding,
            "decided-by": record.decided_by,
            "shares": record.shares or None,
            "confidence": record.confidence,
            "relevant": "yes" if record.relevant else "no",
            "server-status": record.server_status,
            "opt-out": "; ".join(record.opt_outs) or None,
        }
    fields |= {
        "distance": distance_of(lease.code),
        "tier": lease.tier,
        "expected": None if lease.expected is None else round(lease.expected, 4),
        "depth": lease.depth,
        "via": lease.referrer,
    }
    return {name: value for name, value in fields.items() if value is not None}
