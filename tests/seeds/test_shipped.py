"""The seed lists that are shipped keep to what ``seeds/README.md`` says of them."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from lswc.crawl.seed_files import read_seeds
from lswc.urls import parse, registered_domain, tld

SEEDS = Path(__file__).parents[2] / "seeds"
COUNTRY = {
    "ja": "jp", "km": "kh", "ko": "kr", "lo": "la", "my": "mm", "th": "th", "vi": "vn", "zh": "cn",
}  # fmt: skip
KINDS = {"News", "Government", "Education", "Blogs", "Forums", "Shops", "Culture", "Diaspora"}
LACKING = {"km": {"Forums"}}
GROUP = re.compile(r"# (?P<kind>\w+) · (?P<source>[^·]*\S) · (?P<date>\d{4}-\d\d-\d\d)")


def groups(language: str) -> list[tuple[str, list[str]]]:
    """Return the first line and the URLs of each group of a list."""
    head, *parts = (SEEDS / f"{language}.txt").read_text("utf-8").strip().split("\n\n")
    assert head.count("\n") == 0
    assert head.startswith("# ")
    return [(part.split("\n")[0], part.split("\n")[1:]) for part in parts]


def domain(url: str) -> str:
    parsed = parse(url)
    assert parsed is not None
    return registered_domain(parsed.hostname)


def test_each_language_that_is_shipped_is_tested() -> None:
    assert {path.stem for path in SEEDS.glob("*.txt")} == set(COUNTRY)


@pytest.mark.parametrize("language", COUNTRY)
def test_each_group_names_its_source_and_date_and_is_sorted(language: str) -> None:
    for line, urls in groups(language):
        group = GROUP.fullmatch(line)
        assert group, line
        assert group["kind"] in KINDS | {"Society"}
        assert date(2015, 1, 1) < date.fromisoformat(group["date"]) < date(2100, 1, 1)
        assert urls
        assert [domain(url) for url in urls] == sorted(map(domain, urls)), line


@pytest.mark.parametrize("language", COUNTRY)
def test_urls_are_canonical_and_a_domain_has_two_at_most(language: str) -> None:
    urls = [url for _, group in groups(language) for url in group]
    assert read_seeds(SEEDS / f"{language}.txt") == tuple(urls), "as written, and none twice"
    domains = Counter(map(domain, urls))
    assert "" not in domains, "under a public suffix"
    assert max(domains.values()) <= 2
    assert len(domains) >= 100


@pytest.mark.parametrize("language", COUNTRY)
def test_kinds_and_domains_are_balanced(language: str) -> None:
    kinds = Counter[str]()
    for line, urls in groups(language):
        kinds[line.split(" · ")[0].removeprefix("# ")] += len(urls)
    assert KINDS - set(kinds) == LACKING.get(language, set())
    assert max(kinds.values()) <= 0.4 * kinds.total()
    domains = {domain(url) for _, group in groups(language) for url in group}
    outside = [name for name in domains if tld(name) != COUNTRY[language]]
    assert len(outside) >= 0.25 * len(domains)
