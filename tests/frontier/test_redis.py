"""What only a frontier that many workers share promises."""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pytest
import redis
from redis import Redis
from redis.connection import AbstractConnection

from lswc.errors import AwayError, LswcError, OlderError, StorageError
from lswc.frontier import redis as frontiers
from lswc.frontier import redis_script
from lswc.frontier.contract import FORMAT, FrontierError
from lswc.frontier.redis import POLL, RedisFrontier, Worker
from lswc.frontier.redis_cluster import Cluster
from lswc.frontier.shards import CLUSTER
from lswc.frontier.steps import Awaited
from lswc.frontier.visit import Offer
from lswc.strategy import REQUISITE, SEED, PageLanguage, Status, adaptive, order, strategy
from tests.frontier.redis_server import RedisServer
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from lswc.frontier.visit import Lease, Visit
    from lswc.strategy import Rank

LIFE = 60.0
CALLERS = Worker(clock_of_caller=True)


class Join(Protocol):
    def __call__(self, spec: str = ..., folder: Path | None = ...,
                 recorded: bool = ..., language: str = ...) -> RedisFrontier: ...  # fmt: skip


@pytest.fixture
def join(redis_server: RedisServer, client: Redis) -> Iterator[Join]:
    with ExitStack() as stack:

        def joined(
            spec: str = "soft_focused",
            folder: Path | None = None,
            recorded: bool = False,
            language: str = "th",
        ) -> RedisFrontier:
            worker = Worker(
                folder=folder, recorded=recorded, time_to_live=LIFE, clock_of_caller=True
            )
            frontier = RedisFrontier(
                Redis.from_url(redis_server.url), "c", strategy(spec), {"language": language},
                worker=worker,
            )  # fmt: skip
            return stack.enter_context(closing(frontier))

        yield joined


def seed(url: str) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, SEED, PageLanguage.TARGET, 0)


def leased(frontier: RedisFrontier, now: float) -> Lease:
    lease = frontier.lease(now)
    assert lease is not None
    return lease


def test_two_workers_never_hold_one_server(join: Join) -> None:
    one, two = join(), join()
    one.offer([seed("http://a/1"), seed("http://a/2"), seed("http://b/1")])
    first = leased(one, 10.0)
    assert leased(two, 10.0).url == "http://b/1"
    assert two.lease(11.0) is None
    one.commit(ended(first, rest=2.0))
    assert two.lease(11.9) is None, "the rest counts from the other worker's lease"
    assert leased(two, 12.0).url == "http://a/2"


def test_the_servers_of_a_worker_that_stops_rest_as_its_visits_say(join: Join) -> None:
    one, two = join(), join()
    one.offer([seed("http://a/1"), seed("http://b/1")])
    asked, unasked = leased(one, 10.0), leased(one, 10.0)
    assert (asked.server, unasked.server) == ("a", "b")
    one.close([ended(asked, rest=5.0), ended(unasked)])
    assert leased(two, 10.0).server == "b"
    assert two.lease(14.9) is None
    assert leased(two, 15.0).server == "a"


def test_no_link_searches_all_sites_from_end_to_end(join: Join, client: Redis) -> None:
    one = join("adaptive")
    one.offer([seed("http://a.x/1"), seed("http://b.y/1")])
    one.offer([seed("http://c.z/1")])
    hashes = {
        "units": {b"a.x", b"b.y", b"c.z"}, "sites": {b"a.x", b"b.y", b"c.z"},
        "waiting": {b"a.x", b"b.y", b"c.z"},
    }  # fmt: skip
    for name, known in hashes.items():
        assert client.object("ENCODING", f"{{c}}:{name}") == b"hashtable"
        assert client.hgetall(f"{{c}}:{name}").keys() == known


def test_a_status_that_one_worker_found_drops_what_another_offered(join: Join) -> None:
    one, two = join("server_aggressive:T=0"), join("server_aggressive:T=0")
    one.offer([seed("http://a/1")])
    lease = leased(two, 0.0)
    bfs_code = 0
    one.offer([seed("http://b/1"), seed("http://a/2")._replace(code=bfs_code)])
    two.commit(ended(lease, relevant=False))
    assert leased(one, 0.0).url == "http://b/1"
    assert one.lease(0.0) is None
    assert one.counts().tally["discarded"] == {"server became irrelevant": 1}


def test_a_worker_that_joins_another_wakes_nothing(join: Join, tmp_path: Path) -> None:
    """What was postponed waits on, though nothing is leased just now; not if all had ended."""
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
    one = join(folder=folders[0])
    one.offer([seed("http://a/1")])
    assert one.postpone(ended(leased(one, 0.0), "timeout"), 1e6)
    two = join(folder=folders[1])
    assert two.lease(10.0) is None
    one.close()
    join(folder=folders[2]).close()
    assert two.lease(10.0) is None
    two.close()
    assert leased(join(folder=folders[0]), 10.0).url == "http://a/1"


def test_a_dead_workers_lease_expires_and_a_living_ones_does_not(join: Join) -> None:
    one, two, three = join(), join(), join()
    one.offer([seed("http://a/1"), seed("http://b/1")])
    leased(one, 0.0)
    alive = leased(two, 0.0)
    two.renew(LIFE - 1)
    assert leased(three, LIFE).url == "http://a/1"
    assert three.lease(LIFE) is None
    assert two.commit(ended(alive))


def test_the_end_of_an_expired_lease_changes_nothing(join: Join) -> None:
    one, two = join(), join()
    one.offer([seed("http://a/1")])
    expired = leased(one, 0.0)
    again = leased(two, LIFE)
    assert not one.commit(ended(expired, relevant=True, offers=[seed("http://c/1")]))
    assert (one.pending, one.unfinished) == (0, 1)
    assert two.commit(ended(again))
    assert one.counts().tally["finished"] == {"html": 1}
    assert one.unfinished == 0


def test_a_server_that_a_worker_leases_again_after_a_lease_of_it_expired(join: Join) -> None:
    """Of its two leases only the one that expired is lost."""
    one, two = join(), join()
    one.offer([seed("http://a/1"), seed("http://a/2")])
    expired = leased(one, 0.0)
    assert two.commit(ended(leased(two, LIFE)))
    lease = leased(one, LIFE)
    assert lease.url == "http://a/2"
    assert one.renew(LIFE) == [expired.id]
    assert not one.commit(ended(expired))
    assert one.commit(ended(lease))
    assert one.unfinished == 0


def test_a_url_that_a_worker_leases_again_after_its_lease_expired_is_not_lost(join: Join) -> None:
    frontier = join()
    frontier.offer([seed("http://a/1")])
    expired, lease = leased(frontier, 0.0), leased(frontier, LIFE)
    assert lease.id == expired.id
    assert frontier.renew(LIFE) == []
    assert not frontier.commit(ended(expired))
    assert frontier.commit(ended(lease))


def test_a_copy_of_before_the_latest_joining_is_older(
    redis_server: RedisServer, client: Redis
) -> None:
    worker = Worker(known_as="one", time_to_live=LIFE, clock_of_caller=True)
    own = Redis.from_url(redis_server.url)
    with closing(RedisFrontier(own, "c", strategy("bfs"), {}, worker=worker)) as frontier:
        frontier.offer([seed("http://a/1"), seed("http://b/1")])
        kept = {key: client.dump(key) or b"" for key in client.keys("{c}:*")}
        assert frontier.commit(ended(leased(frontier, 0.0)), {"log": 1})
        frontier.rejoin()
        assert frontier.unfinished == 1
        client.flushall()
        for key, value in kept.items():
            client.restore(key, 0, value)
        with pytest.raises(OlderError):
            frontier.lease(0.0)


def test_only_what_has_ended_is_reopened(join: Join) -> None:
    """Not a URL that another worker has made wait meanwhile: it would be there twice."""
    frontier = join()
    urls = [f"http://{server}/1" for server in ("failed", "postponed", "waits", "leased")]
    frontier.offer([seed(url) for url in urls])
    failed, postponed = leased(frontier, 0.0), leased(frontier, 0.0)
    assert frontier.commit(ended(failed, "timeout"))
    assert frontier.postpone(ended(postponed, "timeout"), 5.0)
    waits, held = leased(frontier, 0.0), leased(frontier, 0.0)
    assert frontier.give_back(ended(waits))
    frontier.reopen(urls, {})
    assert (frontier.pending, frontier.unfinished, frontier.later) == (3, 4, 1)
    assert "finished" not in frontier.counts().tally
    assert frontier.retry({"timeout"}) == 1, "what was postponed, and nothing else"
    assert frontier.commit(ended(held))
    for _ in urls[1:]:
        assert frontier.commit(ended(leased(frontier, 5.0)))
    assert frontier.unfinished == 0


def test_a_worker_waits_while_another_holds_a_lease(join: Join) -> None:
    one, two = join(), join()
    one.offer([seed("http://a/1")])
    lease = leased(one, 5.0)
    assert two.lease(5.0) is None
    assert two.unfinished == 1
    ready = two.next_ready()
    assert ready is not None
    assert 5.0 < ready < 5.0 + LIFE
    one.commit(ended(lease))
    assert two.lease(ready) is None
    assert two.next_ready() is None
    assert two.unfinished == 0


def test_a_worker_with_nothing_to_lease_asks_again_only_when_it_is_time(
    join: Join, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = join(), join()
    one.offer([seed("http://a/1"), seed("http://a/2")])
    lease = leased(one, 5.0)
    assert two.lease(5.0) is None
    ready = two.next_ready()
    assert ready is not None
    with monkeypatch.context() as patched:
        patched.setattr(two.connection, "client", None)
        assert [two.lease(5.0 + 0.01 * n) for n in range(5)] == [None] * 5
        assert two.next_ready() == ready
    one.commit(ended(lease))
    assert leased(two, ready).url == "http://a/2"
    assert one.lease(6.0) is None
    assert one.next_ready() is not None
    one.offer([seed("http://b/1")])
    assert leased(one, 6.0).url == "http://b/1", "what it does itself it knows at once"


def test_a_url_that_failed_is_the_referrer_of_what_it_brought(join: Join) -> None:
    f = join()
    f.offer([seed("https://a:8080/x?1")])
    f.commit(ended(leased(f, 0.0), "timeout", offers=[seed("http://b/1"), seed("http://b/2")]))
    assert leased(f, 0.0).referrer == "https://a:8080/x?1"
    assert f.retry(["timeout"]) == 1
    assert leased(f, 0.0).url == "https://a:8080/x?1"
    f.close()


def test_most_of_a_waiting_url_is_its_path(join: Join, client: Redis) -> None:
    f = join()
    f.offer([seed("https://www.a.example.co.th:8080/path"), seed("ftp://b/1")])
    kept: Any = client.lrange("{c}:urls:0", 0, -1)
    assert b"example" not in b"".join(kept)
    assert leased(f, 0.0).url == "https://www.a.example.co.th:8080/path"
    assert leased(f, 0.0).url == "ftp://b/1"


def test_a_commit_whose_answer_is_lost_counts_once(
    redis_server: RedisServer, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Any = AbstractConnection.read_response
    answers: list[Any] = []

    def lost(connection: Any, *given: Any, **how: Any) -> Any:
        answer = read(connection, *given, **how)
        answers.append(answer)
        if len(answers) == 1:  # Redis did what was asked
            raise redis.ConnectionError("lost")
        return answer

    with closing(RedisFrontier(Redis.from_url(redis_server.url), "c", strategy("bfs"), {})) as f:
        f.offer([seed("http://a/1")])
        lease = leased(f, 0.0)
        with monkeypatch.context() as patched:
            patched.setattr(AbstractConnection, "read_response", lost)
            assert f.commit(ended(lease))
        assert len(answers) > 1
        assert f.counts().tally["finished"] == {"html": 1}


class WithoutFunctions(Redis):
    """A Redis before 7, or one that lets nobody call functions."""

    def fcall(self, *given: Any) -> Any:
        raise redis.ResponseError("unknown command 'FCALL'")


@pytest.mark.usefixtures("client")
def test_a_redis_without_functions_does_the_same(redis_server: RedisServer) -> None:
    older = WithoutFunctions.from_url(redis_server.url)
    with closing(RedisFrontier(older, "c", strategy("soft_focused"), {})) as frontier:
        frontier.offer([seed("http://a/1")])
        assert frontier.commit(ended(leased(frontier, 0.0)))
        assert frontier.pending == 0


def test_functions_that_somebody_removed_are_loaded_again(join: Join, client: Redis) -> None:
    frontier = join()
    frontier.offer([seed("http://a/1")])
    with suppress(redis.ResponseError):  # before Redis 7 there are none
        client.function_flush("SYNC")
    assert frontier.commit(ended(leased(frontier, 0.0)))


@pytest.mark.parametrize("spec", ["adaptive", "directory_conservative:T=3"])
def test_a_call_sees_nothing_of_one_that_failed(
    join: Join, client: Redis, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    """Functions outlive a call, and its crawl; what it knew must not."""

    def crawled(*before: Offer) -> dict[bytes, object]:
        client.flushall()
        other = RedisFrontier(client, "other", strategy(spec), {})
        for one in before:
            with pytest.raises(StorageError):
                other.offer([seed("http://a/0"), one])
        frontier = join(spec)
        frontier.offer([seed("http://a/1"), seed("http://www.b/")])
        frontier.commit(ended(leased(frontier, 0.0), offers=[seed("http://c.b/")]))
        counts = ("pending", "waiting", "statuses", "tally", "units", "sites", "servers", "taken")
        found: dict[bytes, object] = {}
        for name in counts:
            found[name.encode()] = client.hgetall(f"{{c}}:{name}")
        keys: Any = client.keys("{c}:*")
        return found | {key: client.type(key) for key in keys}

    packed = redis_script.packed_offer
    monkeypatch.setattr(
        redis_script, "packed_offer",
        lambda order, one: b"" if one.url.endswith("broken") else packed(order, one),
    )  # fmt: skip
    assert crawled(seed("http://c.b/broken")) == crawled()


def test_each_worker_has_a_record_file_of_its_own(join: Join, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one, two = join(folder=tmp_path / "one"), join(folder=tmp_path / "two")
    one.offer([seed("http://a/1")])
    one.commit(ended(leased(one, 0.0)), {"pages.jsonl": 321})
    assert (one.lengths(), two.lengths()) == ({"pages.jsonl": 321}, {})


def test_a_second_process_in_one_folder_is_refused(join: Join, tmp_path: Path) -> None:
    join(folder=tmp_path)
    with pytest.raises(FrontierError, match="another process"):
        join(folder=tmp_path)


def test_a_folder_with_another_crawls_record_is_refused(
    join: Join, tmp_path: Path, client: Redis
) -> None:
    with pytest.raises(FrontierError, match="record of another crawl"):
        join(folder=tmp_path, recorded=True)
    assert client.dbsize() == 0
    join(folder=tmp_path).close()
    join(folder=tmp_path, recorded=True)


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_fed_seeds_are_taken_once_used(join: Join, client: Redis, kind: str) -> None:
    entries = ["http://a/1", '{"url": "http://a/2", "meta": {}}', '{"no": "url"}', "[1]"]
    for entry in entries:
        match kind:
            case "list":
                client.rpush("c:start_urls", entry)
            case "set":
                client.sadd("c:start_urls", entry)
            case _:
                client.zadd("c:start_urls", {entry: 1})
    f = join()
    with pytest.raises(KeyboardInterrupt), f.fed_seeds():
        raise KeyboardInterrupt
    with f.fed_seeds() as addresses:
        assert sorted(addresses) == ["http://a/1", "http://a/2"]
    with f.fed_seeds() as addresses:
        assert addresses == []
    assert not client.exists("c:start_urls")


def test_all_keys_share_a_slot_and_outlive_the_workers(join: Join, client: Redis) -> None:
    f = join("directory_conservative:T=1", folder=None)
    f.offer([seed("http://a/1"), seed("http://b/1")])
    f.commit(ended(leased(f, 0.0)))
    before = set(client.scan_iter())
    assert all(key.startswith(b"{c}:") for key in before)
    f.close()
    assert set(client.scan_iter()) == before - {b"{c}:lives"}


def test_what_was_committed_outlives_a_killed_redis(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    f = RedisFrontier(Redis.from_url(server.url), "c", strategy("bfs"), {}, worker=CALLERS)
    f.offer([seed("http://a/1"), seed("http://b/1")])
    lease = leased(f, 0.0)
    server.kill()
    server.start()
    assert f.commit(ended(lease, offers=[seed("http://c/1")]))
    assert [leased(f, 0.0).url for _ in range(2)] == ["http://b/1", "http://c/1"]
    f.close()
    server.stop()


def refused(url: str, kind: type[LswcError] = LswcError) -> str:
    with pytest.raises(kind) as error:
        RedisFrontier(Redis.from_url(url), "c", strategy("bfs"), {"language": "th"})
    message = str(error.value)
    assert "\n" not in message
    return message


def test_no_redis() -> None:
    assert "can't be reached" in refused("redis://127.0.0.1:1/0", AwayError)


def test_another_version_or_crawl_or_kind_is_refused_untouched(
    redis_server: RedisServer, join: Join, client: Redis
) -> None:
    join().close()
    before = client.hgetall("{c}:about")
    with pytest.raises(FrontierError, match="language 'th', not 'lo'"):
        join(language="lo")
    client.hset("{c}:about", "format", "0")
    assert "begun with lswc 0.1: finish it with that one, or" in refused(redis_server.url)
    client.hset("{c}:about", "format", str(FORMAT))
    assert client.hgetall("{c}:about") == before
    client.set("{c}:about", "something else")
    assert "refuses the crawl" in refused(redis_server.url)


def test_a_redis_that_evicts_or_asks_for_a_password_is_refused(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--maxmemory-policy", "allkeys-lru")
    assert "set maxmemory-policy noeviction" in refused(server.url)
    with Redis.from_url(server.url) as client:
        assert client.dbsize() == 0
        client.config_set("requirepass", "right")
    wrong = server.url.replace("//", "//:wrong-secret@")
    for url in (server.url, wrong):
        message = refused(url)
        assert "refuses the password" in message
        assert "wrong-secret" not in message
    server.stop()


def test_a_node_of_a_cluster_is_refused(tmp_path: Path) -> None:
    server = RedisServer(tmp_path, "--cluster-enabled", "yes")
    assert "is a node of a Redis Cluster: write redis+cluster://" in refused(server.url)
    with pytest.raises(FrontierError, match="has slots that no node serves"):
        Cluster(server.url.replace("redis://", CLUSTER), {}).clients("c", begins=True)
    server.stop()


def test_a_redis_that_lost_the_crawl_is_noticed_by_every_verb(join: Join, client: Redis) -> None:
    f = join()
    f.offer([seed("http://a/1"), seed("http://b/1")])
    lease = leased(f, 0.0)
    client.flushall()
    verbs: list[Callable[[], object]] = [
        lambda: f.lease(0.0),
        lambda: f.commit(ended(lease)),
        lambda: f.offer([seed("http://c/1")]),
        lambda: f.renew(0.0),
        lambda: f.statuses(["b"], lease, None),
        lambda: f.pending,
        lambda: f.unfinished,
        lambda: f.servers,
        f.next_ready,
        f.lengths,
        f.counts,
        f.cells,
    ]
    for verb in verbs:
        with pytest.raises(StorageError, match="has lost the crawl"):
            verb()
    assert client.dbsize() == 0
    join().close()
    with pytest.raises(StorageError, match="has lost the crawl"):
        f.lease(0.0)


def best_first(codes: Iterable[int]) -> list[int]:
    """Return codes of links as the learned order takes their cells."""
    cells, place = strategy("adaptive"), adaptive.place(0, 0, 0, 0)

    def rank(code: int) -> Rank:
        return order(cells).rank(cells.cell_of[cells.kind_of[code]][place])

    return sorted(codes, key=rank)


def worst_and_best() -> list[int]:
    """Return codes of links in the cells that the learned order takes last and first."""
    codes = best_first(range(0, SEED, 97))
    return [codes[-1], codes[0]]


def test_what_is_decided_of_known_urls_goes_with_the_next_call(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that is better than the one before costs no call."""
    learned, (worse, better) = join("adaptive"), worst_and_best()
    found = seed("http://b/1")
    learned.offer([seed("http://a/1"), found._replace(code=worse)])
    lease = leased(learned, 0.0)
    calls: list[str] = []
    send = learned.connection.send

    def counted(*call: Any) -> Any:
        calls.append(call[0])
        return send(*call)

    monkeypatch.setattr(learned.connection, "send", counted)
    learned.commit(ended(lease, offers=[found._replace(code=better)]))
    assert leased(learned, 0.0).referrer == "http://a/1"
    assert calls == ["commit", "lease"]


@pytest.mark.parametrize("outcome", ["html", "timeout", "status 503"])
def test_what_is_decided_of_a_url_that_another_worker_finished_meanwhile(
    join: Join, outcome: str
) -> None:
    one, two = join("adaptive"), join("adaptive")
    worse, better = worst_and_best()
    found = seed("http://b.example/a-page-that-others-link-to")
    one.offer([seed("http://a/1"), found._replace(code=worse)])
    lease = leased(one, 0.0)
    assert one.commit(ended(lease, offers=[found._replace(code=better)]))
    other = leased(two, 0.0)
    assert other.url == found.url
    visit = ended(other, outcome, offers=[seed("http://c/1")])
    assert two.postpone(visit, 9.0) if outcome == "status 503" else two.commit(visit)
    one.offer([seed("http://d/1")])
    assert {leased(one, 0.0).server for _ in range(two.pending - two.later)} <= {"c", "d"}


def test_what_is_decided_is_counted_though_the_page_is_another_workers_by_now(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its links aren't taken any more, and what goes with the call is done."""
    monkeypatch.setattr(frontiers, "OFFERS", 2)
    one, two = join("adaptive"), join("adaptive")
    worse, better = worst_and_best()
    found = seed("http://b/1")
    one.offer([seed("http://a/1"), seed("http://c/1"), found._replace(code=worse)])
    first, second = leased(one, 0.0), leased(one, 0.0)
    assert one.commit(ended(first, offers=[found._replace(code=better)]))
    many = [seed(f"http://{name}/1") for name in "defgh"]
    assert two.lease_among(["nobody"], 2 * LIFE) is None, "but it knows of its URL now"
    assert two.lease_among([second.server], 2 * LIFE) is not None
    assert not one.commit(ended(second, offers=many))
    with one.reading() as reader:
        assert sum(reader.pending().values()) == one.pending == 1
        (cell,) = reader.pending()
    assert leased(one, 2 * LIFE).cell == cell


def test_a_lease_passes_many_cells_of_busy_servers_without_a_look_at_all(
    join: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others brought is looked at once the cells that are known have nothing."""
    monkeypatch.setattr("lswc.frontier.redis_order.REFRESH", 1e9)
    one, two = join("adaptive"), join("adaptive")
    code_of = {kind: code for code, kind in enumerate(strategy("adaptive").kind_of[:SEED])}
    codes = best_first(code_of[kind] for kind in sorted(code_of)[:100])
    one.offer([seed(f"http://a/{code}")._replace(code=code) for code in codes])
    one.offer([seed(f"http://b{n}/")._replace(code=codes[-1]) for n in range(9)])
    assert leased(one, 0.0).server == "a"

    calls: list[str] = []
    send, refresh = one.connection.send, one._order.refresh

    def counted(*call: Any) -> Any:
        calls.append(call[0])
        return send(*call)

    def looked() -> None:
        calls.append("look at all")
        refresh()

    monkeypatch.setattr(one.connection, "send", counted)
    monkeypatch.setattr(one._order, "refresh", looked)
    assert [leased(one, 0.0).server for _ in range(9)] == [f"b{n}" for n in range(9)]
    assert calls == ["lease"] * (9 + 2), "with 32 cells and with 64 in vain"
    two.offer([seed("http://c/")])
    assert leased(one, 0.0).server == "c"
    assert "look at all" in calls


@pytest.mark.parametrize(
    ("spec", "path", "unit"), [("adaptive", "", "a"), ("directory_conservative", "/d", "a/d/")]
)
def test_what_a_leased_unit_has_brought_is_known_without_asking(
    join: Join, monkeypatch: pytest.MonkeyPatch, spec: str, path: str, unit: str
) -> None:
    """Nobody else counts a page of it meanwhile; once its lease has ended it is asked for."""
    one, two = join(spec), join(spec)
    one.offer([seed(f"http://a{path}/{n}")._replace(unit=unit) for n in range(5)])
    questions: list[object] = []
    ask = one.connection.ask

    def counted(*asked: Any) -> Any:
        questions.append(asked)
        return ask(*asked)

    with monkeypatch.context() as patch:
        patch.setattr(one.connection, "ask", counted)
        lease = leased(one, 0.0)
        assert one.pages_of(unit) == (0, 0)
        assert one.statuses([unit], lease, 1.0) == {unit: Status.RELEVANT}
        assert not questions
        assert one.commit(ended(lease, relevant=True, brought=0.25))
        assert one.pages_of(unit) == (1, 0.25)
        assert questions
        questions.clear()
        theirs = leased(two, 0.0)
        assert one.pages_of(unit) == two.pages_of(unit) == (1, 0.25)
        assert two.commit(ended(theirs, relevant=True, brought=0.5))
        assert one.pages_of(unit) == (2, 0.75), "it is another worker's"
        questions.clear()
        leased(one, 0.0)
        assert one.pages({unit, "b"}) == {unit: (2, 0.75)}
        assert len(questions) == 1, "of what isn't leased"
    leased(two, 2 * LIFE)
    assert one.renew(2 * LIFE), "its lease had expired"
    assert one.pages_of(unit) == (2, 0.75)


def test_who_heard_that_no_server_is_free_does_not_ask(
    redis_server: RedisServer, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer says when the next is; another worker's are seen soon all the same."""
    clock = [1_000.0]
    monkeypatch.setattr("lswc.frontier.redis.monotonic", lambda: clock[0])
    made = partial(RedisFrontier, name="c", strategy=strategy("soft_focused"), identity={})
    one, two = (made(Redis.from_url(redis_server.url)) for _ in range(2))
    calls: list[object] = []

    def counted(asked: Callable[..., Any]) -> Callable[..., Any]:
        def call(*question: Any) -> Any:
            calls.append(question[0])
            return asked(*question)

        return call

    with closing(one), closing(two):
        one.offer([seed("http://a/1"), seed("http://a/2")])
        lease = leased(one, clock[0])
        for name in ("send", "run", "ask"):
            monkeypatch.setattr(one.connection, name, counted(getattr(one.connection, name)))
        one.commit(ended(lease, rest=60.0))
        assert one.lease(clock[0]) is None
        assert one.next_ready() == clock[0] + POLL
        assert calls == ["commit"]
        two.offer([seed("http://b/1")])
        clock[0] += POLL
        assert leased(one, clock[0]).url == "http://b/1"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (lambda one, _: one.pending, 1),
        (lambda one, _: one.requisites, 1),
        (lambda one, _: one.close(), None),
        (lambda one, _: one.pages({"a"})["a"].downloaded, 1),
        (lambda one, _: one.offer([seed("http://c/1")]), None),
        (lambda one, other: one.give_back(other), True),
        (lambda one, _: one.renew(0.0), []),
    ],
)
def test_while_an_end_is_under_way_all_is_answered_as_after_it(
    join: Join,
    client: Redis,
    tmp_path: Path,
    asked: Callable[[RedisFrontier, Visit], object],
    answer: object,
) -> None:
    one = join(folder=tmp_path)
    one.offer([seed("http://a/1"), seed("http://b/1")])
    first, other = leased(one, 0.0), leased(one, 0.0)
    image = Offer("http://a/2.png", "a", "a", REQUISITE, PageLanguage.TARGET, 1)
    visit = ended(first, relevant=True, offers=[image])
    awaited = one.begin(one.ending(visit, None))
    while client.hlen("{c}:leases") > 1:
        pass
    assert asked(one, ended(other)) == answer
    assert awaited.result(), "its own answer isn't lost by that"


def test_what_was_sent_over_a_connection_that_is_lost_is_asked_again(
    redis_server: RedisServer, client: Redis
) -> None:
    with Redis.from_url(redis_server.url) as other:
        connection = redis_script.Connection(other, "x")
        terms = ["", 0, "server", "", "", "", 0, 0, 1, 0, 0, 0, 0, "", ""]
        for is_lost in (False, True):
            answer = connection.send("status", *terms, 3, 1)
            if is_lost:
                client.client_kill_filter(_type="normal", skipme=True)
            assert Awaited(answer).result() == Status.RELEVANT
        assert connection.run("status", *terms, 3, 0) == Status.IRRELEVANT


def test_what_could_not_be_sent_is_asked_again(
    redis_server: RedisServer, client: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server went away while it was given many links."""
    terms = ["", 0, "server", "", "", "", 0, 0, 1, 0, 0, 0, 0, "", ""]
    send: Any = AbstractConnection.send_command

    def lost(connection: Any, *words: Any, **how: Any) -> None:
        if words[0] != "FCALL":
            send(connection, *words, **how)
            return
        connection.disconnect()
        raise redis.ConnectionError("Broken pipe")

    with Redis.from_url(redis_server.url) as other:
        connection = redis_script.Connection(other, "x")
        with monkeypatch.context() as patched:
            patched.setattr(AbstractConnection, "send_command", lost)
            answer = connection.send("status", *terms, 3, 1)
        assert Awaited(answer).result() == Status.RELEVANT
