"""What is told of a URL: one line by the log and the frontier, its links and its facts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.rules.report import Standing
from lswc.guest.control.rules_in_force import Control
from lswc.monitor.story import Link, explained, pattern_against, story
from lswc.outcomes import Outcome
from lswc.strategy import SEED, Anchor, Facts, Locality, Named, PageLanguage, Status, encode
from lswc.urls import parse

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 3, 4, 12, 5, 6, tzinfo=UTC)
RECORDED = {"outcome": "html", "time": NOON}
CUT = {"outcome": "server became irrelevant", "time": NOON}
WAITED = "It waited when its server turned out to be irrelevant."


def link(**given: Any) -> dict[str, Any]:
    """Return a link of the log."""
    kept = {"source": "http://a.example/", "anchor": None, "named": None, "tier": 1}
    return kept | {"dropped": None} | given


@pytest.mark.parametrize(
    ("links", "attempts", "standing", "said"),
    [
        ([], [], None, "never seen: no page that this crawl read links to it, and it is no seed"),
        ([link()], [RECORDED], Standing("html"),
         "html, 2026-03-04 12:05:06 UTC: A page, recorded."),
        ([link()], [CUT, RECORDED], None, "html, 2026-03-04 12:05:06 UTC: A page, recorded."),
        ([link()], [CUT], Standing("server became irrelevant"),
         f"discarded, server became irrelevant, 2026-03-04 12:05:06 UTC: {WAITED}"),
        ([link()], [CUT], Standing(None),
         "pending: it is in the frontier, or being fetched now"),
        ([], [], Standing(None), "pending: it is in the frontier, or being fetched now"),
        ([link()], [], Standing("elsewhere: 17 html"),
         f"html: {Outcome.HTML.sentence} Worker 17 finished it, which had its site before: "
         "the log in its folder has the rest"),
        ([link()], [], None, f"discarded, server became irrelevant: {WAITED}"),
        ([link()], [], Standing("site's queue full"),
         "discarded, site's queue full: Ten times as many URLs of its registered domain were "
         "pending, none worse than it; 1,000 if one other site at most vouches for that."),
        ([link(dropped=reason) for reason in ("nofollow", "depth", "nofollow")], [], None,
         "discarded, nofollow: The page, or the link, asks not to be followed.\n"
         "discarded, depth: More links from the seeds than DEPTH_LIMIT, or control.toml, allows "
         "there."),
        ([], [], Standing("html"), "finished; the log that says how isn't here"),
        ([], [], Standing("server's queue full"),
         "never seen: no page that this crawl read links to it, and it is no seed"),
    ],
)  # fmt: skip
def test_what_became_of_a_url(
    links: list[Any], attempts: list[Any], standing: Standing | None, said: str
) -> None:
    told = story(links, attempts, standing, 50)
    assert told.conclusion == said
    assert told.attempts == attempts
    assert told.facts == []


def test_without_the_frontier_what_followed_is_not_known() -> None:
    told = story([link()], [], None, 50, has_frontier=False)
    assert told.conclusion == (
        "kept by the strategy; the frontier wasn't kept, so what followed isn't known"
    )


def test_a_link_says_its_words_and_what_was_decided() -> None:
    links = [
        link(),
        link(anchor=Anchor.TARGET, named=Named.OTHER, tier=None),
        link(source="http://b.example/", anchor=Anchor.OTHER, dropped="nofollow"),
        link(),
    ]
    told = story(links, [], None, 3)
    assert told.links == [
        Link("http://a.example/", "", "", "tier 1"),
        Link("http://a.example/", "target", "other", "kept"),
        Link("http://b.example/", "other", "", "discarded: nofollow"),
    ]
    assert told.more_links == 1
    assert story(links, [], None, 5).more_links == 0


def test_the_facts_of_the_link_that_brought_a_url_are_in_words() -> None:
    code = encode(
        Facts(
            PageLanguage.TARGET, 1, Status.RELEVANT, Status.UNVISITED, Locality.SAME_SERVER, True,
            Anchor.NONE, False, named=Named.OTHER, same_folder=True,
        )
    )  # fmt: skip
    assert story([], [], Standing(None, code), 1).facts == [
        ("referrer", "target"),
        ("distance", "1"),
        ("referrer server", "relevant"),
        ("locality", "same_server"),
        ("tld", "true"),
        ("anchor", "none"),
        ("in site", "false"),
        ("named", "other"),
        ("same folder", "true"),
        ("from seed", "false"),
        ("source", "link"),
    ]
    assert story([], [], Standing(None, SEED), 1).facts == [("seed", "yes")]


def test_a_reason_of_an_older_crawl_has_no_sentence() -> None:
    assert explained("html") == "A page, recorded."
    assert explained("status 404") == "The server answered with this error."
    assert explained("a reason of old") == "no more is known"


def test_a_pattern_that_excludes_a_url_is_named_with_where_it_stands(tmp_path: Path) -> None:
    for name, patterns in (("one", ["path:/a/*"]), ("two", ["path:/b/*"]), ("three", None)):
        (tmp_path / name).mkdir()
        given = {"language": "th", "LSWC_EXCLUDE": patterns}
        (tmp_path / name / "settings.json").write_text(json.dumps(given))
    folders, control = list(tmp_path.iterdir()), Control(exclude=("query:*x=1*",))

    def said(address: str) -> str:
        return pattern_against(parse(address), folders, control)

    assert said("http://h.example/a/1") == "The pattern is path:/a/*, of LSWC_EXCLUDE."
    assert said("http://h.example/b/1") == "The pattern is path:/b/*, of LSWC_EXCLUDE."
    assert said("http://h.example/?x=1") == "The pattern is query:*x=1*, of control.toml."
    assert said("http://h.example/c") == ""
    assert pattern_against(None, folders, control) == ""
