"""Walls: servers that show their pages only to who sends back a cookie, or asked for a language.

A chain of redirects, a doorway's button and a switch of languages are each part of one visit, with
cookies of its own that end with it. What a server wants to see each time is learned of them.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urljoin

from msgspec.structs import replace
from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from lswc.crawl.failures import outcome_of
from lswc.crawl.requests import STEP, VISIT, headers_of
from lswc.crawl.transport.refused import Refused
from lswc.errors import LswcError
from lswc.frontier.rules.visit import offer_of_redirect
from lswc.guest.cookies import Jar
from lswc.guest.server_cookies import Way
from lswc.outcomes import REDIRECTS, Outcome
from lswc.reading.doorway import Door, door
from lswc.reading.page import LeftLink, ReadLink
from lswc.reading.reader_messages import Asked
from lswc.safety.content_types import Kind
from lswc.safety.near_duplicates import DISTANCE
from lswc.strategy import Anchor, Locality, Named, PageLanguage
from lswc.urls import Url, fingerprint, site

if TYPE_CHECKING:
    from scrapy.http import Response

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.crawl.scrapy_internet import ScrapyInternet
    from lswc.frontier.rules.visit import Attempt, Visit
    from lswc.guest.guest import Guest
    from lswc.guest.server_cookies import ServerCookies
    from lswc.reading.page import PageReading


SERVERS_REMEMBERED = 200_000
"""Servers of which is known that they gave a page; of too many all are forgotten."""

STEPS, TIMES = 8, 3
"""Requests that a visit may need to get in, at most; and those among them for its own URL."""

FEW_LINKS = 12
"""Links of a page that may be a doorway, to anywhere."""

COOKIES = "cookies"
"""Kind of the counts of visits that needed more than their own request, by what became of them."""

_WITH_BODY = (307, 308)
_MISSING = (404, 410)
_SET = Outcome.LANGUAGE_SWITCH
_SWITCH = re.compile(
    r"(?:^|[/?&_.-])(?:(?:set|switch|change|select|choose)[_-]?)?"
    r"(?:lang(?:uage|ue)?s?|locale|lng|idioma|sprache|culture|hl|lingua|taal|bahasa|i18n|lcid)"
    r"(?:[/=?&_.-]|$)",
    re.IGNORECASE,
)

logger = logging.getLogger(__name__)


class Ended(NamedTuple):
    """The answer that a chain came to, if it did; ``loops`` says that it leads back without end."""

    response: Response | None
    loops: bool = False
    way: Way = Way.WALL


class Walls:
    """Gets visits into servers that want cookies; ``internet`` sends requests besides their own.

    ``passed_by`` are servers that gave this worker a page, as far as they are remembered.
    """

    def __init__(
        self,
        crawl: Crawl,
        guest: Guest,
        readers: Readers,
        cookies: ServerCookies,
        internet: ScrapyInternet,
    ) -> None:
        self._headers, self._unit = crawl.headers, crawl.unit
        self._guest = guest
        self._readers, self._download, self._aside = readers, internet.download, internet.aside
        self.cookies = cookies
        self.passed_by: set[str] = set()

    # Redirects

    async def passed(self, visit: Visit, url: Url, response: Response) -> Response:
        """Return what a server answers to its own cookies; its redirect, if that leads elsewhere.

        Raises Refused if it leads back without end.
        """
        target = self._target(visit, response)
        if target is None or not self._may_lead_back(visit, url, response, target):
            return response
        server, gate = url.server, "" if _is_same(url, target) else target.path
        if self.cookies.is_shut(server, gate):
            raise Refused(Outcome.COOKIE_WALL)
        if not self.cookies.may_try(server, Way.WALL):
            return response
        number, jar = len(visit.attempts), self._jar(server)
        chain = self._chain(visit, url, jar)
        ended = await chain.through(url, response)
        found = ended.response
        if found is not None:
            self._keep(visit, number, url, chain)
            if found.status < 400 or found.status in _MISSING:
                self._opened(visit, ended.way)
                self.cookies.opened(url, ended.way, jar, gate=gate)
            else:
                self._failed(visit, server, Way.WALL)
            found.request = None  # it is the page's own request's now
            if fingerprint(found.url) == fingerprint(visit.url):
                visit.url = found.url  # of twins, the one that answered
            return found
        _put_back(visit, number)
        self._failed(visit, server, Way.WALL, gate if ended.loops else None)
        if ended.loops:
            if gate:  # it may show something without cookies
                times = visit.redirects + 1
                visit.offers = [offer_of_redirect(visit, target, self._unit(target), times)]
            raise Refused(Outcome.COOKIE_WALL)
        return response

    def _target(self, visit: Visit, response: Response) -> Url | None:
        """Return where a redirect leads that may be asked for."""
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or not location:
            return None
        address = urljoin(response.url, location.decode("latin-1").strip())
        found = self._guest.admission.scope_of(visit, address)
        return found if isinstance(found, Url) else None

    def _may_lead_back(self, visit: Visit, url: Url, response: Response, target: Url) -> bool:
        """Tell whether a redirect may lead back to its URL, once it comes with cookies."""
        sets = "Set-Cookie" in response.headers
        if _is_same(url, target):  # by https it is another request, which has no cookies yet
            return target.href == url.href and (sets or bool(visit.cookies))
        if not visit.is_page:
            return False
        if site(target.hostname) != site(url.hostname):  # such as where a site signs its visitors
            return _names(target, url)
        in_path = sets or self.cookies.has_gates(url.server)
        if _names(target, url, in_path=in_path) or self.cookies.is_gate(url.server, target.path):
            return True
        lease = visit.lease
        leads_to_source = lease.redirects and lease.referrer is not None
        if leads_to_source and fingerprint(target.href) == fingerprint(lease.referrer or ""):
            return True
        # A server's first answer: what it leads to may set a cookie, too.
        is_first = self._is_first(visit, url) and not lease.redirects
        return is_first and (sets or lease.inherited == PageLanguage.TARGET)

    def _is_first(self, visit: Visit, url: Url) -> bool:
        """Tell whether a server gave no page yet, or gave all to another worker."""
        return not visit.lease.of_server.pages or url.server not in self.passed_by

    # Doorways, and switches of languages

    async def behind(
        self, visit: Visit, url: Url, response: Response, reading: PageReading
    ) -> tuple[Response, PageReading]:
        """Return a page as it is behind a doorway, or in the crawl's language; or as it is.

        Raises what reading does.
        """
        if visit.cookies:
            self.cookies.worked(url.server)
        if reading.kind is not Kind.HTML or response.status != 200 or not visit.is_page:
            return response, reading
        door = self._door(visit, url, response, reading)
        switch = self._switch(url, reading) if door is None else None
        if door is not None:
            response, reading = await self._pressed(visit, url, door, response, reading)
        elif switch is not None:
            response, reading = await self._switched(visit, url, switch, response, reading)
        if known := self.cookies.switch(url.server):
            reading = _without_switches(reading, known)
        return response, reading

    def _door(
        self, visit: Visit, url: Url, response: Response, reading: PageReading
    ) -> Door | None:
        links = len(reading.links) + len(reading.left)
        if links > FEW_LINKS or not self.cookies.may_try(url.server, Way.DOORWAY):
            return None
        is_front = url.path == "/" or visit.lease.redirects or self._is_first(visit, url)
        if not is_front or reading.unwanted is not None:
            return None
        found = _door_of(response, reading.identification.encoding)
        return found if found is not None and self._may_ask(visit, found, url, response) else None

    def _may_ask(self, visit: Visit, found: Door, url: Url, response: Response) -> bool:
        """Tell whether what a doorway leads to may be asked for; where it waits, for a cookie."""
        target = self._guest.admission.scope_of(visit, found.url)
        if not isinstance(target, Url):
            return False
        return found.is_button or "Set-Cookie" in response.headers or _names(target, url)

    def _switch(self, url: Url, reading: PageReading) -> Url | None:
        """Return a link by which a server seems to change to the crawl's language."""
        if reading.identified == PageLanguage.TARGET:
            return None
        found = (
            link.url
            for link in reading.links
            if link.named == Named.TARGET
            and link.locality == Locality.SAME_SERVER
            and _is_switch(link.url, url)
        )
        switch = next(found, None)
        may_try = switch is not None and self.cookies.may_try(url.server, Way.LANGUAGE)
        return switch if may_try and not self.cookies.switch(url.server) else None

    async def _pressed(
        self, visit: Visit, url: Url, found: Door, response: Response, reading: PageReading
    ) -> tuple[Response, PageReading]:
        """Press a doorway's button, and read what its URL shows then, or where that leads."""
        number, jar = len(visit.attempts), self._jar(url.server)
        jar.take(response.url, response.headers.getlist("Set-Cookie"))  # its button may need it
        chain = self._chain(visit, url, jar)
        with self._aside(len(response.body)):
            behind = await chain.pressed(found, url, url.href)
        after = None if behind is None else await self._read(visit, url, behind)
        if behind is not None and after is not None and _is_other(reading, after):
            self._keep(visit, number, url, chain)
            self._opened(visit, Way.DOORWAY)
            self.cookies.opened(url, Way.DOORWAY, jar)
            return behind, after
        _put_back(visit, number)
        if chain.led_to is None:
            self._failed(visit, url.server, Way.DOORWAY)
            return response, reading
        self._opened(visit, Way.DOORWAY)
        self.cookies.opened(url, Way.DOORWAY, jar)
        if any(link.url.href == chain.led_to.href for link in reading.links):
            return response, reading
        return response, replace(reading, links=(*reading.links, _link(chain.led_to)))

    async def _switched(
        self, visit: Visit, url: Url, switch: Url, response: Response, reading: PageReading
    ) -> tuple[Response, PageReading]:
        """Follow a link that sets a language, and read what the same URL shows then."""
        number, jar = len(visit.attempts), self._jar(url.server)
        chain = self._chain(visit, url, jar)
        with self._aside(len(response.body)):
            behind = await chain.pressed(Door(switch.href), url, url.href)
        after = None if behind is None else await self._read(visit, url, behind)
        if behind is not None and after is not None and after.identified == PageLanguage.TARGET:
            self._keep(visit, number, url, chain)
            self._opened(visit, Way.LANGUAGE)
            self.cookies.opened(url, Way.LANGUAGE, jar, switch=_setter(switch))
            return behind, after
        _put_back(visit, number)
        self._failed(visit, url.server, Way.LANGUAGE)
        return response, reading

    async def _read(self, visit: Visit, url: Url, response: Response) -> PageReading | None:
        asked = Asked(headers_of(response), url, visit.lease.depth, response.url)
        return await self._readers.read(asked, response.body)

    # Both

    def _jar(self, server: str) -> Jar:
        known = self.cookies.jars.get(server)
        return Jar(known.kept() if known is not None else ())

    def _chain(self, visit: Visit, url: Url, jar: Jar) -> _Chain:
        chain = _Chain(self, visit, jar)
        chain.asked[url.href] = visit.cookies
        return chain

    def _keep(self, visit: Visit, number: int, url: Url, chain: _Chain) -> None:
        """Let the latest answer be the visit's, and what led to it no page of its own."""
        visit.cookies = chain.asked[url.href]
        for attempt in visit.attempts[max(number - 1, 0) : -1]:
            if attempt.status not in REDIRECTS or _is_of(attempt, url):
                attempt.exchange = None  # it would stand for the page that others see

    def _opened(self, visit: Visit, way: Way) -> None:
        visit.tally[COOKIES, f"{way} opened"] += 1

    def _failed(self, visit: Visit, server: str, way: Way, shut: str | None = None) -> None:
        visit.tally[COOKIES, f"{way} not opened"] += 1
        self.cookies.failed(server, way, shut)

    async def ask(
        self, visit: Visit, target: Url, cookie: str, referrer: str, pressed: Door | None = None
    ) -> Response | None:
        """Send a request of a visit besides its own; return None if nothing came of it."""
        headers = {**self._headers, "Referer": referrer, **({"Cookie": cookie} if cookie else {})}
        if pressed is not None and pressed.method == "POST":
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        request = Request(
            target.href,
            method="GET" if pressed is None else pressed.method,
            body="" if pressed is None else pressed.body,
            callback=NO_CALLBACK,
            headers=headers,
            meta={VISIT: visit, STEP: True, "dont_retry": True, "dont_redirect": True},
        )
        try:
            response = await self._download(request)
        except LswcError:
            raise
        except Exception as error:  # of the network, or a limit: this way leads nowhere
            if visit.is_over:
                raise Refused(Outcome.LOST) from error
            visit.tally[COOKIES, outcome_of(error)] += 1
            return None
        if visit.is_over:
            raise Refused(Outcome.LOST)
        return response

    def target_of(self, visit: Visit, response: Response) -> Url | None:
        """Return where a redirect leads that may be asked for; None for another answer."""
        return self._target(visit, response)

    def in_scope(self, visit: Visit, address: str) -> Url | None:
        """Return a URL that may be asked for; None if it may not."""
        found = self._guest.admission.scope_of(visit, address)
        return found if isinstance(found, Url) else None


class _Chain:
    """A chain of requests with cookies of its own: ``asked`` has those that each URL came with."""

    def __init__(self, walls: Walls, visit: Visit, jar: Jar) -> None:
        self._walls, self._visit, self._jar = walls, visit, jar
        self.asked: dict[str, str] = {}
        self.led_to: Url | None = None
        self._left = STEPS

    async def through(self, home: Url, redirect: Response) -> Ended:
        """Follow a redirect until ``home`` answers for itself, with cookies that it hadn't before.

        If another URL answers, ``home`` is asked once more.
        """
        walls, visit, jar = self._walls, self._visit, self._jar
        at, current, is_elsewhere, times = home, redirect, False, 0
        while True:
            target = walls.target_of(visit, current)
            is_home = times > 0 and _is_same(at, home)
            if is_home and (target is None or target.href not in self.asked):
                return Ended(current)
            jar.take(at.href, current.headers.getlist("Set-Cookie"))
            if target is None:
                if is_elsewhere or current.status in REDIRECTS or current.status >= 400:
                    return Ended(None)
                is_elsewhere, target = True, home
                is_own = current.status == 200 and site(at.hostname) == site(home.hostname)
                pressed = _door_of(current) if is_own else None
                if pressed is not None and walls.cookies.may_try(home.server, Way.DOORWAY):
                    return Ended(await self.pressed(pressed, home, at.href), way=Way.DOORWAY)
            cookie = jar.header(target.href)
            is_over = not self._left or times == TIMES
            if is_over or self.asked.get(target.href) == cookie:
                return Ended(None, loops=not is_elsewhere)
            found = await self._ask(target, cookie, at.href)
            if found is None:
                return Ended(None)
            times += _is_same(target, home)
            at, current = target, found

    async def pressed(self, door: Door, home: Url, referrer: str) -> Response | None:
        """Do what a door asks for, follow where that leads, then ask for ``home`` again.

        None if no cookie comes of it, or nothing at all; ``led_to`` is where it led.
        """
        walls, visit, jar = self._walls, self._visit, self._jar
        before = self.asked[home.href]
        target, pressed = walls.in_scope(visit, door.url), door
        found: Response | None = None
        while target is not None and self._left:
            cookie = jar.header(target.href)
            is_post = pressed.method == "POST"
            if not is_post and self.asked.get(target.href) == cookie:
                break
            found = await self._ask(target, cookie, referrer, pressed)
            if found is None:
                return None
            if _is_same(target, home) and found.status == 200 and not is_post:
                return found
            jar.take(target.href, found.headers.getlist("Set-Cookie"))
            if found.status not in _WITH_BODY:
                pressed = Door(target.href)
            at = target
            referrer, target = at.href, walls.target_of(visit, found)
            if target is None and found.status == 200 and not (is_post or _is_same(at, home)):
                self.led_to = at
        cookie = jar.header(home.href)
        if found is None or cookie == before or not self._left:
            return None
        found = await self._ask(home, cookie, referrer)
        return found if found is not None and found.status == 200 else None

    async def _ask(
        self, target: Url, cookie: str, referrer: str, pressed: Door | None = None
    ) -> Response | None:
        self._left -= 1
        if pressed is None or pressed.method == "GET":
            self.asked[target.href] = cookie
        return await self._walls.ask(self._visit, target, cookie, referrer, pressed)


def _is_same(one: Url, other: Url) -> bool:
    """Tell whether two URLs are one to a frontier: http and https are."""
    return one.href.partition("://")[2] == other.href.partition("://")[2]


def _is_of(attempt: Attempt, url: Url) -> bool:
    return attempt.url.partition("://")[2] == url.href.partition("://")[2]


def _names(target: Url, url: Url, *, in_path: bool = False) -> bool:
    """Tell whether a URL says in its query to which it leads back, or at the end of its path."""
    place = f"{url.path}?{url.query}" if url.query else url.path
    whole = url.href.partition("://")[2]
    more = f"{whole}{'&' if url.query else '?'}"  # that it was there, or who comes
    for parameter in target.query.split("&"):
        value = unquote(unquote(parameter.partition("=")[2]))
        named = value.partition("://")[2]
        if value in (place, place[1:] or place) or named == whole or named.startswith(more):
            return True
    return in_path and len(url.path) > 1 and unquote(target.path).endswith(place)


def _door_of(response: Response, charset: str = "utf-8") -> Door | None:
    refresh = (response.headers.get("Refresh") or b"").decode("latin-1")
    return door(response.body, response.url, charset, refresh)


def _is_switch(link: Url, url: Url) -> bool:
    """Tell whether a link that names a language seems to set it, rather than to lead to a page."""
    place = f"{link.path}?{link.query}" if link.query else link.path
    return bool(_SWITCH.search(place)) or (bool(link.query) and link.path in (url.path, "/"))


def _setter(switch: Url) -> str:
    """Return what a link that sets a language has in common with those that set others."""
    if switch.query:
        return switch.query.partition("=")[0]
    return switch.server + switch.path[: switch.path.rstrip("/").rfind("/") + 1]


def _without_switches(reading: PageReading, setter: str) -> PageReading:
    """Return a page without the links that only set a language."""

    def sets(link: ReadLink) -> bool:
        if link.locality != Locality.SAME_SERVER or link.named == Named.NONE:
            return False
        return _setter(link.url) == setter

    out = [LeftLink(link.url.href, link.anchor, _SET) for link in reading.links if sets(link)]
    kept = tuple(link for link in reading.links if not sets(link))
    return replace(reading, links=kept, left=(*reading.left, *out)) if out else reading


def _link(url: Url) -> ReadLink:
    return ReadLink(url, Locality.SAME_SERVER, Anchor.NONE, Named.NONE, same_folder=False)


def _is_other(before: PageReading, after: PageReading) -> bool:
    """Tell whether a URL shows another page than before."""
    return (before.simhash ^ after.simhash).bit_count() > DISTANCE


def _put_back(visit: Visit, number: int) -> None:
    """Let the latest of the first ``number`` attempts be the visit's last, and keep no others."""
    own, steps = visit.attempts[:number], visit.attempts[number:]
    for attempt in steps:
        attempt.exchange = None
    visit.attempts[:] = [*own[:-1], *steps, *own[-1:]]
