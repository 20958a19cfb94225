"""Sites that machines wrote: a crawl finds them out, and does with them what its user wants."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from lswc.crawl.generated_sites import judged_sites
from tests.scenarios.site import THAI, Site, page

if TYPE_CHECKING:
    from collections.abc import Callable

MACHINES, PEOPLE = "www.machines.co.th", "www.people.co.th"
NUMBER = 40


def words(random: Random, number: int) -> str:
    """Return words in Thai that mean nothing."""
    syllables = [f"{one}า{end}" for one in "กขคจชดตทนบปพมรล" for end in "กนมงด"]
    return " ".join("".join(random.choices(syllables, k=3)) for _ in range(number))


@pytest.fixture
def two(site: Site) -> Site:
    """Return a web of two sites: one text with other names, and texts of their own."""
    random = Random(1)
    text = [words(random, 6) for _ in range(12)]

    def filled() -> str:
        return "".join(f"{one} {words(random, 1)} " for one in text)

    def own() -> str:
        return words(random, 90)

    makers: dict[str, Callable[[], str]] = {MACHINES: filled, PEOPLE: own}
    site.seeds(*(f"http://{server}/" for server in makers))
    for server, make in makers.items():
        links = [f"/{number}.html" for number in range(NUMBER)]
        site.add(f"{server}/", page(THAI, *links))
        for number in range(NUMBER):
            site.add(f"{server}/{number}.html", page(f"{THAI} {make()}"))
    return site


def servers(site: Site) -> list[str]:
    return [url.split("/")[2] for url in site.urls]


def begun(site: Site) -> int:
    """Crawl half of both sites; return how many pages there are."""
    site.crawl(CLOSESPIDER_ITEMCOUNT=NUMBER, CONCURRENT_REQUESTS=2)
    (found,) = [one for one in judged_sites(site.folder) if one.score >= 0.5]
    assert (found.site, "same sentences" in found.signs) == ("machines.co.th", True)
    assert found.pages >= 10
    return len(site.urls)


def test_all_is_fetched_and_told_of(two: Site, capsys: pytest.CaptureFixture[str]) -> None:
    begun(two)
    two.crawl()
    assert servers(two).count(MACHINES) == servers(two).count(PEOPLE) == NUMBER + 1


def test_it_waits_until_no_other_url_is_left(two: Site) -> None:
    before = begun(two)
    two.crawl(LSWC_GENERATED="last")
    then = servers(two)[before:]
    assert servers(two).count(MACHINES) == servers(two).count(PEOPLE) == NUMBER + 1
    assert then == sorted(then, key=lambda server: server == MACHINES)


def test_nothing_more_is_fetched_of_it_unless_people_say_so(two: Site) -> None:
    before = begun(two)
    two.crawl(LSWC_GENERATED="drop")
    assert set(servers(two)[before:]) == {PEOPLE}
    assert two.summary["finished"]["generated"] == NUMBER + 1 - servers(two).count(MACHINES)
    (two.folder / "control.toml").write_text('["machines.co.th"]\ngenerated = "keep"\n')
    two.crawl(LSWC_GENERATED="drop")
    assert servers(two).count(MACHINES) == NUMBER + 1
