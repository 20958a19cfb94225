"""The archive of a crawl, visit by visit."""

from __future__ import annotations

from collections import Counter, OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from lswc.archive.archive import HELD, Archive, FileSizes
from lswc.archive.cdxj import entries
from lswc.archive.url_history import history
from lswc.frontier.rules.visit import Attempt, Exchange, Offer, Record, Visit
from lswc.frontier.store.frontier import MEMORY, Frontier
from lswc.strategy import SEED, PageLanguage, strategy
from tests.archive.reading import records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.mark.parametrize("head", [60_000, 100])
def test_empty_answers_count_too(head: int) -> None:
    archive: Any = Archive.__new__(Archive)
    archive._rules, archive._held, archive._rules_to_log = OrderedDict(), 0, []
    servers = 3 * HELD // (head + 1_000)
    for number in range(servers):
        exchange = Exchange(b"GET", bytearray(head))
        url = f"http://h{number}.example/robots.txt"
        archive.add(Attempt(url, datetime.now(UTC), 404, exchange=exchange), "robots.txt")
    assert f"h{servers - 1}.example" in archive._rules
    assert len(archive._rules) * head <= HELD
    assert archive._held <= HELD
    for server in list(archive._rules):
        archive._release(server)
    assert archive._held == 0


def visits(body: bytes) -> Iterator[Visit]:
    """Yield visits of three URLs with the same body."""
    frontier = Frontier(MEMORY, strategy("bfs"), {})
    servers = ("a", "b", "c")
    frontier.offer([Offer(f"http://{s}/", s, s, SEED, PageLanguage.TARGET, 0) for s in servers])
    for _ in servers:
        lease = frontier.lease(0.0)
        assert lease is not None
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(b"HTTP/1.1 200\r\n\r\n"), [body])
        attempt = Attempt(lease.url, datetime.now(UTC), 200, exchange=exchange)
        yield Visit(lease, outcome="html", attempts=[attempt])
    frontier.close()


def _record(url: str) -> Record:
    return Record(
        id=1, url=url, status=200, kind="html", title="t", language="zh", variant="zh-Hant",
        encoding="big5", confidence=0.5, decided_by="text", shares="zh=0.9 en=0.1", relevant=True,
        reason="", guessed=False, distance=0, tier=0, expected=None, depth=0,
        server_status="relevant", simhash="0" * 16, near_duplicate=False, content_language="",
        vary="", opt_outs=("noai (META)", "noimageai (META)"), rendered=True, truncated="",
        cookies="", source="seed", referrer=None, time="2026-01-01T00:00:00Z", visit=1,
        change="new",
    )  # fmt: skip


def test_nothing_refers_to_a_payload_that_was_withdrawn(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "th", "all", FileSizes(warc=1e9, part=0), {}, {})
    first, second, third = visits(b"the same")
    archive.store(first)
    archive.withdraw()
    archive.store(second)
    archive.store(third)
    archive.close(whole=True)
    (index,) = tmp_path.glob("warc/*.cdxj")
    kinds = {fields["url"]: fields["mime"] for _, fields in entries(index)}
    assert kinds == {second.url: "unk", third.url: "warc/revisit"}, "nothing says of what kind"


def test_a_page_that_is_as_it_was_long_ago_is_stored_whole(tmp_path: Path) -> None:
    """Else who reads its versions would have to look for the text of the latest among them."""
    archive = Archive(tmp_path, "th", "all", FileSizes(warc=1e9, part=0), {}, {})
    visit = next(visits(b"one"))
    for number, (body, change) in enumerate(
        [(b"one", "new"), (b"two", "changed"), (b"one", "changed"), (b"one", "unchanged")]
    ):
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(b"HTTP/1.1 200\r\n\r\n"), [body])
        visit.attempts = [Attempt(visit.url, datetime.now(UTC), 200, exchange=exchange)]
        visit.record = replace(_record(visit.url), visit=number + 1, change=change)
        archive.store(visit)
    archive.close(whole=True)
    types = [one.type for one in records(tmp_path) if one.type in ("response", "revisit")]
    assert types == ["response", "response", "response", "revisit"]


@pytest.mark.parametrize("archived", ["all", "relevant"])
def test_rules_of_servers_are_logged_and_archived_though_their_page_was_withdrawn(
    tmp_path: Path, archived: str
) -> None:
    archive = Archive(tmp_path, "th", archived, FileSizes(warc=1e9, part=0), {}, {})
    told: list[bytes] = []
    archive.indexed = told.append
    first, second, third = visits(b"page")
    rules = []
    for visit in (first, second):
        exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(b"HTTP/1.1 200\r\n\r\n"), [b"U"])
        robots = Attempt(f"{visit.url}robots.txt", datetime.now(UTC), 200, exchange=exchange)
        archive.add(robots, "robots.txt")
        rules.append(robots.url)
    for visit in (first, second, third):
        visit.record = _record(visit.url)
    archive.store(first)
    archive.withdraw()
    for visit in (second, first, third):
        archive.store(visit)
    archive.close(whole=True)
    for url in rules:
        assert [one["outcome"] for one in history(tmp_path, url).attempts] == ["robots.txt file"]
    (index,) = tmp_path.glob("warc/*.cdxj")
    found = Counter(fields["url"] for _, fields in entries(index))
    assert found == Counter([*rules, first.url, second.url, third.url])
    assert b"".join(told).count(f'"{first.url}"'.encode()) == 1, "what is withdrawn isn't told"


def test_what_was_decided_of_a_page_stands_beside_it(tmp_path: Path) -> None:
    archive = Archive(tmp_path, "zh", "relevant", FileSizes(warc=1e9, part=0), {}, {})
    visit = next(visits(b"page"))
    visit.record = _record(visit.url)
    archive.store(visit)
    archive.close(whole=True)
    (metadata,) = (one for one in records(tmp_path) if one.type == "metadata")
    lines = metadata.content.decode().splitlines()
    assert dict(line.split(": ", 1) for line in lines) == {
        "outcome": "html", "kind": "html", "language": "zh", "variant": "zh-Hant",
        "encoding": "big5", "charset": "big5", "decided-by": "text", "shares": "zh=0.9 en=0.1",
        "confidence": "0.5", "relevant": "yes", "server-status": "relevant",
        "opt-out": "noai (META); noimageai (META)", "rendered": "yes", "distance": "1",
        "tier": "0", "depth": "0",
    }  # fmt: skip


def test_a_page_has_changed_if_its_text_is_another_than_nearly_the_same() -> None:
    first = next(visits(b"page"))
    assert (first.lease.visits, first.change) == (0, "new")

    def change(before: int | None, now: int | None) -> str:
        again = msgspec.structs.replace(first.lease, visits=3, simhash=before)
        return Visit(again, simhash=now).change

    assert change(0b0000, 0b0111) == "unchanged"
    assert change(0b0000, 0b1111) == "changed"
    assert change(None, 0) == change(0, None) == "changed"
