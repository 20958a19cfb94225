"""lswc's parts stay in their places, whatever a user adds, and wherever it is said."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError
from scrapy.settings import Settings
from scrapy.utils.conf import build_component_list

from lswc import settings as defaults
from lswc.crawl import placement
from lswc.crawl.middlewares import LinkLanguageMiddleware, VisitGuardMiddleware
from lswc.crawl.spider import LswcSpider
from lswc.crawl.stats import DirectStats
from lswc.errors import ConfigError

NAMES = sorted(placement.WITHOUT)
GUARD = "lswc.crawl.middlewares.VisitGuardMiddleware"


class Mine:
    async def process_spider_output(self, response: Any, result: Any) -> Any:
        async for item in result:
            yield item


class MyLinkLanguage(LinkLanguageMiddleware):
    pass


def crawler(values: dict[str, Any], priority: str = "cmdline") -> Crawler:
    """Return the crawler of a crawl with these settings."""
    settings = Settings()
    settings.setmodule(defaults)
    for name, value in values.items():
        settings.set(name, value, priority)
    return Crawler(LswcSpider, settings)


def placed(name: str, value: Any, priority: str = "cmdline") -> list[Any]:
    """Return the components that run, in their order."""
    settings = crawler({name: value}, priority).settings
    placement.check(settings)
    return build_component_list(settings.get_component_priority_dict_with_base(name))


@settings(max_examples=40)  # each makes a crawler
@given(
    st.sampled_from(NAMES),
    st.floats(-1e6, 1e6) | st.integers(-5_000, 5_000),
    st.sampled_from(["project", "spider", "cmdline"]),
    st.sampled_from(["class", "path", "json"]),
)
def test_what_is_added_is_there_and_all_of_lswcs(
    name: str, order: float, priority: str, kind: str
) -> None:
    path = f"{Mine.__module__}.Mine"
    value: Any = {"class": {Mine: order}, "path": {path: order}}.get(kind)
    found = placed(name, value or json.dumps({path: order}), priority)
    assert {Mine, path} & {*found}
    assert {*placement.own(name)} <= {*found}
    assert not {*placement.WITHOUT[name]} & {*found}
    ours = [one for one in found if one in placement.own(name)]
    if name != "EXTENSIONS":
        assert ours == sorted(ours, key=lambda one: placement.own(name)[one])
    if name == "ITEM_PIPELINES":
        assert (found[0], found[-1]) == (ours[0], ours[-1])
    if name == "SPIDER_MIDDLEWARES":
        assert found[0] == GUARD


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [None, {}, "{}"])
def test_nothing_said_is_nothing_added(name: str, value: Any) -> None:
    assert {*placement.own(name)} <= {*placed(name, value)}


def test_what_a_process_says_again_to_its_crawlers_doesnt_undo_it() -> None:
    given = {"ITEM_PIPELINES": {Mine: 300}}
    made = crawler(given)
    settings = Settings()
    settings.setmodule(defaults)
    settings.setdict(given, "cmdline")
    made.settings.update(settings)  # as CrawlerRunner.create_crawler does
    placement.check(made.settings)


@pytest.mark.parametrize("name", NAMES)
def test_each_part_that_is_taken_out_is_refused_unless_it_may_go(name: str) -> None:
    for path in placement.own(name):
        settings = crawler({name: {path: None}}).settings
        if path in placement.MAY_GO:
            placement.check(settings)
        else:
            with pytest.raises(ConfigError, match=f"{name}: {path} can't be taken out"):
                placement.check(settings)


def test_a_subclass_takes_the_place_of_a_part() -> None:
    path = "lswc.crawl.middlewares.LinkLanguageMiddleware"
    assert MyLinkLanguage in placed("SPIDER_MIDDLEWARES", {path: None, MyLinkLanguage: 1020})
    assert VisitGuardMiddleware in placed("SPIDER_MIDDLEWARES", {VisitGuardMiddleware: 10})
    with pytest.raises(ConfigError, match="must come after"):
        placed("SPIDER_MIDDLEWARES", {path: None, MyLinkLanguage: 900})


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("SCHEDULER", "scrapy.core.scheduler.Scheduler", "only a subclass of lswc.crawl.scheduler"),
        ("DOWNLOADER", "scrapy.core.downloader.Downloader", "only a subclass of lswc.crawl.downlo"),
        ("TWISTED_DNS_RESOLVER", "scrapy.resolver.CachingThreadedResolver", "private networks"),
        ("DOWNLOAD_HANDLERS", {"http": None}, "http must be lswc.crawl.transport.handler"),
        ("ITEM_PIPELINES", {"my.Pipe": 1}, "can't import my.Pipe"),
        ("ITEM_PIPELINES", {Mine: "1"}, "must be a number, or None, not '1'"),
    ],
)
def test_what_would_change_a_crawl_unseen_is_refused(name: str, value: Any, line: str) -> None:
    settings = crawler({name: value}).settings
    with pytest.raises(ConfigError, match=line):
        placement.check(settings)


def test_other_handlers_may_be_added_and_nothing_else_goes() -> None:
    settings = crawler({"DOWNLOAD_HANDLERS": {"gopher": "my.Handler"}}).settings
    placement.check(settings)
    assert settings.getdict("DOWNLOAD_HANDLERS") == {
        **placement.INSTEAD["DOWNLOAD_HANDLERS"], "gopher": "my.Handler",
    }  # fmt: skip


def test_consoles_run_if_one_asks_for_them_and_log_stats_under_scrapyd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SCRAPY_PROJECT", raising=False)
    telnet, stats = "scrapy.extensions.telnet.TelnetConsole", "scrapy.extensions.logstats.LogStats"
    off = crawler({"TELNETCONSOLE_ENABLED": "0"}).settings.getdict("EXTENSIONS_BASE")
    assert not {telnet, stats} & {*off}
    found = crawler({"TELNETCONSOLE_ENABLED": "1"}).settings.getdict("EXTENSIONS_BASE")
    assert telnet in found
    monkeypatch.setenv("SCRAPY_PROJECT", "lswc")
    assert stats in crawler({}).settings.getdict("EXTENSIONS_BASE")


def test_spiders_of_another_kind_have_none_of_it() -> None:
    settings = Settings()
    settings.setmodule(defaults)
    other = Crawler(Spider, settings)
    assert other.settings["SCHEDULER"] == "scrapy.core.scheduler.Scheduler"
    robots = "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"
    assert robots in other.settings.get_component_priority_dict_with_base("DOWNLOADER_MIDDLEWARES")
    assert not placement.is_crawl(other)


def test_settings_of_another_project_are_told_what_they_lack() -> None:
    with pytest.raises(UsageError, match=r"begin them with `from lswc.settings import"):
        Crawler(LswcSpider, Settings())


def test_counts_are_logged_without_what_ends_a_name() -> None:
    given: Any = SimpleNamespace(settings=Settings(), spider=None)
    stats = DirectStats(given)
    stats.set_value("lswc/discarded/server's page limit", 1)
    stats.set_value("finish_reason", "can't write")
    assert str(stats).count("'") == 6
