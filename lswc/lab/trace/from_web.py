"""Trace of a frozen web, or of WARC files."""

from __future__ import annotations

from collections import defaultdict, deque
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lswc.archive.http_message import BODY_BYTES, HttpResponse
from lswc.guest.robots_txt import RobotsRules
from lswc.lab.trace.builder import TraceBuilder, name_of
from lswc.outcomes import REDIRECTS, Outcome
from lswc.progress import Say, silent
from lswc.reading.page import without_closed
from lswc.strategy import PageLanguage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lswc.crawl.web.answers import Answer, Web
    from lswc.lab.trace.format import About
    from lswc.reading.page import PageReader
    from lswc.safety.server_limits import Limits
    from lswc.urls import Url

AGENT = "lswc"
"""What robots.txt rules are asked for."""


def from_web(
    web: Web,
    seeds: Sequence[str],
    reader: PageReader,
    limits: Limits,
    about: About,
    say: Say = silent,
) -> TraceBuilder:
    """Read everything that is reachable from the seeds in a frozen web or WARC files.

    Breadth-first, with the reading and the limits of a crawl: what such a crawl wouldn't follow
    isn't in the trace, so a web with an endless calendar ends too. What robots.txt forbids, and
    what the web doesn't hold, counts as never downloaded. ``say`` hears how many URLs are read, and
    of how many that are known.
    """
    builder = TraceBuilder(about, reader.clean_text)
    read = _WebReader(web, reader, limits, builder).read
    targets = (reader.scope.check(seed, 0) for seed in seeds)
    queue = deque((url, 0) for url in targets if not isinstance(url, Outcome))
    seen: set[str] = set()
    while queue:
        url, depth = queue.popleft()
        if name_of(url) not in seen:
            seen.add(name_of(url))
            say("pages", len(seen), len(seen) + len(queue))
            queue.extend(read(url, depth))
    return builder


class _WebReader:
    """Reads URLs of a web into a trace, and tells where they lead."""

    def __init__(self, web: Web, reader: PageReader, limits: Limits, builder: TraceBuilder) -> None:
        self._web, self._reader, self._limits = web, reader, limits
        self._builder = builder
        self._accepted = reader.identifier.target.accepted
        self._robots: dict[str, RobotsRules] = {}

    def read(self, url: Url, depth: int) -> Iterator[tuple[Url, int]]:
        known = self._web.knows(url.server) and not self._limits.closed(url)
        if not known or not self._allowed(url):
            self._builder.failure(url.href, 0)
            return
        answer = self._web.answer(url.server, _target(url), self._accepted)
        names = ((name.lower(), value) for name, value in answer.headers)
        location = next((value for name, value in names if name == "location"), None)
        if answer.status in REDIRECTS and location:
            yield from self._redirect(url, answer.status, urljoin(url.href, location), depth)
        elif 200 <= answer.status < 300:
            yield from self._page(url, answer, depth)
        else:
            self._builder.failure(url.href, answer.status)

    def _redirect(
        self, url: Url, status: int, location: str, depth: int
    ) -> Iterator[tuple[Url, int]]:
        target = self._reader.scope.check(location, depth)
        if isinstance(target, Outcome) or name_of(target) == name_of(url):
            # Out of scope; or its twin, for which a web has the same answer.
            self._builder.failure(url.href, status)
            return
        self._builder.redirect(url.href, status, target.href)
        yield target, depth

    def _page(self, url: Url, answer: Answer, depth: int) -> Iterator[tuple[Url, int]]:
        body = _body(answer)
        headers: defaultdict[str, list[str]] = defaultdict(list)
        for name, value in answer.headers:
            headers[name.lower()].append(value)
        reading = self._reader.read(body, headers, url, depth)
        if reading is None or reading.unwanted:
            self._builder.failure(url.href, answer.status)
            return
        self._limits.add(url, reading.simhash, reading.identification.language)
        links = without_closed(reading, self._limits.closed).links
        found = reading.identification
        language = found.wanted(self._reader.identifier.target)
        targets = [(link.url.href, link.anchor, link.named) for link in links]
        relevant = reading.identified == PageLanguage.TARGET
        self._builder.page(
            url.href, answer.status, language, found.encoding, targets, relevant,
            len(body), reading.clean,
        )  # fmt: skip
        yield from ((link.url, depth + 1) for link in links)

    def _allowed(self, url: Url) -> bool:
        if url.server not in self._robots:
            answer = self._web.answer(url.server, "/robots.txt")
            text = _body(answer) if answer.status == 200 else b""
            rules = self._robots[url.server] = RobotsRules(text, AGENT)
            self._builder.crawl_delays[url.server] = rules.crawl_delay
        return self._robots[url.server].allows(url.href)


def _body(answer: Answer) -> bytes:
    """Return an answer's body, without the codings that a recorded one still has."""
    if isinstance(answer.body, Path):
        return answer.body.read_bytes()
    headers = tuple(
        (name.encode(), value.encode("utf-8", "replace")) for name, value in answer.headers
    )
    return HttpResponse(answer.status, headers, answer.body).content(BODY_BYTES)


def _target(url: Url) -> str:
    """Return path and query, percent-encoded."""
    return url.href.removeprefix(f"{url.scheme}://{url.server}")
