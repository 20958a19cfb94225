"""Near-duplicates and page counts."""

from __future__ import annotations

import random
import tracemalloc
from collections import Counter

import pytest

from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import DISTANCE, Seen, simhash
from lswc.safety.server_limits import Limits, Quota, directory_pages, pattern
from lswc.urls import Url, parse


def letters(seed: int) -> str:
    return "".join(random.Random(seed).choices("กขคงจฉชซญดตถทนบปผพฟมยรลวสหอาเแโใไ", k=2000))


NEWS = letters(1)


def url(address: str) -> Url:
    parsed = parse(address)
    assert parsed is not None
    return parsed


def add(limits: Limits, page: Url, text: str) -> bool:
    return limits.add(page, simhash(text))


@pytest.mark.parametrize(("bits", "is_found"), [(DISTANCE, True), (DISTANCE + 1, False)])
def test_near_duplicates_differ_in_three_bits_at_most(bits: int, is_found: bool) -> None:
    seen = Seen(10)
    seen.add(0)
    assert seen.holds(2**bits - 1) is is_found


def test_the_oldest_hashes_are_forgotten() -> None:
    seen = Seen(2)
    first, second, third = (simhash(f"{NEWS[n:]}{n}" * 2) for n in (0, 700, 1400))
    for key in (first, second, third):
        assert not seen.holds(key)
        seen.add(key)
    assert not seen.holds(first)
    assert seen.holds(second)
    assert seen.holds(third)


def test_a_directory_is_closed_by_near_duplicates_in_a_row() -> None:
    limits = Limits(duplicates=3)
    assert not add(limits, url("http://a.example/cal/2026/1/"), NEWS)
    for month in (2, 3):
        assert add(limits, url(f"http://a.example/cal/2026/{month}/"), f"{NEWS}{month}")
    assert limits.closed(url("http://a.example/cal/2027/1/")) is None
    add(limits, url("http://a.example/cal/2026/4/"), NEWS)
    assert limits.closed(url("http://a.example/cal/2027/1/")) == "near-duplicates in directory"
    assert limits.closed(url("http://a.example/news/1.html")) is None
    assert limits.closed(url("http://b.example/cal/2027/1/")) is None


def test_the_first_page_of_a_directory_may_be_the_first_of_a_row() -> None:
    limits = Limits(duplicates=3)
    add(limits, url("http://a.example/"), NEWS)
    for number in range(3):
        page = url(f"http://mirror.example/m/{number}.html")
        assert limits.closed(page) is None
        add(limits, page, NEWS)
    assert limits.closed(page) == "near-duplicates in directory"


def test_only_the_latest_servers_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lswc.safety.server_limits.REMEMBERED", 10)
    limits = Limits()
    servers = [url(f"http://s{number}.example{number}/") for number in range(20)]
    for page in servers[:7]:
        limits.close(page.server, Outcome.RETRY_AFTER_TOO_LONG)
    limits.close(servers[0].server, Outcome.RETRY_AFTER_TOO_LONG)
    for page in servers[7:16]:
        limits.close(page.server, Outcome.RETRY_AFTER_TOO_LONG)
    left = [page for page in servers if limits.closed(page)]
    assert left == [servers[0], *servers[7:16]]


def test_a_crawl_without_records_has_used_nothing() -> None:
    limits = Limits(directory_pages=1)
    limits.load([])
    assert limits.closed(url("http://a.example/")) is None


def test_a_new_page_ends_the_row() -> None:
    limits = Limits(duplicates=2)
    for n in range(20):
        add(limits, url(f"http://a.example/{n}"), NEWS if n % 2 else letters(n))
    assert limits.closed(url("http://a.example/")) is None


def test_a_mirror_is_closed_whatever_its_directories() -> None:
    limits = Limits(duplicates=2)
    for n in range(5):
        assert limits.closed(url("http://a.example/other/")) is None
        add(limits, url(f"http://a.example/{chr(97 + n)}/"), NEWS)
    assert limits.closed(url("http://a.example/other/")) == "near-duplicates on server"


LANGUAGES = [f"{a}{b}" for a in "bcdfg" for b in "aeio"]


def test_a_manual_whose_pages_fall_back_to_english_is_not_closed() -> None:
    limits = Limits(duplicates=5)
    pages = [(f"{'ab'[n // 4]}/page{n}.html", letters(n)) for n in range(8)]
    for language in ("en", *LANGUAGES):
        for page, text in pages:
            address = url(f"http://manual.example/{language}/{page}")
            assert limits.closed(address) is None
            assert limits.add(address, simhash(text), "en") is (language != "en")
    assert limits.closed(url("http://manual.example/xx/a/page0.html")) is None


def test_languages_that_only_repeat_are_closed_and_at_last_their_server() -> None:
    limits = Limits(duplicates=2)
    limits.add(url("http://trap.example/"), simhash(NEWS), "en")
    asked = Counter[str]()
    for language in LANGUAGES:
        for folder in "pqrstu":
            page = url(f"http://trap.example/{language}-XX/{folder}/")
            if limits.closed(page) is None:
                asked[language] += 1
                assert limits.add(page, simhash(NEWS), "en")
    assert asked == dict.fromkeys(LANGUAGES[:4], 4), "twice two of each, of twice two languages"
    assert limits.closed(url("http://trap.example/other")) == Outcome.DUPLICATES_ON_SERVER


def test_a_translated_page_ends_the_row_of_its_language() -> None:
    limits = Limits(duplicates=2)
    limits.add(url("http://a.example/en/"), simhash(NEWS), "en")
    for n in range(40):
        text, language = (letters(n), "ja") if n % 4 == 3 else (NEWS, "en")
        limits.add(url(f"http://a.example/ja/{LANGUAGES[n % 20]}/x"), simhash(text), language)
    assert limits.closed(url("http://a.example/ja/more/")) is None


def test_wildcard_hosts_are_closed_together() -> None:
    limits = Limits(duplicates=1)
    for n in range(5):
        assert limits.closed(url("http://other.farm.co.th/")) is None
        add(limits, url(f"http://n{n}.farm.co.th/"), NEWS)
    assert limits.closed(url("http://other.farm.co.th/")) == "near-duplicates on site"
    assert limits.closed(url("http://www.news.co.th/")) is None


def alike(limits: Limits, address: str, text: str = NEWS) -> None:
    """Add a page of an unproven site, as a crawl does."""
    if add(limits, url(address), text):
        limits.repeats(url(address), "hub.com")


def test_sites_of_a_family_whose_pages_are_alike_count_as_one() -> None:
    limits = Limits(duplicates=2)
    add(limits, url("http://first.example/"), NEWS)
    alike(limits, "http://honest.com/", letters(2))
    for n in range(8):
        assert limits.closed(url("http://farm0.com/next")) is None
        alike(limits, f"http://farm{n}.com/")
    for n in range(8):
        assert limits.closed(url(f"http://farm{n}.com/next")) == "near-duplicates on site"
    assert limits.closed(url("http://honest.com/next")) is None
    assert limits.closed(url("http://new.com/")) is None
    alike(limits, "http://new.com/")
    assert limits.closed(url("http://new.com/next")) == "near-duplicates on site"


def test_a_page_unlike_others_takes_its_site_out_of_its_family() -> None:
    limits = Limits(duplicates=2)
    add(limits, url("http://first.example/"), NEWS)
    for n in range(30):
        alike(limits, f"http://farm{n}.com/")
        if n % 7 == 6:
            alike(limits, f"http://farm{n}.com/news", letters(n))
    assert limits.closed(url("http://farm29.com/next")) is None


def test_what_is_taken_back_counts_for_no_family() -> None:
    limits = Limits(duplicates=2)
    for n in range(30):
        add(limits, url(f"http://first.example/{letters(n)[:5]}/"), NEWS if n % 2 else letters(n))
        alike(limits, f"http://farm{n}.com/", NEWS)
        limits.take_back(url(f"http://farm{n}.com/"), simhash(NEWS), n > 0)
    assert limits.closed(url("http://farm29.com/next")) is None


@pytest.mark.parametrize("host", ["www.a.example", "s{}.a.example"])
@pytest.mark.parametrize("named", ["", "en/"])
def test_what_is_taken_back_is_no_page_in_a_row(host: str, named: str) -> None:
    """Neither of its server nor of its site, nor of the language that they name."""

    def pages_until_closed(taken_back: int) -> int:
        limits = Limits(duplicates=2)
        limits.add(url("http://first.example/"), simhash(NEWS), "th")
        for n in range(1_000):
            address = url(f"http://{host.format(n)}/{named}{letters(n)[:8]}/")
            if limits.closed(address):
                return n
            limits.add(address, simhash(NEWS), "th")
            for _ in range(taken_back * (n == 0)):
                limits.add(address, simhash(NEWS), "th")
                limits.take_back(address, simhash(NEWS), True)
        return 0

    assert pages_until_closed(0) == pages_until_closed(2) > 0


def test_pages_of_a_directory_are_limited() -> None:
    limits = Limits(directory_pages=3)
    for n in range(3):
        assert limits.closed(url("http://a.example/d/x")) is None
        add(limits, url(f"http://a.example/d/{n}"), "")
    assert limits.closed(url("http://a.example/d/x")) == "directory's page limit"
    assert limits.closed(url("http://a.example/e/x")) is None


def record(address: str, text: str, near_duplicate: bool = False) -> dict[str, object]:
    found = {"url": address, "simhash": f"{simhash(text):016x}", "language": "th"}
    return {**found, "near_duplicate": near_duplicate}


def test_pages_of_earlier_runs_count() -> None:
    limits = Limits(directory_pages=3)
    limits.load([record(f"http://a.example/d/{n}", "") for n in range(3)])
    assert limits.closed(url("http://a.example/d/")) == "directory's page limit"


def test_families_of_earlier_runs_count() -> None:
    limits = Limits(duplicates=2)
    farm = [record(f"http://farm{n}.com/", NEWS, n > 0) for n in range(9)]
    limits.load(farm, lambda server: ("hub.com", server) if "farm" in server else ())
    assert limits.closed(url("http://farm1.com/next")) == "near-duplicates on site"
    assert limits.closed(url("http://honest.com/")) is None


def test_near_duplicates_of_earlier_runs_count() -> None:
    limits = Limits(duplicates=3)
    limits.load([record(f"http://a.example/cal/{n}", NEWS, n > 0) for n in range(3)])
    assert limits.closed(url("http://a.example/cal/9")) is None
    assert add(limits, url("http://a.example/cal/3"), NEWS)
    assert limits.closed(url("http://a.example/cal/9")) == "near-duplicates in directory"


def test_numbers_make_no_other_directory() -> None:
    first = pattern(url("http://a.example/2026/11/?day=1&view=list"))
    assert first == pattern(url("http://a.example/1999/1/?day=30&view=week"))
    assert first != pattern(url("http://a.example/2026/11/?day=1"))


def test_long_names_take_no_more_memory() -> None:
    Limits().add(url("http://first.example/"), 0)  # loads the Public Suffix List
    tracemalloc.start()
    try:
        limits = Limits(directory_pages=1, duplicates=1, timeouts=1)
        empty = tracemalloc.get_traced_memory()[0]
        for n in range(200):
            limits.add(url(f"http://h{n}.example/{'x' * 10_000}/{'y' * 10_000}/"), 0)
        held = tracemalloc.get_traced_memory()[0] - empty
    finally:
        tracemalloc.stop()
    assert held < 200 * 2_000


def test_urls_without_an_answer_are_counted_in_a_row() -> None:
    limits = Limits(timeouts=100)
    server = url("http://a.example/x")
    seen = []
    for answers in (0, 0, 1, 0, 0, 0):
        limits.answered(server, bool(answers))
        seen.append(limits.unanswered(url("http://a.example/y")))
    assert seen == [1, 2, 0, 1, 2, 3]
    assert limits.unanswered(url("http://b.example/")) == 0


def test_silent_wildcard_hosts_are_left_together() -> None:
    limits = Limits(timeouts=8)
    for n in range(8):
        assert limits.closed(url("http://other.farm.co.th/")) is None
        limits.answered(url(f"http://n{n}.farm.co.th/"), False)
    assert limits.closed(url("http://other.farm.co.th/")) == "timeouts on site"
    assert limits.closed(url("http://www.news.co.th/")) is None


def test_a_domain_that_is_down_keeps_the_servers_that_gave_pages() -> None:
    limits = Limits(timeouts=2)
    add(limits, url("http://www.uni.ac.th/"), NEWS)
    for _ in range(5):
        limits.answered(url("http://www.uni.ac.th/a"), False)
    assert limits.closed(url("http://www.uni.ac.th/b")) is None
    assert limits.closed(url("http://lab.uni.ac.th/")) == "timeouts on site"
    add(limits, url("http://www.uni.ac.th/b"), "")
    assert limits.closed(url("http://lab.uni.ac.th/")) is None


def test_one_silence_may_be_enough() -> None:
    limits = Limits(timeouts=1)
    limits.answered(url("http://a.example/"), False)
    assert limits.closed(url("http://a.example/x")) == Outcome.TIMEOUTS_ON_SITE
    assert limits.closed(url("http://b.example.org/")) is None


def test_a_page_that_is_taken_back_never_came() -> None:
    limits = Limits(duplicates=3, directory_pages=2)
    first, other = url("http://a.example/cal/1/"), url("http://b.a.example/cal/1/")
    for page in (first, first, other):
        add(limits, page, NEWS)
    assert add(limits, url("http://a.example/cal/2/"), NEWS)
    add(limits, other, letters(2))  # ends the site's row
    limits.take_back(url("http://a.example/cal/2/"), simhash(NEWS), True)
    for _ in range(3):
        limits.take_back(first, simhash(NEWS), True)
    assert not add(limits, first, NEWS)
    assert limits.closed(url("http://a.example/cal/2/")) == Outcome.DIRECTORY_PAGES


@pytest.mark.parametrize(
    ("pages", "most"), [(0, 0), (8, 25_000), (100_000, 25_000), (100_004, 25_001)]
)
def test_a_directory_may_have_a_quarter_of_its_server(pages: int, most: int) -> None:
    assert directory_pages(Quota(pages, 0)) == most


def test_a_listing_may_miss_fifty_and_ten_more_for_each_page() -> None:
    limits = Limits()
    for number in range(50):
        assert limits.missing("http://a.test/sitemap.xml") is None, number
        limits.listed("http://a.test/sitemap.xml", False)
    assert limits.missing("http://a.test/sitemap.xml") == Outcome.LISTED_MISSING
    assert limits.missing("http://b.test/sitemap.xml") is None
    limits.listed("http://a.test/sitemap.xml", True)
    for _ in range(9):
        limits.listed("http://a.test/sitemap.xml", False)
    assert limits.missing("http://a.test/sitemap.xml") is None
    limits.listed("http://a.test/sitemap.xml", False)
    assert limits.missing("http://a.test/sitemap.xml") == Outcome.LISTED_MISSING


def test_without_a_limit_a_family_may_repeat_itself() -> None:
    limits = Limits(duplicates=0)
    for number in range(50):
        limits.repeats(url(f"http://s{number}.test/"), "hub.com")
    assert limits.closed(url("http://s1.test/")) is None


def test_the_only_page_of_a_directory_that_is_taken_back_leaves_it_empty() -> None:
    limits = Limits(directory_pages=2)
    first = url("http://a.test/1/")
    limits.take_back(first, 1, limits.add(first, 1))
    limits.add(first, simhash(NEWS))
    assert limits.closed(url("http://a.test/1/x")) is None
    limits.add(first, simhash(letters(2)))
    assert limits.closed(url("http://a.test/1/x")) == Outcome.DIRECTORY_PAGES
