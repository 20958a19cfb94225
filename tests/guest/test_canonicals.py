"""Canonical URLs: asked for first, and believed as far as they show the same."""

from __future__ import annotations

from contextlib import closing
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.guest.canonicals import (
    ALIKE,
    REMEMBERED,
    UNTRIED,
    WRONG,
    Canonicals,
    forget_half,
)
from lswc.guest.learned import FILE, Learned
from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import simhash
from tests.guest.test_twins import text, url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lswc.urls import Url


@pytest.fixture
def learned(tmp_path: Path) -> Iterator[Learned]:
    made = Learned(tmp_path / FILE)
    yield made
    made.close()


def nothing(copy: Url, main: Url, is_same: bool) -> None:
    """Take notice of nothing."""


class Site:
    """Pages of one server: their texts, and the canonical URL that each names; others are missing.

    A URL is asked for once, and once more if it is owed. ``records`` are those that stay.
    """

    def __init__(self, pages: Mapping[str, tuple[object, str]], kept: Learned) -> None:
        self.pages, self.canonicals = pages, Canonicals(kept, nothing)
        self.asked: list[str] = []
        self.records: list[str] = []
        self._known: set[str] = set()
        self._waits: list[str] = []

    def ask(self, *paths: str) -> None:
        """Crawl, from these paths on, until nothing is left."""
        self._waits += [path for path in paths if path not in self._known]
        self._known.update(paths)
        while self._waits:
            self._visit(self._waits.pop(0))
            self._take_owed()
            if not self._waits:
                self.canonicals.release()
                self._take_owed()

    def _take_owed(self) -> None:
        self._waits += [owed.removeprefix("http://a.example") for owed in self.canonicals.owed]
        self.canonicals.paid()

    def _visit(self, path: str) -> None:
        self.asked.append(path)
        here = url(f"a.example{path}")
        if path not in self.pages:
            self.canonicals.ended(here)
            return
        shown, says = self.pages[path]
        shape = text(shown) if shown else simhash("")
        main = url(f"a.example{says}") if says != path else None
        found = self.canonicals.shown(here, shape, main, self._may_come)
        if found is None:
            self.canonicals.texts[hash(here.href.partition("://")[2])] = shape
            self.records.append(path)
        elif found[0] == Outcome.CANONICAL:
            self._waits += {found[1].path} - self._known
            self._known.add(found[1].path)
        self.canonicals.ended(here)

    def _may_come(self, there: Url) -> bool:
        return there.path not in self.asked or there.path in self._waits


def test_the_canonical_url_is_asked_for_and_recorded(learned: Learned) -> None:
    site = Site({"/copy": (1, "/main"), "/main": (1, "/main"), "/late": (1, "/main")}, learned)
    site.ask("/copy", "/late")
    assert site.records == ["/main"]
    assert site.asked == ["/copy", "/late", "/main"]


@pytest.mark.parametrize(
    ("pages", "records"),
    [
        ({"/1": (1, "/"), "/2": (2, "/"), "/3": (3, "/"), "/": (0, "/")}, 4),  # all to the front
        ({"/1": (1, "/gone"), "/2": (2, "/gone")}, 2),
        ({"/1": (1, "/2"), "/2": (1, "/1")}, 1),  # round
        ({"/1": (1, "/2"), "/2": (1, "/3"), "/3": (1, "/1")}, 1),
        ({"/1": (1, "/2"), "/2": (2, "/1")}, 2),
        ({"/1": (1, "/2"), "/2": (1, "/3"), "/3": (1, "/4"), "/4": (1, "/4")}, 1),  # a chain
        ({"/1": (1, "/2"), "/2": (1, "/3"), "/3": (3, "/3")}, 2),
        ({"/1": (1, "/2"), "/2": (2, "/3"), "/3": (3, "/4")}, 3),
        ({"/1": ("", "/2"), "/2": ("", "/2")}, 2),  # nothing to compare
    ],
)
def test_each_text_has_a_record_whatever_comes_first(
    pages: dict[str, tuple[object, str]], records: int, tmp_path: Path
) -> None:
    for number, order in enumerate([*permutations(pages)][::3] or [pages]):
        with closing(Learned(tmp_path / f"{number}.jsonl")) as kept:
            site = Site(pages, kept)
            site.ask(*order)
        assert len(site.records) == len(set(site.records)) == records, (order, site.asked)
        assert len(site.asked) <= 2 * len(pages) + 1, order


@given(
    st.dictionaries(
        st.sampled_from("abcdef"), st.tuples(st.sampled_from("tuv"), st.sampled_from("abcdefg"))
    ),
    st.permutations("abcdef"),
)
def test_no_text_is_lost(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, tuple[str, str]], order: list[str]
) -> None:
    pages: dict[str, tuple[object, str]] = {f"/{at}": (t, f"/{to}") for at, (t, to) in said.items()}
    with closing(Learned(tmp_path_factory.mktemp("site") / FILE)) as kept:
        site = Site(pages, kept)
        site.ask(*(f"/{path}" for path in order))
        assert not kept.keys("copies")
    assert {pages[path][0] for path in site.records} == {shown for shown, _ in pages.values()}
    assert not site.canonicals.waiting


def test_a_server_that_was_wrong_is_asked_for_no_more_first(learned: Learned) -> None:
    pages: dict[str, tuple[object, str]] = {f"/{n}": (n, f"/gone{n}") for n in range(9)}
    site = Site(pages, learned)
    for path in pages:
        site.ask(path)
    assert len(site.asked) == len(pages) + 2 * WRONG
    assert site.records == list(pages)
    assert not Site(pages, learned).canonicals.shown(
        url("a.example/1"), text(1), url("a.example/x"), lambda url: True
    ), "nor in another run"


def test_it_is_again_once_it_is_right(learned: Learned) -> None:
    pages: dict[str, tuple[object, str]] = {f"/{n}": (n, f"/gone{n}") for n in range(WRONG)}
    pages |= {
        "/copy": ("x", "/main"),
        "/main": ("x", "/main"),
        "/new": ("y", "/own"),
        "/own": ("y", "/own"),
    }
    site = Site(pages, learned)
    for path in ("/0", "/1", "/main", "/copy", "/new"):
        site.ask(path)
    assert site.records == ["/0", "/1", "/main", "/own"]


class Stamped(Site):
    """A server whose pages each name another URL, which shows the same, without end."""

    def __init__(self, kept: Learned) -> None:
        super().__init__({f"/{n}": (n % 7, f"/{n + 7}") for n in range(999)}, kept)


def test_canonical_urls_without_end_are_followed_a_few_steps(learned: Learned) -> None:
    site = Stamped(learned)
    site.ask(*(f"/{n}" for n in range(7)))
    assert len(site.records) == 7
    assert len(site.asked) < 7 * 5
    assert site.canonicals.is_endless("a.example")
    assert Canonicals(learned, nothing).is_endless("a.example"), "in the next run, too"


def test_a_copy_of_a_copy_is_one(learned: Learned) -> None:
    site = Site({"/1": (1, "/2"), "/2": (1, "/3"), "/3": (1, "/3")}, learned)
    site.canonicals.texts[hash("a.example/1")] = text(1)
    site.canonicals.shown(url("a.example/1"), text(1), url("a.example/2"), lambda there: False)
    assert site.canonicals.shown(
        url("a.example/2"), text(1), url("a.example/3"), lambda there: False
    ) == (Outcome.COPY, url("a.example/1"))
    assert site.canonicals.shown(url("a.example/3"), text(1), None, lambda there: False) == (
        Outcome.COPY,
        url("a.example/1"),
    )


def test_what_waits_outlives_a_restart(tmp_path: Path) -> None:
    def run() -> tuple[Learned, Canonicals]:
        kept = Learned(tmp_path / FILE)
        return kept, Canonicals(kept, nothing)

    kept, one = run()
    copies = url("a.example/1"), url("a.example/2")
    main = url("a.example/main")
    for copy in copies:
        assert one.shown(copy, text("x"), main, lambda url: True) == (Outcome.CANONICAL, main)
    kept.close()
    kept, two = run()
    assert two.shown(main, text("x"), copies[0], lambda url: True) is None, "what gave way to it"
    assert not two.waiting
    assert not two.owed
    two.shown(url("a.example/3"), text(3), url("a.example/gone"), lambda url: True)
    kept.close()
    kept, three = run()
    three.ended(url("a.example/gone"))
    assert set(three.owed) == {"http://a.example/3"}
    kept.close()
    kept, four = run()
    assert four.waiting, "as long as it wasn't made due"
    four.release()
    four.paid()
    kept.close()
    kept, five = run()
    assert not five.waiting
    kept.close()


def test_pages_without_number_don_t_wait_for_one(learned: Learned) -> None:
    canonicals, main = Canonicals(learned, nothing), url("a.example/main")
    right = url("a.example/right")
    canonicals.shown(url("a.example/copy"), text("y"), right, lambda url: True)
    canonicals.shown(right, text("y"), None, lambda url: True)
    said = [
        canonicals.shown(url(f"a.example/{n}"), text("x"), main, lambda url: True)
        for n in range(2 * ALIKE)
    ]
    assert len(list(filter(None, said))) == ALIKE


def test_few_are_waited_for_before_one_was_right(learned: Learned) -> None:
    copies = {f"/copy{n}": (f"t{n}", f"/{n}") for n in range(2 * UNTRIED)}
    pages: dict[str, tuple[object, str]] = {
        **copies,
        **{f"/{n}": (f"t{n}", f"/{n}") for n in range(99)},
    }
    site = Site(pages, learned)
    site.ask(*copies)
    assert site.records == [*list(copies)[UNTRIED:], *(f"/{n}" for n in range(UNTRIED))]
    site.ask(f"/{2 * UNTRIED - 1}")
    assert len(site.records) == 2 * UNTRIED, "it shows what a recorded page did that named it"
    site.pages = pages | {"/copyx": ("x", "/x"), "/x": ("x", "/x")}
    site.ask("/copyx")
    assert site.records[-1] == "/x"


def test_what_is_remembered_is_bounded(learned: Learned) -> None:
    canonicals = Canonicals(learned, nothing)
    canonicals.load((f"http://a.example/{number}", 0) for number in range(REMEMBERED + 1))
    forget_half(canonicals.texts)
    assert len(canonicals.texts) == REMEMBERED // 2 + 1
