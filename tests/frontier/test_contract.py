"""What every frontier promises."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Protocol

import pytest

from lswc.frontier.rules.contract import FrontierError
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.outcomes import Outcome
from lswc.strategy import (
    GUESS,
    REQUISITE,
    SEED,
    Anchor,
    Facts,
    Locality,
    PageLanguage,
    Status,
    encode,
    strategy,
)
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.strategy import Strategy


def code(referrer: PageLanguage, distance: int = 1) -> int:
    return encode(
        Facts(
            referrer,
            distance,
            Status.RELEVANT,
            Status.UNVISITED,
            Locality.ELSEWHERE,
            False,
            Anchor.NONE,
            False,
        )
    )


def offer(url: str, code: int = SEED) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, code, PageLanguage.TARGET, 0)


class Open(Protocol):
    def __call__(self, spec: str = ..., language: str = ...) -> Frontier: ...


def sqlite(path: Path, strategy: Strategy, identity: dict[str, str]) -> Frontier:
    return Frontier(path / "frontier.db", strategy, identity)


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as stack:

        def opened(spec: str = "soft_focused", language: str = "th") -> Frontier:
            store = sqlite(tmp_path, strategy(spec), {"language": language})
            return stack.enter_context(closing(store))

        yield opened


RELEVANT, OTHER = code(PageLanguage.TARGET), code(PageLanguage.OTHER, 2)


def visit(f: Frontier, relevant: bool, *offers: Offer, now: float = 0.0) -> str:
    lease = f.lease(now)
    assert lease is not None
    assert f.commit(ended(lease, relevant=relevant, offers=offers))
    return lease.url


def test_best_tier_first_then_first_in_first_out(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    links = [("http://a/1", OTHER), ("http://b/1", RELEVANT), ("http://c/1", RELEVANT)]
    visit(f, True, *(offer(u, c) for u, c in links))
    assert [visit(f, False) for _ in range(3)] == ["http://b/1", "http://c/1", "http://a/1"]
    assert f.lease(0) is None
    assert f.counts().tally["finished"] == {"html": 4}


def test_rediscovery_takes_the_better_tier_and_keeps_its_place(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    visit(f, True, offer("http://a/1", OTHER), offer("http://b/1", RELEVANT))
    visit(f, True, offer("http://a/1", RELEVANT), offer("http://c/1", RELEVANT))
    assert [visit(f, False) for _ in range(2)] == ["http://a/1", "http://c/1"]


def test_a_url_that_gets_a_better_tier_at_once_leaves_the_next_of_its_line_to_be_leased(
    frontier: Open,
) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    urls = [offer("http://a/1", OTHER), offer("http://a/1", RELEVANT), offer("http://a/2", OTHER)]
    visit(f, True, *urls)
    assert [visit(f, False) for _ in range(2)] == ["http://a/1", "http://a/2"]


def test_a_page_may_link_to_a_new_server_twice_by_links_of_two_kinds(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    links = [("http://a/1", OTHER), ("http://b/1", OTHER), ("http://a/1", RELEVANT)]
    visit(f, True, *(offer(u, c) for u, c in links))
    assert [visit(f, False) for _ in range(2)] == ["http://a/1", "http://b/1"]
    assert f.lease(0) is None
    assert f.unfinished == 0


def test_one_outstanding_request_a_server_and_the_delay(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("http://a/2"), offer("http://b/1")])
    first, second = f.lease(10.0), f.lease(10.5)
    assert first is not None
    assert second is not None
    assert (first.url, second.url) == ("http://a/1", "http://b/1")
    assert f.lease(20.0) is None
    f.commit(ended(first, rest=2.0))
    assert f.next_ready() == 12.0
    assert f.lease(11.9) is None
    third = f.lease(12.0)
    assert third is not None
    assert third.url == "http://a/2"


def test_an_irrelevant_server_loses_its_queue(frontier: Open) -> None:
    f = frontier("server_aggressive:T=1")
    f.offer([offer("http://s/")])
    visit(f, True, *(offer(f"http://a/{i}", RELEVANT) for i in range(5)))
    assert [visit(f, False) for _ in range(2)] == ["http://a/0", "http://a/1"]
    assert f.lease(0) is None
    assert f.counts().tally["discarded"] == {"server became irrelevant": 3}
    assert f.counts().servers == {"relevant": 1, "irrelevant": 1}


def test_an_irrelevant_directory_loses_its_queue(frontier: Open) -> None:
    f = frontier("directory_conservative:T=0")
    f.offer([offer("http://s/")])
    urls = ["http://a/x/1", "http://a/x/2", "http://b/y/1"]
    found = [offer(u, RELEVANT)._replace(unit=u[7:11]) for u in urls]
    visit(f, True, *found)
    assert [visit(f, False) for _ in range(2)] == [urls[0], urls[2]]
    assert f.lease(0) is None


def test_a_server_found_relevant_promotes_its_queue(frontier: Open) -> None:
    f = frontier("lswc:S=3,T=5")
    f.offer([offer("http://s/")])
    urls = ["http://a/1", "http://b/1", "http://a/2"]
    visit(f, True, *(offer(u, RELEVANT) for u in urls))
    assert [visit(f, u == urls[0]) for u in (urls[0], urls[2], urls[1])] == [
        "http://a/1",
        "http://a/2",
        "http://b/1",
    ]


def test_committing_twice_counts_once(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    lease = f.lease(0)
    assert lease is not None
    assert f.commit(ended(lease, "timeout"))
    assert not f.commit(ended(lease))
    assert f.counts().tally["finished"] == {"timeout": 1}


def test_what_was_leased_is_pending_again_after_reopening(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("http://b/1")])
    assert f.lease(0) is not None
    f.close()
    f = frontier()
    assert (f.pending, visit(f, True), visit(f, True)) == (2, "http://a/1", "http://b/1")


def test_another_crawls_frontier_is_refused(frontier: Open) -> None:
    frontier().close()
    with pytest.raises(FrontierError, match="language 'th', not 'lo'"):
        frontier(language="lo")


def test_unfinished_counts_what_is_pending_or_leased(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("http://b/1")])
    lease = f.lease(0)
    assert lease is not None
    assert (f.pending, f.unfinished, f.servers) == (1, 2, 2)
    f.commit(ended(lease))
    assert (f.pending, f.unfinished) == (1, 1)


def test_a_lease_carries_what_was_offered(frontier: Open) -> None:
    f = frontier("directory_conservative:T=1")
    f.offer([offer("http://s/")])
    url = "http://ไทย.example/d/e"
    found = Offer(url, "xn--o3cw4h.example", "x/d/", RELEVANT, PageLanguage.ENGLISH, 70_000, 3)
    visit(f, True, found)
    lease = f.lease(0)
    assert lease is not None
    assert (lease.url, lease.server, lease.unit) == found[:3]
    assert (lease.code, lease.inherited, lease.redirects) == (RELEVANT, PageLanguage.ENGLISH, 3)
    assert lease.referrer == "http://s/"


def test_the_record_files_length_is_kept(frontier: Open) -> None:
    f = frontier()
    assert f.lengths() == {}
    f.offer([offer("http://a/1")])
    lease = f.lease(0)
    assert lease is not None
    f.commit(ended(lease), {"pages.jsonl": 1234})
    f.close()
    assert frontier().lengths() == {"pages.jsonl": 1234}


def test_a_server_rests_as_long_as_its_visit_says(frontier: Open) -> None:
    f = frontier()
    f.offer([offer(f"http://a/{n}") for n in range(3)])
    first = f.lease(10.0)
    assert first is not None
    f.commit(ended(first, rest=7.0))
    assert f.lease(16.9) is None
    second = f.lease(17.0)
    assert second is not None
    f.commit(ended(second, "near-duplicates on server", rest=0.0))
    assert f.lease(17.0) is not None


def test_a_url_that_is_given_back_is_handed_out_again_when_its_server_has_rested(
    frontier: Open,
) -> None:
    f = frontier()
    f.offer([offer(f"http://a/{n}") for n in range(2)] + [offer("http://b/")])
    first = f.lease(10.0)
    assert first is not None
    assert f.give_back(ended(first, rest=7.0))
    assert not f.give_back(ended(first, rest=0.0)), "it has ended"
    assert f.pending == f.unfinished == 3
    other = f.lease(10.0)
    assert other is not None
    assert other.url == "http://b/"
    assert f.lease(16.9) is None
    again = f.lease(17.0)
    assert again is not None
    assert again.url == first.url
    assert f.commit(ended(again))
    assert not f.commit(ended(first, rest=2.0))
    assert (f.pending, f.counts().tally["finished"]) == (1, {"html": 1})


def test_http_and_https_twins_are_one_url(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("https://a/1"), offer("https://a/2"), offer("http://a/2")])
    assert [visit(f, True, offer("https://a/1")) for _ in range(2)] == ["http://a/1", "https://a/2"]
    assert f.lease(0) is None


def test_a_redirect_may_lead_back_to_its_https_twin_once(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/")])
    back = offer("https://a/")._replace(redirects=2)
    for url, target in (("http://a/", "http://www.a/"), ("http://www.a/", "https://a/"),
                        ("https://a/", "http://a/")):  # fmt: skip
        lease = f.lease(0)
        assert lease is not None
        assert lease.url == url
        f.offer([back, offer("https://a/")])  # nothing new while it isn't finished, or by a link
        there = offer(target)._replace(redirects=lease.redirects + 1)
        assert f.commit(ended(lease, Outcome.REDIRECT, offers=[there]))
    f.offer([back])
    assert f.lease(0) is None
    assert f.counts().tally["finished"] == {Outcome.REDIRECT: 3}


def test_a_url_that_is_postponed_comes_back_when_it_is_due(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("http://b/1")])
    first = f.lease(10.0)
    assert first is not None
    assert f.postpone(ended(first, "timeout"), 70.0, {"pages.jsonl": 5})
    assert not f.postpone(ended(first, "timeout"), 70.0)
    assert not f.commit(ended(first))
    assert (f.pending, f.later, f.unfinished, f.next_due()) == (2, 1, 2, 70.0)
    assert f.counts().tally["postponed"] == {"timeout": 1}
    assert f.lengths() == {"pages.jsonl": 5}
    assert visit(f, True, now=10.0) == "http://b/1"
    assert f.lease(69.9) is None
    again = f.lease(70.0)
    assert again is not None
    assert (again.url, again.tries, again.token != first.token) == ("http://a/1", 1, True)
    assert not f.commit(ended(first)), "the first lease ended it again"
    assert f.commit(ended(again))
    assert f.counts().tally == {"finished": {"html": 2}}
    assert (f.unfinished, f.next_due()) == (0, None)


def test_a_link_to_a_url_that_is_postponed_adds_nothing(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1")])
    first = f.lease(0.0)
    assert first is not None
    f.postpone(ended(first, "status 503"), 5.0)
    f.offer([offer("http://a/1"), offer("https://a/1")])
    assert f.lease(0.0) is None
    assert f.lease(5.0) is not None
    assert f.unfinished == 1


def test_a_url_that_comes_back_takes_the_better_tier_though_links_to_it_added_nothing(
    frontier: Open,
) -> None:
    f = frontier()
    f.offer([offer("http://a/1", OTHER)])
    first = f.lease(0.0)
    assert first is not None
    f.postpone(ended(first, "status 503"), 5.0)
    for _ in range(3):
        f.offer([offer("http://a/1", OTHER), offer("http://a/1", RELEVANT)])
    f.offer([offer("http://b/1")])
    assert visit(f, False, now=5.0) == "http://b/1"  # and the other waits again
    f.offer([offer("http://c/1", RELEVANT), offer("http://a/1", RELEVANT)])
    assert [visit(f, False, now=5.0) for _ in range(2)] == ["http://a/1", "http://c/1"]


def test_what_was_found_often_and_discarded_may_come_again(frontier: Open) -> None:
    f = frontier("server_aggressive:T=0")
    f.offer([offer("http://a/1"), offer("http://a/seed"), *[offer("http://a/2", OTHER)] * 3])
    f.offer([offer("http://a/2", OTHER)])
    assert visit(f, False) == "http://a/1"
    assert f.unfinished == 1, "the server's links were to be discarded"
    assert visit(f, True, offer("http://a/2", OTHER)) == "http://a/seed"
    assert visit(f, True) == "http://a/2"


def test_a_stopped_crawl_tries_at_once_what_was_postponed(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1")])
    lease = f.lease(0.0)
    assert lease is not None
    f.postpone(ended(lease, "timeout"), 1e6)
    f.close()
    again = frontier().lease(1.0)
    assert again is not None
    assert again.tries == 1


def test_a_url_that_is_given_back_leaves_no_trace(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://a/1"), offer("http://a/2")])
    first = f.lease(10.0)
    assert first is not None
    assert f.give_back(ended(first, "timeout", rest=2.0))
    assert not f.give_back(ended(first, rest=2.0))
    assert not f.commit(ended(first, rest=2.0))
    assert (f.pending, f.unfinished, f.counts().tally) == (2, 2, {})
    assert f.lease(11.9) is None
    again = f.lease(12.0)
    assert again is not None
    assert (again.url, again.tries) == ("http://a/1", 0)


def test_what_failed_is_pending_again_if_that_is_wanted(frontier: Open) -> None:
    f = frontier()
    urls = ["http://a/1", "http://b/1", "http://c/1"]
    f.offer([offer(url) for url in urls])
    for outcome in ("status 503", "status 404", "timeout"):
        lease = f.lease(0.0)
        assert lease is not None
        f.commit(ended(lease, outcome))
    f.offer([offer(url) for url in urls])
    assert f.unfinished == 0
    assert f.retry(["status 503", "timeout"]) == 2
    assert f.counts().tally == {
        "finished": {"status 404": 1}, "postponed": {"status 503": 1, "timeout": 1}
    }  # fmt: skip
    assert {visit(f, True), visit(f, True)} == {"http://a/1", "http://c/1"}
    assert f.counts().tally == {"finished": {"html": 2, "status 404": 1}}
    assert f.retry(["status 503", "timeout"]) == 0


def requisite(url: str) -> Offer:
    return offer(url, REQUISITE)


def taken(f: Frontier, now: float = 0.0, *offers: Offer) -> str:
    lease = f.lease_requisite(now)
    assert lease is not None
    assert lease.is_requisite
    assert lease.tier is None
    assert f.commit(ended(lease, "requisite", offers=offers))
    return lease.url


@pytest.mark.parametrize("spec", ["soft_focused", "adaptive", "directory_conservative:T=0"])
def test_requisites_wait_in_a_queue_of_their_own(frontier: Open, spec: str) -> None:
    f = frontier(spec)
    f.offer([offer("http://s/")])
    found = [requisite("http://s/a.css"), requisite("http://cdn/b.png"), requisite("http://s/c.js")]
    visit(f, True, offer("http://a/1", RELEVANT), *found, requisite("https://s/a.css"))
    assert sum(cell.pending for cell in f.cells()) == sum(f.counts().pending.values()) == 1
    assert (f.counts().requisites, f.pending, f.unfinished) == (3, 4, 4)
    assert visit(f, False) == "http://a/1"
    assert f.lease(0) is None
    cells = f.cells()
    assert [taken(f) for _ in range(3)] == [o.url for o in found]
    assert f.lease_requisite(0) is None
    assert f.counts().tally["finished"] == {"requisite": 3, "html": 2}
    assert f.unfinished == f.requisites == 0
    assert f.cells() == cells


def test_what_pages_may_need_comes_last_and_is_one_file_with_what_they_need(
    frontier: Open,
) -> None:
    f = frontier("adaptive")
    f.offer([offer("http://s/")])
    guesses = [offer(f"http://s/{name}.js", GUESS) for name in "abcd"]
    visit(f, True, *guesses[:3], requisite("http://s/d.js"), requisite("http://cdn/e.js"))
    assert (f.requisites, f.counts().requisites, f.cells()) == (5, 5, f.cells())
    assert sum(cell.pending for cell in f.cells()) == 0
    assert taken(f) == "http://s/d.js"
    # What was a guess is needed after all; what was asked for isn't guessed again.
    first = taken(f, 0.0, requisite("http://s/c.js"), guesses[3])
    assert {first, taken(f)} == {"http://cdn/e.js", "http://s/c.js"}
    assert [taken(f), taken(f)] == ["http://s/a.js", "http://s/b.js"]
    assert f.lease_requisite(0) is None
    assert f.unfinished == f.requisites == 0


def test_a_page_and_a_requisite_may_have_one_url(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    visit(f, True, requisite("http://a/1"), offer("http://a/1", RELEVANT))
    assert taken(f) == visit(f, True, requisite("http://a/1")) == "http://a/1"
    assert f.unfinished == 0


def test_a_requisite_waits_for_its_server_and_keeps_it_busy(frontier: Open) -> None:
    f = frontier()
    f.offer([requisite("http://a/1"), requisite("http://a/2"), offer("http://a/")])
    first = f.lease_requisite(10.0)
    assert first is not None
    assert f.lease(10.0) is f.lease_requisite(10.0) is None
    f.commit(ended(first, "requisite", rest=2.0))
    assert f.lease(11.9) is f.lease_requisite(11.9) is None
    assert visit(f, True, now=12.0) == "http://a/"
    assert taken(f, 14.0) == "http://a/2"


def test_requisites_of_an_irrelevant_server_stay(frontier: Open) -> None:
    f = frontier("server_aggressive:T=0")
    f.offer([offer("http://a/0"), requisite("http://a/x"), offer("http://a/1", RELEVANT)])
    visit(f, False)
    assert f.lease(0) is None
    assert taken(f) == "http://a/x"


def test_a_requisite_that_was_leased_or_postponed_is_not_lost(frontier: Open) -> None:
    f = frontier()
    f.offer([requisite("http://a/1"), requisite("http://b/1")])
    first, second = f.lease_requisite(0.0), f.lease_requisite(0.0)
    assert first is not None
    assert second is not None
    assert f.give_back(ended(first))
    assert f.postpone(ended(second, Outcome.TIMEOUT), 5.0)
    f.close()
    f = frontier()
    assert f.counts().requisites + f.later == 2
    assert f.lease(6.0) is None
    assert {taken(f, 6.0), taken(f, 6.0)} == {"http://a/1", "http://b/1"}


def test_a_lost_requisite_waits_again_as_such_and_a_lost_page_as_a_page(frontier: Open) -> None:
    f = frontier()
    f.offer([offer("http://s/")])
    lost = requisite("http://cdn/lost.png")
    visit(f, True, offer("http://a/lost", RELEVANT), lost, requisite("http://cdn/kept.png"))
    visit(f, True)
    assert [taken(f), taken(f)] == ["http://cdn/lost.png", "http://cdn/kept.png"]
    assert f.reopen(["http://a/lost", lost.url], {"log/1.jsonl": 7}) == 2
    assert (f.pending, f.requisites, f.lengths()) == (2, 1, {"log/1.jsonl": 7})
    f.offer([lost])
    f.close()
    f = frontier()
    assert (f.unfinished, f.counts().requisites) == (2, 1)
    assert visit(f, True) == "http://a/lost"
    assert f.lease(0) is None
    assert taken(f) == lost.url
    assert f.lease_requisite(0) is None
    assert f.unfinished == 0


def test_servers_that_are_wanted_come_first(frontier: Open) -> None:
    f = frontier()
    f.offer([offer(url) for url in ("http://a/1", "http://b/1", "http://c/1", "http://c/2")])
    assert sorted(f.server_names()) == ["a", "b", "c"]
    wanted = ["none", "c", "b"]
    first, second = f.lease_among(wanted, 1.0), f.lease_among(wanted, 1.0)
    assert first is not None
    assert second is not None
    assert (first.url, second.url) == ("http://c/1", "http://b/1")
    assert f.lease_among(wanted, 1.0) is None, "its only other URL is of a busy server"
    assert f.commit(ended(first, rest=2.0))
    assert f.lease_among(["c"], 2.9) is None, "it rests"
    third = f.lease_among(["c"], 3.1)
    assert third is not None
    assert third.url == "http://c/2"
    other = f.lease(3.1)
    assert other is not None
    assert other.url == "http://a/1"


@pytest.mark.parametrize("spec", ["adaptive", "directory_conservative:T=1"])
def test_servers_are_named_whatever_the_strategy_counts_by(frontier: Open, spec: str) -> None:
    f = frontier(spec)
    offers = [offer(f"http://{server}/x/1") for server in ("a.co.th", "b.a.co.th:81")]
    folder = "/x/" if spec.startswith("directory") else ""
    f.offer([found._replace(unit=found.server + folder) for found in offers])
    assert sorted(f.server_names()) == ["a.co.th", "b.a.co.th:81"]
    assert f.servers == 2


def test_what_is_allowed_again_is_pending_again(frontier: Open) -> None:
    f = frontier()
    seeds = [f"http://{name}/1" for name in "abcd"]
    f.offer([offer(url) for url in seeds])
    for outcome in ("blocked", "blocked", "paused", "timeout"):
        lease = f.lease(1.0)
        assert lease is not None
        if outcome == "blocked":
            assert f.commit(ended(lease, outcome))
        else:
            assert f.postpone(ended(lease, outcome), 1e9)
    assert f.lease(2.0) is None
    asked: dict[str, int] = {}

    def wanted(url: str, depth: int) -> bool:
        asked[url] = depth
        return url != "http://a/1"

    assert f.retry(["blocked", "paused"], wanted) == 2
    assert asked == dict.fromkeys(seeds[:3], 0)
    assert f.counts().tally == {
        "finished": {"blocked": 1}, "postponed": {"blocked": 1, "paused": 1, "timeout": 1}
    }  # fmt: skip
    leases = [f.lease(3.0), f.lease(3.0)]
    assert {(lease.url, lease.tries) for lease in leases if lease} == {
        ("http://b/1", 0), ("http://c/1", 0)
    }  # fmt: skip
    assert f.lease(3.0) is None
    assert f.later == 1
    assert f.retry(["blocked", "paused"], lambda url, depth: False) == 0
    assert f.retry(["blocked"]) == 1
