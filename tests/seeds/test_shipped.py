"""The seed lists that are shipped keep to what ``seeds/README.md`` says of them."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from lswc.crawl.seed_files import read_seeds
from lswc.language.registry import is_known, language
from lswc.seeds.kinds import KINDS as ALL_KINDS
from lswc.urls import parse, registered_domain, tld

SEEDS = Path(__file__).parents[2] / "seeds"
COUNTRY = {
    "ja": "jp", "km": "kh", "ko": "kr", "lo": "la", "my": "mm", "th": "th", "vi": "vn", "zh": "cn",
}  # fmt: skip
KINDS = {"News", "Government", "Education", "Blogs", "Forums", "Shops", "Culture", "Diaspora"}
LACKING = {"km": {"Forums"}}
GROUP = re.compile(
    r"# (?P<kind>\w+) · (?P<source>[^·]*\S) · (?P<date>\d{4}-\d\d-\d\d)(?: · not visited)?"
)
MADE = {path.stem for path in SEEDS.glob("*.txt")} - set(COUNTRY)
"""Languages whose lists ``lswc seeds`` has made."""


def groups(code: str) -> list[tuple[str, list[str]]]:
    """Return the first line and the URLs of each group of a list."""
    head, *parts = (SEEDS / f"{code}.txt").read_text("utf-8").strip().split("\n\n")
    assert head.count("\n") == 0
    assert head.startswith("# ")
    return [(part.split("\n")[0], part.split("\n")[1:]) for part in parts]


def domain(url: str) -> str:
    parsed = parse(url)
    assert parsed is not None
    return registered_domain(parsed.hostname)


def test_lists_are_shipped_for_48_languages_and_more_that_are_known() -> None:
    assert len(MADE) >= 40
    assert set(COUNTRY).isdisjoint(MADE)
    for code in MADE:
        assert is_known(code)
        assert language(code).code == code


@pytest.mark.parametrize("code", sorted(MADE))
def test_each_list_that_was_made_names_source_and_date_and_no_site_thrice(code: str) -> None:
    found = groups(code)
    for line, urls in found:
        group = GROUP.fullmatch(line)
        assert group, line
        assert group["kind"] in ALL_KINDS
        assert "not visited" in line
        assert urls
    urls = [url for _, group in found for url in group]
    assert set(read_seeds(SEEDS / f"{code}.txt")) == set(urls), "as written"
    assert len(set(urls)) == len(urls)
    domains = Counter(map(domain, urls))
    assert max(domains.values()) <= 2
    assert len(domains) >= 9
    hosts = [url.split("/")[2] for url in urls]
    assert not {"commoncrawl.org", "github.com", "en.wikipedia.org"} & set(hosts)


@pytest.mark.parametrize("code", COUNTRY)
def test_each_group_names_its_source_and_date_and_is_sorted(code: str) -> None:
    for line, urls in groups(code):
        group = GROUP.fullmatch(line)
        assert group, line
        assert group["kind"] in KINDS | {"Society"}
        assert date(2015, 1, 1) < date.fromisoformat(group["date"]) < date(2100, 1, 1)
        assert urls
        assert [domain(url) for url in urls] == sorted(map(domain, urls)), line


@pytest.mark.parametrize("code", COUNTRY)
def test_urls_are_canonical_and_a_domain_has_two_at_most(code: str) -> None:
    urls = [url for _, group in groups(code) for url in group]
    assert read_seeds(SEEDS / f"{code}.txt") == tuple(urls), "as written, and none twice"
    domains = Counter(map(domain, urls))
    assert "" not in domains, "under a public suffix"
    assert max(domains.values()) <= 2
    assert len(domains) >= 100


@pytest.mark.parametrize("code", COUNTRY)
def test_kinds_and_domains_are_balanced(code: str) -> None:
    kinds = Counter[str]()
    for line, urls in groups(code):
        kinds[line.split(" · ")[0].removeprefix("# ")] += len(urls)
    assert KINDS - set(kinds) == LACKING.get(code, set())
    assert max(kinds.values()) <= 0.4 * kinds.total()
    domains = {domain(url) for _, group in groups(code) for url in group}
    outside = [name for name in domains if tld(name) != COUNTRY[code]]
    assert len(outside) >= 0.25 * len(domains)
