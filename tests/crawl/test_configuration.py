"""The settings reach the crawl, each as what it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from lswc import settings as defaults
from lswc.crawl.configuration import Crawl
from lswc.errors import ConfigError
from lswc.language.html import BOUNDS
from lswc.safety.server_limits import directory_pages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NUMBERS: dict[str, Callable[[Crawl], Any]] = {
    "LSWC_MIN_SHARE": lambda crawl: crawl.reading.min_share,
    "LSWC_STOP_HARVEST": lambda crawl: crawl.stop_harvest,
    "LSWC_WARC_SIZE": lambda crawl: crawl.file_sizes.warc,
    "LSWC_REVISIT": lambda crawl: crawl.revisit,
    "LSWC_MIN_DISK": lambda crawl: crawl.politeness.least_disk,
    "LSWC_MAX_OFFLINE": lambda crawl: crawl.max_offline,
    "LSWC_DELAY_FACTOR": lambda crawl: crawl.politeness.delay_factor,
    "LSWC_BACKOFF": lambda crawl: crawl.politeness.backoff,
    "LSWC_MAX_CRAWL_DELAY": lambda crawl: crawl.politeness.longest_crawl_delay,
    "LSWC_MAX_PER_ADDRESS": lambda crawl: crawl.politeness.per_address,
    "LSWC_MAX_PER_DOMAIN": lambda crawl: crawl.politeness.per_domain,
    "LSWC_MAX_DOCUMENT": lambda crawl: crawl.max_document,
    "LSWC_MAX_FILE": lambda crawl: crawl.max_file,
    "LSWC_LINKED_DOCUMENTS": lambda crawl: crawl.linked_documents,
    "LSWC_MAX_SERVER_PAGES": lambda crawl: crawl.quotas.server.pages,
    "LSWC_MAX_SERVER_BYTES": lambda crawl: crawl.quotas.server.bytes,
    "LSWC_MAX_DOMAIN_PAGES": lambda crawl: crawl.quotas.domain.pages,
    "LSWC_MAX_DOMAIN_BYTES": lambda crawl: crawl.quotas.domain.bytes,
    "LSWC_MAX_WAITING_PER_SERVER": lambda crawl: crawl.caps.server,
    "LSWC_MAX_UNPROVEN_SITES": lambda crawl: crawl.caps.sites,
    "LSWC_UNPROVEN_SHARE": lambda crawl: crawl.unproven_share,
    "LSWC_HASTE": lambda crawl: crawl.haste,
    "LSWC_MAX_DUPLICATES": lambda crawl: crawl.max_duplicates,
    "LSWC_BROWSER_SHARE": lambda crawl: crawl.browser_pages.budget,
    "LSWC_BROWSER_TRIES": lambda crawl: crawl.browser_pages.tries,
    "DOWNLOAD_DELAY": lambda crawl: crawl.politeness.delay,
    "DOWNLOAD_TIMEOUT": lambda crawl: crawl.politeness.timeout,
    "DEPTH_LIMIT": lambda crawl: crawl.reading.depth,
    "URLLENGTH_LIMIT": lambda crawl: crawl.reading.length,
}
"""Settings that are numbers, and where the crawl has them."""

SWITCHES: dict[str, Callable[[Crawl], Any]] = {
    "LSWC_IN_ORDER": lambda crawl: crawl.in_order,
    "LSWC_SITEMAPS": lambda crawl: crawl.sitemaps and bool(crawl.reading.feeds_of),
    "LSWC_DOCUMENTS": lambda crawl: crawl.reading.documents,
    "LSWC_TWINS": lambda crawl: crawl.twins,
    "LSWC_RETRY_FAILED": lambda crawl: crawl.retry_failed,
    "LSWC_PAGE_INDEX": lambda crawl: bool(crawl.reading.text),
}


def crawl(folder: Path, **chosen: object) -> Crawl:
    settings = Settings()
    settings.setmodule(defaults, "project")
    given = {"LSWC_CONTACT": "https://library.example/", "LSWC_CRAWL": str(folder / "crawl")}
    settings.setdict({**given, "LSWC_STRATEGY": "bfs", **chosen}, "cmdline")
    (folder / "seeds.txt").write_text("http://a.example/")
    return Crawl.of(settings, "th", str(folder / "seeds.txt"))


def test_every_number_and_switch_is_tried() -> None:
    own = {name: value for name, value in vars(defaults).items() if name.startswith("LSWC_")}
    switches = {name for name, value in own.items() if isinstance(value, bool)}
    numbers = {name for name, value in own.items() if isinstance(value, (int, float))} - switches
    # A crawl without a browser has none of these: test_browsers has them.
    assert switches - set(SWITCHES) == {"LSWC_BROWSER_SANDBOX", "LSWC_BROWSER_PRESS"}
    assert numbers == {name for name in NUMBERS if name[:5] == "LSWC_"} | {"LSWC_IN_ORDER"}


def test_numbers_are_where_they_belong(tmp_path: Path) -> None:
    shares = {
        "LSWC_MIN_SHARE": "0.25", "LSWC_STOP_HARVEST": "0.75", "LSWC_BROWSER_SHARE": "0.0625",
        "LSWC_UNPROVEN_SHARE": "0.125", "LSWC_HASTE": "0.375", "LSWC_REVISIT": "0.5",
    }  # fmt: skip
    values = {name: str(10_000 + number) for number, name in enumerate(NUMBERS)} | shares
    found = crawl(tmp_path, **values)
    assert {name: of(found) for name, of in NUMBERS.items()} == {
        name: float(value) for name, value in values.items()
    }


@pytest.mark.parametrize(("given", "share"), [("all", 0.09), ("none", 0.09), ("0.5", 0.5), (0, 0)])
def test_requisites_have_a_share_of_the_requests(
    tmp_path: Path, given: str | int, share: float
) -> None:
    found = crawl(tmp_path, LSWC_REQUISITES=given)
    assert found.requisites_share == share
    assert (found.reading.requisites_of == ()) == (given == "none")


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_are_where_they_belong(tmp_path: Path, name: str) -> None:
    given = {other: str(int(other == name)) for other in SWITCHES}
    found = crawl(tmp_path, **given)
    assert [other for other, of in SWITCHES.items() if of(found)] == [name]


@pytest.mark.parametrize(
    ("chosen", "value", "name", "reads_text"),
    [
        ("adaptive", "pages", "adaptive", False),
        ("adaptive", "text", "adaptive_text", True),
        ("bfs", "text", "bfs", True),
        ("spiderling", "pages", "spiderling", True),
    ],
)
def test_what_counts_is_the_strategy_s(
    tmp_path: Path, chosen: str, value: str, name: str, reads_text: bool
) -> None:
    found = crawl(tmp_path, LSWC_STRATEGY=chosen, LSWC_VALUE=value)
    assert (found.strategy.name, found.reading.clean_text) == (name, reads_text)


def test_a_crawl_reads_as_much_of_a_page_as_all_else_does(tmp_path: Path) -> None:
    assert crawl(tmp_path).reading.bounds == BOUNDS


def test_a_site_has_room_for_ten_servers(tmp_path: Path) -> None:
    caps = crawl(tmp_path, LSWC_MAX_WAITING_PER_SERVER=7).caps
    assert (caps.server, caps.domain) == (7, 70)
    caps = crawl(tmp_path, LSWC_MAX_WAITING_PER_SERVER=0).caps
    assert (caps.server, caps.domain) == (0, 0)


@pytest.mark.parametrize(
    ("most", "below_a_folder"), [(100_000, 25_000), (10, 25_000), (400_000, 100_000), (0, 0)]
)
def test_a_folder_has_room_for_a_quarter_of_its_server(
    tmp_path: Path, most: int, below_a_folder: int
) -> None:
    found = crawl(tmp_path, LSWC_MAX_SERVER_PAGES=most)
    assert directory_pages(found.quotas.server) == below_a_folder


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("LSWC_MAX_DOCUMENT", "0.5", "must be a whole number, not '0.5'"),
        ("LSWC_MAX_DUPLICATES", "-1", "must be a number of at least 0"),
        ("LSWC_REQUISITES", "2", "must be all, none, or a number from 0 to 1, not '2'"),
        ("LSWC_REQUISITES", "some", "must be all, none, or a number from 0 to 1, not 'some'"),
        ("LSWC_MACHINE_TRANSLATED", "no", "isn't one of: relevant, irrelevant"),
        ("LSWC_MIN_SHARE", "15", "from 0 to 1"),
        ("LSWC_STOP_HARVEST", "1.5", "from 0 to 1"),
        ("LSWC_DOCUMENTS", "maybe", "must be 0 or 1, True or False, not 'maybe'"),
        ("ROBOTSTXT_OBEY", "yes", "must be 0 or 1, True or False, not 'yes'"),
        ("CONCURRENT_REQUESTS", "many", "must be a number of at least 0"),
        ("LSWC_MAX_NESTING", "9", "unknown setting LSWC_MAX_NESTING"),
    ],
)
def test_a_wrong_value_is_named(tmp_path: Path, name: str, value: str, named: str) -> None:
    with pytest.raises(ConfigError, match=name) as raised:
        crawl(tmp_path, **{name: value})
    assert named in str(raised.value)


def test_in_the_papers_order_nobody_has_a_share(tmp_path: Path) -> None:
    given = {"LSWC_UNPROVEN_SHARE": "0.25", "LSWC_STRATEGY": "bfs"}
    for in_order, share in (("0", 0.25), ("1", 1.0)):
        assert crawl(tmp_path, LSWC_IN_ORDER=in_order, **given).unproven_share == share


def test_a_crawl_says_what_it_is_run_with(tmp_path: Path) -> None:
    settings = Settings()
    settings.setmodule(defaults, "project")
    settings.set("LSWC_CONTACT", "a@b.example")
    quotas = {
        "LSWC_MAX_SERVER_PAGES": 7, "LSWC_MAX_DOMAIN_PAGES": 8,
        "LSWC_MAX_SERVER_BYTES": 9, "LSWC_MAX_DOMAIN_BYTES": 10,
    }  # fmt: skip
    said = crawl(tmp_path, **quotas).described(settings)
    named = quotas | {
        "format": "WARC File Format 1.1", "language": "th", "robots": "obey", "LSWC_RECRAWL": [],
        "http-header-from": "a@b.example", "contact": "a@b.example",
        "http-header-user-agent": defaults.USER_AGENT,
    }  # fmt: skip
    assert {name: said[name] for name in named} == named
    assert not {"LSWC_FRONTIER", "LSWC_CRAWL", "LSWC_ON_END", "operator"} & said.keys()


def test_what_a_crawl_says_of_itself_holds_no_password(tmp_path: Path) -> None:
    made = crawl(tmp_path)
    settings = Settings()
    settings.setmodule(defaults, "project")
    store = "redis://anna:secret@store.example:6379/0#lswc:th"
    given = {"LSWC_EXPERIENCE": store, "LSWC_ON_END": "https://h.example/secret"}
    secrets = dict.fromkeys(("FTP_PASSWORD", "AWS_SECRET_ACCESS_KEY", "MAIL_PASS"), "secret")
    settings.setdict({**given, **secrets, "CLOSESPIDER_ITEMCOUNT": 9}, "cmdline")
    described = made.described(settings)
    assert described["CLOSESPIDER_ITEMCOUNT"] == 9
    assert described["LSWC_EXPERIENCE"] == "redis://store.example:6379/0#lswc:th"
    assert "secret" not in str(described)
