"""Twins of servers, and parameters that change nothing: what is evidence, and what isn't."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.guest.learned import FILE, Learned
from lswc.guest.twins import ALIKE, CONFIRMED, PAIRS, VALUES, Twins
from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import simhash
from lswc.urls import Url, parse
from tests.scenarios.site import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def learned(tmp_path: Path) -> Iterator[Learned]:
    made = Learned(tmp_path / FILE)
    yield made
    made.close()


@pytest.fixture
def twins(learned: Learned) -> Twins:
    return Twins(learned)


def url(address: str) -> Url:
    parsed = parse(f"http://{address}")
    assert parsed is not None
    return parsed


def text(seed: object) -> int:
    return simhash(words(seed))


def show(twins: Twins, one: str, other: str, *paths: str, seed: str = "") -> None:
    for path in paths:
        twins.shown(url(other + path), text(seed or path), one)


def give_way(twins: Twins, copy: Url, main: Url, shown: object) -> None:
    """Let a copy, and then what counts for it, show texts."""
    twins.canonicals.shown(copy, text(1), main, lambda url: True)
    twins.canonicals.shown(main, text(shown), None, lambda url: True)


def bound(twins: Twins) -> None:
    show(twins, "a.example", "www.a.example", "/1", "/2")
    assert twins.servers == {"www.a.example": "a.example"}


def test_two_names_of_a_site_need_two_pages_alike(twins: Twins, learned: Learned) -> None:
    show(twins, "a.example", "www.a.example", "/1")
    assert twins.is_empty
    show(twins, "a.example", "www.a.example", "/2")
    assert twins.canonical(url("www.a.example/3?x=1")) == url("a.example/3?x=1")
    assert Twins(learned).servers == twins.servers, "also in another run"


def test_a_mirror_needs_three(twins: Twins) -> None:
    show(twins, "a.example", "b.example", "/1", "/2")
    assert twins.is_empty
    show(twins, "a.example", "b.example", "/3")
    assert twins.canonical(url("b.example/")) == url("a.example/")


def test_pages_that_are_all_alike_say_nothing(twins: Twins) -> None:
    show(twins, "a.example", "www.a.example", *(f"/{n}" for n in range(9)), seed="not found")
    for number in range(9):
        twins.shown(url(f"b.example/{number}"), simhash(""), "a.example")
    assert twins.is_empty


def test_a_canonical_url_elsewhere_needs_the_same_text_once(twins: Twins) -> None:
    twins.named(url("mirror.org/1"), url("a.example/1"), redirects=False)
    assert twins.is_empty
    show(twins, "a.example", "mirror.org", "/1")
    assert twins.servers == {"mirror.org": "a.example"}


def test_it_leads_to_the_name_that_it_says(twins: Twins) -> None:
    twins.named(url("mirror.org/1"), url("a.example/1"), redirects=False)
    show(twins, "mirror.org", "a.example", "/1")
    assert twins.servers == {"mirror.org": "a.example"}


def test_wrong_canonical_urls_say_nothing(twins: Twins) -> None:
    for number in range(9):
        twins.named(url(f"www.a.example/{number}"), url("a.example/"), redirects=False)
    assert twins.is_empty


def test_redirects(twins: Twins) -> None:
    twins.named(url("shop.a.example/"), url("a.example/"), redirects=True)
    twins.named(url("b.example/1"), url("c.example/2"), redirects=True)
    twins.named(url("b.example/2"), url("c.example/1"), redirects=True)
    assert twins.is_empty
    twins.named(url("a.example/"), url("www.a.example/"), redirects=True)
    assert twins.servers == {"a.example": "www.a.example"}
    for path in ("/1", "/2"):
        twins.named(url(f"old.org{path}"), url(f"a.example{path}"), redirects=True)
    assert twins.main("old.org") == "www.a.example"


def test_a_redirect_the_other_way_round_counts_more(twins: Twins) -> None:
    bound(twins)
    twins.named(url("a.example/"), url("www.a.example/"), redirects=True)
    assert twins.servers == {"a.example": "www.a.example"}


def test_names_never_lead_round(twins: Twins) -> None:
    names = ["a.example", "b.example", "c.example"]
    for one, other in zip(names, [*names[1:], names[0]], strict=True):
        for path in ("/1", "/2"):
            twins.named(url(one + path), url(other + path), redirects=True)
    assert len({twins.main(name) for name in names}) == 1
    twins.servers.update({"a.example": "b.example", "b.example": "a.example"})  # of a torn file
    assert twins.main("a.example")


def test_what_one_of_them_has_not_is_asked_of_the_other(twins: Twins) -> None:
    bound(twins)
    first, other = url("a.example/only"), url("www.a.example/only")
    assert twins.of_missing(first) == other
    assert twins.instead(other, first.href) is None
    assert twins.instead(other, None) is None, "whoever led to it"
    assert twins.of_missing(url("c.example/")) is None


def test_samples_tell_twins_that_part(twins: Twins) -> None:
    bound(twins)
    parted: list[bool] = []
    twins.parted = lambda: parted.append(True)
    asked = [n for n in range(1, 99) if not twins.instead(url(f"www.a.example/{n}"), None)]
    assert asked == [1, 2, 4, 8, 16, 32, 64]
    for number in (1, 2):
        assert not parted
        copy = url(f"www.a.example/{number}")
        give_way(twins, copy, url(f"a.example/{number}"), "another")
    assert parted
    assert twins.is_empty
    show(twins, "a.example", "www.a.example", "/5", "/6", "/7")
    assert twins.is_empty, "for good"


def test_links_are_by_the_name_that_counts_once_samples_confirm_it(twins: Twins) -> None:
    bound(twins)
    link = url("www.a.example/x")
    for number in range(CONFIRMED):
        assert twins.link(link) == link
        copy = url(f"www.a.example/s{number}")
        give_way(twins, copy, url(f"a.example/s{number}"), 1)
    links = [twins.link(url(f"www.a.example/{number}")) for number in range(99)]
    assert 80 < sum(found.server == "a.example" for found in links) < 99, "but for some samples"


def test_one_sample_that_is_other_is_followed_by_the_next(twins: Twins) -> None:
    bound(twins)
    asked = [n for n in range(1, 20) if not twins.instead(url(f"www.a.example/{n}"), None)]
    assert asked == [1, 2, 4, 8, 16]
    give_way(twins, url("www.a.example/x"), url("a.example/x"), "another")
    assert twins.instead(url("www.a.example/y"), None) is None
    give_way(twins, url("www.a.example/y"), url("a.example/y"), 1)
    assert twins.instead(url("www.a.example/z"), None) == url("a.example/z"), "it was one page"


def test_the_url_that_counts_for_a_page(twins: Twins) -> None:
    one = url("www.a.example/1?x=1")
    assert twins.own(one, None) is None
    assert twins.own(one, one) is None
    assert twins.own(one, url("other.example/1")) is None, "of another site"
    assert twins.own(one, parse("https://www.a.example/1?x=1")) is None, "both are one"
    assert twins.own(one, url("a.example/2")) == url("a.example/2")
    bound(twins)
    assert twins.own(one, None) == url("a.example/1?x=1")
    assert twins.own(one, url("www.a.example/2")) == url("a.example/2")
    twins.of_missing(url("a.example/2"))
    assert twins.own(one, url("www.a.example/2")) is None, "it isn't there"


def runs(file: Path, *parts: Callable[[Twins], None]) -> Twins:
    """Let each part happen in a run of its own; return what the last knows."""
    for part in parts:
        learned = Learned(file)
        twins = Twins(learned)
        part(twins)
        learned.close()
    return twins


def test_what_is_too_little_yet_outlives_a_restart(tmp_path: Path) -> None:
    def alike(number: int) -> Callable[[Twins], None]:
        return lambda twins: show(twins, "a.example", "www.a.example", f"/{number}")

    def led(path: str) -> Callable[[Twins], None]:
        old, new = url(f"old.org/{path}"), url(f"a.example/{path}")
        return lambda twins: twins.named(old, new, redirects=True)

    def token(number: int) -> Callable[[Twins], None]:
        return lambda twins: session(twins, number, f"zk=a9f3{number}77bc0")

    def sampled(number: int, shown: object = 1) -> Callable[[Twins], None]:
        copy, main = url(f"www.a.example/s{number}"), url(f"a.example/s{number}")
        return lambda twins: give_way(twins, copy, main, shown)

    file = tmp_path / FILE
    assert runs(file, alike(1), alike(2)).servers == {"www.a.example": "a.example"}
    assert runs(file, led("1"), led("2")).servers["old.org"] == "a.example"
    assert runs(file, *map(token, range(VALUES))).parameters
    link = url("www.a.example/x")
    asked: list[Url | None] = []
    for _ in range(9):
        runs(file, lambda twins: asked.extend(twins.instead(link, None) for _ in range(2)))
    assert asked.count(None) == 3, "as in one run: the first, second and fourth"
    assert runs(file, *map(sampled, range(CONFIRMED))).link(link) != link
    assert not runs(file, sampled(97, "x"), sampled(98, "y")).servers.get("www.a.example")


def test_what_was_recorded_is_evidence_in_the_next_run(twins: Twins) -> None:
    twins.load([("http://a.example/1", text("/1")), ("http://b.example/2", text("/2"))])
    assert list(twins.places.values()) == ["a.example", "b.example"]
    said = twins.canonicals.shown(url("a.example/3"), text("/1"), url("a.example/1"), never)
    assert said == (Outcome.COPY, url("a.example/1"))


def never(url: Url) -> bool:
    return False


def test_too_many_pairs_are_forgotten(twins: Twins, learned: Learned) -> None:
    for number in range(PAIRS + 1):
        twins.named(url(f"{number}.example/1"), url(f"b{number}.example/1"), redirects=False)
    assert len(learned.keys("seen alike")) == 1


def session(twins: Twins, number: int, query: str, more: str = "") -> None:
    links = [url(f"a.example/{n}?{query}") for n in range(10)]
    twins.visited(url(f"a.example/p{number}"), [*links, *([url(more)] if more else [])])


def test_a_parameter_with_another_token_on_each_page_is_left_out(twins: Twins) -> None:
    for number in range(VALUES):
        assert twins.is_empty
        session(twins, number, f"zk=a9f3{number}77bc0&x=1", "a.example/about")
    assert twins.canonical(url("a.example/1?zk=0123456789abcdef&x=1")) == url("a.example/1?x=1")
    assert twins.canonical(url("b.example/1?zk=0123456789abcdef")).query


def test_a_session_in_the_path_is_left_out(twins: Twins) -> None:
    for number in range(VALUES):
        links = [url(f"a.example/{n};q=a9f3{number}77bc0;x=1/y") for n in range(10)]
        twins.visited(url(f"a.example/p{number}"), links)
    assert twins.canonical(url("a.example/1;q=0a1b2c3d4e;x=1/y?q=2")) == url(
        "a.example/1;x=1/y?q=2"
    )
    assert twins.canonical(url("a.example/1;x=1")) == url("a.example/1;x=1")


@pytest.mark.parametrize(
    "query", ["lang=th", "zk=a9f30077bc0", "page=%d", "id=1234%d", "q=กขค%d", "%d", ""]
)
def test_other_parameters_stay(twins: Twins, query: str) -> None:
    for number in range(9):
        session(twins, number, query % number if "%d" in query else query)
    assert twins.is_empty


def test_a_parameter_that_only_copies_have_is_left_out(twins: Twins) -> None:
    for number in range(VALUES):
        assert twins.is_empty
        main, copy = url(f"a.example/{number}?id=1"), url(f"a.example/{number}?id=1&view=list")
        give_way(twins, copy, main, 1)
    assert twins.parameters == {"a.example": {"view": ""}}


def test_a_canonical_url_with_another_value_leaves_nothing_out(twins: Twins) -> None:
    for number in range(9):
        main, copy = url(f"a.example/{number}?page=1"), url(f"a.example/{number}?page=2")
        give_way(twins, copy, main, 1)
    assert twins.is_empty


def test_a_parameter_that_a_server_puts_back_counts_by_that_value(twins: Twins) -> None:
    for number in range(VALUES):
        session(twins, number, f"zk=a9f3{number}77bc0&x=1")
    twins.named(url("a.example/1?x=1"), url("a.example/2?x=1"), redirects=True)
    assert twins.parameters == {"a.example": {"zk": ""}}
    for value in ("0a1b2c3d", "4e5f6a7b"):  # the second as the first was ended
        before = twins.canonical(url("a.example/1?zk=x&x=1"))
        twins.named(before, url(f"a.example/1?zk={value}&x=1"), redirects=True)
        now = twins.canonical(url("a.example/3?zk=99887766&x=1"))
        assert now == url(f"a.example/3?zk={value}&x=1")
        assert twins.instead(now, None) is None


def test_a_parameter_that_is_another_in_each_redirect_is_left_in(twins: Twins) -> None:
    parted: list[bool] = []
    twins.parted = lambda: parted.append(True)
    for number in range(VALUES):
        session(twins, number, f"zk=a9f3{number}77bc0&x=1")
    for number in range(9):
        asked = twins.canonical(url("a.example/1?zk=x&x=1"))
        twins.named(asked, url(f"a.example/1?zk=0a1b2c3d{number}&x=1"), redirects=True)
    assert parted == [True]
    for number in range(VALUES):
        session(twins, number, f"zk=b9f3{number}77bc0&x=1")
    assert twins.is_empty


def test_a_session_in_a_folder_is_that_of_all_pages(twins: Twins) -> None:
    for number in range(VALUES):
        links = [url(f"a.example/(X(1)S(a9f3{number}77bc0))/{n}") for n in range(10)]
        twins.visited(url(f"a.example/p{number}"), links)
    assert twins.canonical(url("a.example/(S(0a1b2c3d4e))/x")) == url("a.example/x")
    one = url("a.example/(S(0a1b2c3d4e))/x")
    twins.named(url("a.example/x"), one, redirects=True)
    assert twins.canonical(one) == one
    assert twins.canonical(url("a.example/(S(1a2b3c4d5e))/y")).path == "/(S(0a1b2c3d4e))/y"
    assert twins.canonical(url("a.example/(about)/y")).path == "/(about)/y"


def shown(twins: Twins, number: int, value: str, seed: object, of: str = "ref") -> None:
    twins.values(url(f"a.example/{number}?id=1&{of}={value}"), text(seed))


def test_a_parameter_with_which_pages_show_the_same_is_left_out(twins: Twins) -> None:
    for number in range(ALIKE):
        assert twins.is_empty
        for value in ("%2Fa", "%2Fb"):
            shown(twins, number, value, number)
    assert twins.canonical(url("a.example/9?id=1&ref=%2Fc")) == url("a.example/9?id=1")


def test_one_page_with_another_text_says_that_a_parameter_matters(twins: Twins) -> None:
    for number in range(9):
        for value in "ab":
            shown(twins, number, value, value if number == ALIKE - 2 else number)
    for number in range(9):
        for value in "ab":
            shown(twins, number, value, "the same everywhere", of="id2")
    assert twins.is_empty


def test_a_parameter_that_turns_out_to_matter_is_left_in(twins: Twins) -> None:
    parted: list[bool] = []
    twins.parted = lambda: parted.append(True)
    for number in range(ALIKE):
        for value in "ab":
            shown(twins, number, value, number)
    asked = [n for n in range(1, 20) if not twins.instead(url(f"a.example/{n}?ref=c"), None)]
    assert asked == [1, 2, 4, 8, 16]
    for number in (1, 2):
        assert not parted
        copy = url(f"a.example/{number}?ref=c")
        assert twins.own(copy, None) == url(f"a.example/{number}")
        give_way(twins, copy, url(f"a.example/{number}"), "another")
    assert parted
    assert twins.is_empty
