"""What a real Redis carries: snapshots, courses, instructions, questions."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from redis import Redis

from lswc.errors import AwayError, StorageError
from lswc.frontier.exchange import owners
from lswc.frontier.exchange.post import POINTS, Parcel, Post, stamp_of, stamped, unstamped
from tests.frontier.exchange.memory_post import MemoryPost

if TYPE_CHECKING:
    from tests.frontier.redis_server import RedisServer

TABLE = owners.first(7)


@pytest.fixture(params=["redis", "memory"])
def post(request: pytest.FixtureRequest) -> Post | MemoryPost:
    if request.param == "memory":
        return MemoryPost()
    server: RedisServer = request.getfixturevalue("redis_server")
    server.empty()
    return Post(Redis(port=server.port), "th")


def parcel(**fields: Any) -> Parcel:
    return Parcel(7, b"status", b"crawl", TABLE)._replace(**fields)


def test_people_see_what_a_worker_told(post: Post | MemoryPost) -> None:
    post.deliver(parcel(snapshot=b"{}", points=[b"1", b"2"]))
    post.deliver(parcel(points=[b"3"]))
    assert post.snapshots() == {7: b"{}"}
    assert post.courses([7, 8], 2) == {7: [b"2", b"3"], 8: []}
    assert post.alive([7, 8]) == {7}
    post.deliver(parcel(has_ended=True))
    assert post.alive([7, 8]) == set()


def test_a_delivery_brings_the_table_and_what_all_told(post: Post | MemoryPost) -> None:
    assert post.begin(b"crawl", TABLE)
    post.deliver(parcel(worker=8, status=b"other"))
    mail = post.deliver(parcel())
    assert (mail.crawl, mail.owners) == (b"crawl", TABLE)
    assert mail.statuses == {7: b"status", 8: b"other"}


def test_a_course_is_bounded(redis_server: RedisServer) -> None:
    redis_server.empty()
    post = Post(Redis(port=redis_server.port), "th")
    post.deliver(parcel(points=[b"x"] * (POINTS + 5)))
    assert len(post.courses([7])[7]) == POINTS


def test_an_older_redis_gets_the_instructions_again(post: Post | MemoryPost) -> None:
    assert post.deliver(parcel()).control is None
    post.edit(lambda before: stamped(b"pause = true\n", before), "a line")
    older = post.control()
    post.edit(lambda before: stamped(unstamped(before) + b"stop = true\n", before), "another")
    newer = post.deliver(parcel()).control
    assert unstamped(newer) == b"pause = true\nstop = true\n"
    assert stamp_of(older) < stamp_of(newer)
    assert post.deliver(parcel(control=older)).control == newer
    post.edit(lambda _: older or b"", "as a Redis that is an older copy")
    assert post.deliver(parcel(control=newer)).control == newer
    assert post.history()[:2] == [b"a line", b"another"]


@pytest.mark.parametrize(
    "fields",
    [
        {b"m": b"\xc1"},
        {b"x": b"of another program"},
        {b"m": msgspec.msgpack.encode((1, 0, []))},
        {b"m": msgspec.msgpack.encode((1, 0, [(1, "text")]))},
    ],
)
def test_an_entry_that_is_no_workers_is_named(
    redis_server: RedisServer, fields: dict[bytes, bytes]
) -> None:
    redis_server.empty()
    client = Redis(port=redis_server.port)
    post = Post(client, "th")
    client.xadd(post.key("to", 7), fields)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match="can't read"):
        post.deliver(parcel())


def test_a_damaged_table_is_named(redis_server: RedisServer) -> None:
    redis_server.empty()
    client = Redis(port=redis_server.port)
    post = Post(client, "th")
    assert post.begin(b"crawl", TABLE)
    client.hset(post.key("crawl"), "table", b"{")
    with pytest.raises(StorageError, match="can't read"):
        post.begun()


def test_a_question_is_answered(redis_server: RedisServer) -> None:
    redis_server.empty()
    post = Post(Redis(port=redis_server.port), "th")

    def work() -> None:
        while not (questions := post.deliver(parcel()).questions):
            pass
        name, _, asked = questions[0].partition(b" ")
        post.answer(name, b"so " + asked)

    worker = Thread(target=work)
    worker.start()
    assert post.ask(7, b"what", 60) == b"so what"
    worker.join()
    assert post.ask(8, b"what", 0.1) is None
    assert post.client.ttl("th:ask:8") in (-2, 0, 1)  # -2: it has expired


def test_a_redis_that_is_away_is_one_error() -> None:
    post = Post(Redis(port=1), "th")
    for call in (post.snapshots, post.control, post.history):
        with pytest.raises(AwayError):
            call()
