"""Of a robots.txt only what is said to one robot, and not too much of that."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.guest.robots_txt import (
    AI_CRAWLERS,
    MAX_PATTERNS,
    MAX_SIZE,
    RobotsRules,
    can_be_named,
)

SITE = "http://a.example"


def rules(text: str, agent: str = "lswc") -> RobotsRules:
    return RobotsRules(text.encode(), agent)


def refused(text: str, *paths: str, agent: str = "lswc") -> list[str]:
    """Return the paths that a robot may not ask for."""
    said = rules(text, agent)
    return [path for path in paths if not said.allows(SITE + path)]


@given(st.binary(), st.text())
def test_any_bytes_get_an_answer(body: bytes, agent: str) -> None:
    assert RobotsRules(body, agent).allows(SITE) in (True, False)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("User-agent: other\nNoise: x\nUser-agent: *\nDisallow: /a", ["/a"]),
        ("User-agent: lswc\nCrawl-delay: 9\nUser-agent: *\nDisallow: /a", ["/a"]),
        ("User-agent: other\nSitemap: x\nUser-agent: *\nDisallow: /a", ["/a"]),
        ("User-agent: other\nDisallow: /a\nUser-agent: *\nDisallow: /b", ["/b"]),
        ("User-agent: *\nDisallow: /a\nUser-agent: lswc\nDisallow: /b", ["/b"]),
        ("User-agent: lswc\nDisallow: /a\n\nUser-agent: LSWC/2\nDisallow: /b", ["/a", "/b"]),
        ("User-agent: lswc-other\nDisallow: /a", []),
        ("User-agent: *\nDisallow: a", []),
        ("User-agent: *\nDisallow: *b", ["/b"]),
        ("\ufeffUser-agent: *\nDissallow /a # all of it", ["/a"]),
        ("User-agent: *\nDisallow: /\nAllow: /a", ["/b"]),
        ("User-agent: *\nDisallow: /\nUser-agent: lswc\n", []),
    ],
)
def test_who_may_ask_for_what(text: str, paths: list[str]) -> None:
    assert refused(text, "/a", "/b") == paths
    assert refused(text, "/a", "/b", agent="lswc/1.0 (+https://a.example)") == paths


@pytest.mark.parametrize(
    "agent", ["archive.org_bot", "nlt2bot", "heritrix3", "a", "Go!zilla", "x-1"]
)
@pytest.mark.parametrize(
    "line",
    ["{}", "{} # it", "{}/3.0", "{} is to stay out", "other, {}", "other,{},more", "other {}",
     "{}; ", "{}<BR>", "{} / 1"],
)  # fmt: skip
def test_a_robot_is_named_by_its_whole_name(agent: str, line: str) -> None:
    assert can_be_named(agent)
    for name in (agent, agent.upper()):
        named = f"User-agent: *\nDisallow:\n\nUser-agent: {line.format(name)}\nDisallow: /a"
        assert refused(named, "/a", "/b", agent=agent) == ["/a"]
        assert refused(named, "/a", "/b", agent=f"{agent}/2 (+https://a.example)") == ["/a"]


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("heritrix3", "heritrix"), ("heritrix3", "heritrix33"), ("heritrix3", "heritrix3.1"),
        ("archive.org_bot", "archive"), ("archive.org_bot", "org_bot"),
        ("archive.org_bot", "archive.org_bots"), ("lswc", "x (lswc)"), ("lswc", "x lswc/2"),
        ("lswc", "Mozilla/5.0 (compatible; lswc; +http://a.example)"),
    ],
)  # fmt: skip
def test_another_robot_is_not_named(agent: str, line: str) -> None:
    assert refused(f"User-agent: {line}\nDisallow: /a", "/a", agent=agent) == []


@pytest.mark.parametrize("agent", ["", "my bot", "*", "a,b", "a#b", "/1.0", "ชื่อ"])
def test_a_robot_that_cannot_be_named(agent: str) -> None:
    assert not can_be_named(agent)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_a_file_may_have_a_mark(encoding: str) -> None:
    text = "User-agent: *\nDisallow: /a"
    text = f"\ufeff{text}" if encoding == "utf-16-be" else text
    said = RobotsRules(text.encode(encoding), "lswc")
    assert not said.allows(f"{SITE}/a")


def test_ai_crawlers_share_a_line() -> None:
    assert rules("User-agent: GPTBot, CCBot\nDisallow: /a").forbids(f"{SITE}/a") == (
        "CCBot",
        "GPTBot",
    )


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: lswc\nCrawl-delay: 3\nUser-agent: other\nCrawl-delay: 9\nDisallow: /", 3),
        ("User-agent: lswc\nUser-agent: other\nCrawl-delay: 9\nDisallow: /", 9),
        ("User-agent: lswc\nDisallow: /\nCrawl-delay: 9\nUser-agent: b\nCrawl-delay: 1", 9),
        ("User-agent: other\nCrawl-delay: 9\nUser-agent: *\nDisallow: /", 0),
        ("User-agent: *\nCrawl-delay: 2\n\nUser-agent: lswc\nDisallow: /", 0),
        ("User-agent: *\nCrawl-delay: nan", 0),
        ("User-agent: *\nCrawl-delay: -1", 0),
        ("User-agent: *\nCrawl-delay: soon", 0),
    ],
)
def test_crawl_delay(text: str, delay: float) -> None:
    assert rules(text).crawl_delay == delay


def test_other_robots_cost_nothing() -> None:
    others = "".join(f"User-agent: a{n}\n" for n in range(1_000))
    lines = "".join(f"Disallow: /{n}\n" for n in range(1_000))
    assert rules(f"{others}{lines}").size < 100
    assert rules(f"{others}User-agent: *\n{lines}").size < 2 * len(lines)


@pytest.mark.parametrize("pattern", ["Disallow: /*x", "Allow: /x$"])
def test_a_server_with_too_many_patterns_allows_nothing(pattern: str) -> None:
    most = "User-agent: *\n" + "\n".join([pattern] * MAX_PATTERNS)
    assert refused(most, "/b") == []
    assert refused(f"{most}\n{pattern}", "/b") == ["/b"]
    assert refused(f"{most}\nUser-agent: b\n{pattern}", "/b") == []


def test_the_rest_of_a_long_file_is_not_read() -> None:
    start = "User-agent: *\n" + "#\n" * ((MAX_SIZE - 14) // 2)
    assert refused(f"{start[:-12]}Disallow: /a\nDisallow: /b", "/a", "/b") == ["/a"]


@pytest.mark.parametrize(
    ("lines", "path", "said"),
    [
        ("Content-Usage: train-ai=n", "/a", "train-ai=n"),
        ("Content-Usage: /a train-ai=n\nContent-Usage: /a/b train-ai=y", "/a/b/c", "train-ai=y"),
        ("Content-Usage: /a train-ai=n", "/b", ""),
        ("Content-Usage: /*.pdf$ bots=n", "/x.pdf", "bots=n"),
        ("Disallow: /c\nUser-agent: other\nContent-Usage: train-ai=n", "/a", ""),
        ("Content-Usage: /a", "/a", ""),
    ],
)
def test_content_usage(lines: str, path: str, said: str) -> None:
    assert rules(f"User-agent: *\n{lines}").content_usage(SITE + path) == said


@pytest.mark.parametrize(
    ("lines", "path", "said"),
    [
        ("Content-Signal: search=yes, ai-train=no", "/a", "search=yes, ai-train=no"),
        ("Content-signal: /a ai-input=no", "/b", ""),
        ("Content-Usage: ai-train=no", "/a", ""),
        ("Disallow: /c\nUser-agent: GPTBot\nContent-Signal: ai-train=no", "/a", ""),
    ],
)
def test_content_signal(lines: str, path: str, said: str) -> None:
    assert rules(f"User-agent: *\n{lines}").content_signal(SITE + path) == said


@pytest.mark.parametrize(
    ("text", "path", "crawlers"),
    [
        ("User-agent: GPTBot\nDisallow: /", "/a", ("GPTBot",)),
        ("User-agent: gptbot/1.2\nUser-Agent: CCBot\nDisallow: /a", "/a", ("CCBot", "GPTBot")),
        ("User-agent: GPTBot\nDisallow: /a", "/b", ()),
        ("User-agent: AI2Bot\nDisallow: /\nAllow: /a$", "/b", ("AI2Bot",)),
        ("User-agent: AI2Bot\nDisallow: /\nAllow: /a$", "/a", ()),
        ("User-agent: *\nDisallow: /a", "/a", ()),
        ("User-agent: Googlebot\nDisallow: /", "/a", ()),
        ("User-agent: GPTBotX\nDisallow: /", "/a", ()),
        ("User-agent: GPTBot\nCrawl-delay: 9", "/a", ()),
    ],
)
def test_ai_crawlers_by_name(text: str, path: str, crawlers: tuple[str, ...]) -> None:
    said = rules(text)
    assert said.forbids(SITE + path) == crawlers
    assert said.allows(SITE + path) == ("*" not in text), "that is another question"


def test_many_rules_for_many_ai_crawlers_cost_no_more_than_many_for_all() -> None:
    heads = "\n".join(f"User-agent: {name}" for name in AI_CRAWLERS.values())
    ruled = "\n".join(f"Disallow: /{n}" for n in range(20_000))
    own = "\n".join(f"User-agent: {n}\nDisallow: /x{n}" for n in AI_CRAWLERS.values())
    begun = process_time()
    rules(f"User-agent: *\n{ruled}")
    plain, begun = process_time() - begun, process_time()
    said = rules(f"{own}\n{heads}\n{ruled}")
    assert process_time() - begun < 4 * plain + 1
    assert said.forbids(f"{SITE}/1") == tuple(sorted(AI_CRAWLERS.values()))
