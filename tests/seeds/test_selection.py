"""Which candidates become seeds: ranked by evidence, bounded, whatever order they come in."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.seeds import selection
from lswc.seeds.candidates import URL_CHARACTERS, Candidate
from lswc.seeds.pool import Place, Pool, database
from lswc.seeds.selection import SeedBounds
from lswc.urls import parse, site

CANDIDATES = [Candidate(f"http://www.s{i}.{'com' if i % 2 else 'co.th'}/") for i in range(200)]


Ranked = Callable[..., list[Place]]


@pytest.fixture(scope="module")
def ranked() -> Iterator[Ranked]:
    """What ranks candidates; one database is enough for all."""
    with database() as db:

        def rank(
            candidates: Iterable[Candidate],
            seed: int = 1,
            tlds: Iterable[str] = (),
            passed: Counter[str] | None = None,
        ) -> list[Place]:
            pool = Pool(db, Counter() if passed is None else passed, seed, frozenset(tlds))
            pool.add(candidates)
            places = list(pool.ranked())
            assert len(pool) == len(places)
            return places

        yield rank


def choose(
    places: Iterable[Place],
    judge: Callable[[Place], str | None],
    codes: list[str],
    bounds: SeedBounds,
    passed: Counter[str],
) -> dict[str, list[str]]:
    """Return the URLs that are chosen."""
    chosen = selection.choose(places, judge, codes, bounds, passed)
    return {code: [place.url for place in found] for code, found in chosen.items()}


def by_number(place: Place) -> str | None:
    return (None, "th", "lo")[int("".join(filter(str.isdigit, place.url))) % 3]


def test_a_random_choice_among_equals_that_only_the_seed_decides(ranked: Ranked) -> None:
    def chosen(candidates: list[Candidate], seed: int) -> dict[str, list[str]]:
        bounds = SeedBounds(20, 3)
        return choose(ranked(candidates, seed), by_number, ["th", "lo"], bounds, Counter())

    first = chosen(CANDIDATES, 1)
    assert {code: len(urls) for code, urls in first.items()} == {"th": 20, "lo": 20}
    assert all(by_number(Place(u, "", "", None)) == code for code in first for u in first[code])
    shuffled = random.Random(3).sample(CANDIDATES * 2, 400)
    assert chosen(shuffled, 1) == first
    assert chosen(CANDIDATES, 2) != first


def test_every_url_has_the_same_chance(ranked: Ranked) -> None:
    times: defaultdict[str, int] = defaultdict(int)
    for seed in range(40):
        for place in ranked(CANDIDATES, seed)[:50]:
            times[place.url] += 1
    assert len(times) == 200
    assert max(times.values()) <= 24


def test_more_evidence_comes_first_and_twins_are_one(ranked: Ranked) -> None:
    places = ranked(
        [
            Candidate("http://a.com/", weight=2),
            Candidate("http://b.com/x"),
            Candidate("http://b.com/long", weight=1),
            Candidate("http://www.b.com/y", weight=1),
            Candidate("https://a.com/", weight=2),
            Candidate("http://c.com/", weight=9),
        ]
    )
    assert [place.url for place in places] == [
        "http://c.com/", "https://a.com/", "http://b.com/x",
        "http://www.b.com/y", "http://b.com/long",
    ]  # fmt: skip


WEIGHTED = st.builds(
    Candidate,
    st.builds(
        "http://{}.{}.example.{}/{}".format,
        *(st.sampled_from(part) for part in ("ab", "cd", ("com", "co.th"), "xyz")),
    ),
    text=st.just(""),
    language=st.none(),
    weight=st.integers(1, 9).map(float),
)


@settings(max_examples=30)
@given(candidates=st.lists(WEIGHTED, max_size=30))
def test_the_best_of_every_site_before_the_second_of_any(
    ranked: Ranked, candidates: list[Candidate]
) -> None:
    places = ranked(candidates)
    of_site: defaultdict[str, float] = defaultdict(float)
    for candidate in candidates:
        url = parse(candidate.url)
        assert url is not None
        of_site[site(url.hostname)] += candidate.weight
    assert {place.url for place in places} == {candidate.url for candidate in candidates}
    seen: Counter[str] = Counter()
    turns = []
    for place in places:
        turns.append((seen[place.site], -of_site[place.site]))
        seen[place.site] += 1
    assert turns == sorted(turns)


LONG = f"http://a.co.th/{'x' * 2000}"


def test_what_is_no_url_of_the_wanted_domains_is_counted(ranked: Ranked) -> None:
    passed: Counter[str] = Counter()
    given = ("http://a.co.th/", "HTTP://A.co.th", "http://b.com/", "ftp://c.co.th/", "c.co.th",
             "javascript:x", "", "http://", "https://d.org/", LONG)  # fmt: skip
    places = ranked(map(Candidate, given), 1, ("th", "org"), passed=passed)
    assert {place.url for place in places} == {"http://a.co.th/", "https://d.org/"}
    assert passed == {
        "another top-level domain": 1, "not http or https": 2, "not a URL": 3, "URL too long": 1,
    }  # fmt: skip


def test_bounds_and_why_the_others_are_left() -> None:
    places = [
        Place(f"http://{name}", name[0], "", code)
        for name, code in [
            ("a1", "th"), ("a2", "th"), ("a3", "th"), ("b1", "en"), ("b2", None), ("c1", "lo"),
            ("c2", "th"), ("d1", "th"), ("e1", "lo"), ("f1", "lo"),
        ]
    ]  # fmt: skip
    left: Counter[str] = Counter()
    chosen = choose(places, lambda place: None, ["th", "lo"], SeedBounds(3, 2), left)
    assert chosen == {
        "th": ["http://a1", "http://a2", "http://c2"],
        "lo": ["http://c1", "http://e1", "http://f1"],
    }
    assert left == {
        "enough of its domain": 1, "another language": 1, "language not known": 1,
        "enough seeds": 1,
    }  # fmt: skip


def test_no_more_is_judged_than_needed() -> None:
    def judge(place: Place) -> str:
        judged.append(place.url)
        return "th"

    judged: list[str] = []
    places = [Place(f"http://{name}", name[0], "", None) for name in ("a1", "a2", "b1", "c1")]
    assert choose(places, judge, ["th"], SeedBounds(2, 1), Counter()) == {
        "th": ["http://a1", "http://b1"]
    }
    assert judged == ["http://a1", "http://b1"]


def test_what_was_passed_over_is_counted_by_reason(ranked: Ranked) -> None:
    passed: Counter[str] = Counter()
    long = [Candidate(f"http://a.com/{letter * URL_CHARACTERS}") for letter in "ab"]
    other = [Candidate("no URL"), Candidate("ftp://a.com/"), Candidate("mailto:a@a.com")]
    elsewhere = [Candidate(f"http://{name}.org/") for name in "abc"]
    (place,) = ranked([*long, *other, *elsewhere, Candidate("http://a.com/")], 1, ["com"], passed)
    assert place.url == "http://a.com/"
    assert passed == {
        "URL too long": 2, "not a URL": 1, "not http or https": 2, "another top-level domain": 3,
    }  # fmt: skip


def test_what_was_not_chosen_is_counted_by_reason() -> None:
    """Of Thai two are wanted, one a site; of Lao two."""
    told = [("th", "a"), ("th", "a"), ("fr", "b"), (None, "c"), ("th", "d"), ("th", "e"),
            ("lo", "f"), ("lo", "g"), ("lo", "h")]  # fmt: skip
    places = [Place(f"http://{n}.{site}/", site, "", code) for n, (code, site) in enumerate(told)]
    passed: Counter[str] = Counter()
    found = choose(places, lambda _: None, ["th", "lo"], SeedBounds(2, 1), passed)
    assert found == {
        "th": ["http://0.a/", "http://4.d/"], "lo": ["http://6.f/", "http://7.g/"],
    }  # fmt: skip
    assert passed == {
        "enough of its domain": 1, "another language": 1, "language not known": 1,
        "enough seeds": 1,
    }  # fmt: skip


def test_the_longest_url_that_is_taken(ranked: Ranked) -> None:
    begin = "http://www.a.co.th/"
    longest = begin + "x" * (URL_CHARACTERS - len(begin))
    passed = Counter[str]()
    places = ranked([Candidate(longest), Candidate(f"{longest}x")], passed=passed)
    assert [place.url for place in places] == [longest]
    assert passed == {"URL too long": 1}
