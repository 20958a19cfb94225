from __future__ import annotations

import pytest
from scrapy.settings import Settings

from lswc.crawl import profiles
from lswc.errors import ConfigError
from lswc.strategy import NAMES, strategy


def applied(name: str, **command_line: str) -> Settings:
    settings = Settings({"LSWC_PROFILE": name, "LSWC_STRATEGY": "", "DOWNLOAD_DELAY": 1})
    for key, value in command_line.items():
        settings.set(key, value, "cmdline")
    profiles.apply(settings)
    return settings


WITH_STRATEGY = sorted({*profiles.names()} - {"as_in_the_paper"})


def test_every_strategy_but_perfect_has_a_profile() -> None:
    found = {
        strategy(applied(name)["LSWC_STRATEGY"]).name.partition(":")[0] for name in WITH_STRATEGY
    }
    assert found == set(NAMES) - {"perfect", "adaptive_text"}


@pytest.mark.parametrize("name", sorted({*WITH_STRATEGY} - {"archive", "continuous", "corpus"}))
def test_profile_is_named_after_its_strategy(name: str) -> None:
    kind, _, values = applied(name)["LSWC_STRATEGY"].partition(":")
    parts = [kind, *(value.replace("=", "").lower() for value in values.split(",") if value)]
    assert name == "_".join(parts)


def test_papers_know_links_only() -> None:
    listed = {name for name in WITH_STRATEGY if applied(name).getbool("LSWC_SITEMAPS")}
    assert listed == {"adaptive", "archive", "continuous"}


def test_command_line_wins_over_the_profile() -> None:
    assert applied("bfs", LSWC_STRATEGY="soft_focused")["LSWC_STRATEGY"] == "soft_focused"


def test_profile_wins_over_the_project() -> None:
    assert applied("archive").getint("DOWNLOAD_DELAY") > 1


def test_unknown_profile_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="'none'; known: adaptive, anchor, archive, as"):
        applied("none")


def test_of_two_profiles_the_later_counts() -> None:
    both = applied("archive, as_in_the_paper")
    assert both["LSWC_STRATEGY"] == applied("archive")["LSWC_STRATEGY"]
    assert not both.getbool("LSWC_SITEMAPS")
    assert applied("as_in_the_paper,archive").getbool("LSWC_SITEMAPS")


def test_what_no_paper_has_needs_a_strategy_besides() -> None:
    with pytest.raises(ConfigError, match="LSWC_PROFILE=bfs,as_in_the_paper"):
        applied("as_in_the_paper")
    alone = applied("as_in_the_paper", LSWC_STRATEGY="soft_focused")
    assert alone["LSWC_STRATEGY"] == "soft_focused"


def test_the_papers_have_nothing_besides() -> None:
    """Each number there is off, or so large that only an endless space reaches it."""
    paper = vars(profiles.module("as_in_the_paper"))
    on = {name: value for name, value in paper.items() if name.isupper() and value}
    assert on == {
        "LSWC_MAX_DUPLICATES": 100,
        "LSWC_OPT_OUT": "record-pages",
        "LSWC_REQUISITES": "none",
        "LSWC_UNPROVEN_SHARE": 1.0,
    }
