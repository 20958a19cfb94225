from __future__ import annotations

import pytest
from scrapy.settings import Settings

from lswc.crawl import profiles
from lswc.errors import ConfigError
from lswc.strategy import NAMES, strategy


def applied(name: str, **command_line: str) -> Settings:
    settings = Settings({"LSWC_PROFILE": name, "DEPTH_LIMIT": 0})
    for key, value in command_line.items():
        settings.set(key, value, "cmdline")
    profiles.apply(settings)
    return settings


def test_every_strategy_but_perfect_has_a_profile() -> None:
    found = {
        strategy(applied(name)["LSWC_STRATEGY"]).name.partition(":")[0] for name in profiles.names()
    }
    assert found == set(NAMES) - {"perfect", "adaptive_text"}


@pytest.mark.parametrize("name", sorted({*profiles.names()} - {"archive", "continuous", "corpus"}))
def test_profile_is_named_after_its_strategy(name: str) -> None:
    kind, _, values = applied(name)["LSWC_STRATEGY"].partition(":")
    parts = [kind, *(value.replace("=", "").lower() for value in values.split(",") if value)]
    assert name == "_".join(parts)


def test_papers_know_links_only() -> None:
    listed = {name for name in profiles.names() if applied(name).getbool("LSWC_SITEMAPS")}
    assert listed == {"adaptive", "archive", "continuous"}


def test_command_line_wins_over_the_profile() -> None:
    assert applied("bfs", LSWC_STRATEGY="soft_focused")["LSWC_STRATEGY"] == "soft_focused"


def test_profile_wins_over_the_project() -> None:
    assert applied("site_queues").getint("DEPTH_LIMIT") == 9


def test_unknown_profile_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="'none'; known: adaptive, anchor, archive, bfs, "):
        applied("none")
