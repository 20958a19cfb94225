"""One reading of a page: bytes in; its language, and its links in scope, out.

A crawl, a trace made from a web, and ``scrapy seeds --fetch`` read pages by this alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from lswc.langid import Identification
from lswc.outcomes import Outcome
from lswc.reading.headers import said
from lswc.reading.named import named
from lswc.reading.opt_outs import OptOuts, opt_outs
from lswc.reading.robots_words import robots_words
from lswc.safety.content import is_html
from lswc.simhash import simhash
from lswc.strategy import Anchor, Locality, Named, PageLanguage
from lswc.urls import Url, folder, site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.langid import Identifier, RawLink
    from lswc.reading.headers import Headers
    from lswc.reading.scope import Scope

EXAMINED = 20_000
"""Characters of a page's text that are compared with other pages'."""

_UNWANTED = (Outcome.NOINDEX, Outcome.NOARCHIVE)


class ReadLink(Struct, frozen=True, array_like=True):
    """A link in scope, as its page has it."""

    url: Url
    locality: Locality
    anchor: Anchor
    named: Named
    same_folder: bool


class LeftLink(Struct, frozen=True, array_like=True):
    """A link that is left out before any strategy is asked, and why."""

    url: str
    anchor: Anchor
    reason: Outcome


class PageReading(Struct, frozen=True, array_like=True):
    """What a page says.

    ``identified`` is its language as strategies tell them apart. ``simhash`` is that of its
    text. ``unwanted`` says that it asks not to be kept. ``content_language`` is the language
    that the server says, ``vary`` what its answer depends on. ``opt_outs`` is what the page itself
    says against mining its text. ``left`` are links out of scope;
    ``unread_links`` counts those beyond LSWC_MAX_LINKS. ``is_cut`` says that more than links
    was left unread.
    """

    identification: Identification
    identified: PageLanguage
    title: str
    simhash: int
    unwanted: Outcome | None
    content_language: str
    vary: str
    opt_outs: OptOuts
    links: tuple[ReadLink, ...]
    left: tuple[LeftLink, ...]
    unread_links: int
    is_cut: bool


@dataclass(frozen=True)
class PageReader:
    """How pages are read: ``obeyed`` are the words of META robots and X-Robots-Tag that count."""

    identifier: Identifier
    scope: Scope
    obeyed: frozenset[str]

    def read(
        self,
        body: bytes,
        headers: Headers,
        url: Url,
        depth: int,
        base: str = "",
    ) -> PageReading | None:
        """Read a page; None if it isn't HTML.

        ``depth`` is its own in links from the seeds. Links are relative to ``base``, the page's
        URL as it was asked for.
        """
        content_type = next(iter(headers.get("content-type", ())), "")
        if not is_html(content_type, body):
            return None
        raw = self.identifier.read(body, content_type or None, base or url.href)
        in_headers = robots_words(headers.get("x-robots-tag", ()))
        told = raw.robots | in_headers
        nofollow = self._obeys(Outcome.NOFOLLOW, told)
        links: list[ReadLink] = []
        left: list[LeftLink] = []
        here = _Place(url.server, site(url.hostname), folder(url))
        tags = [language.tag for language in self.identifier.targets]
        for link in raw.links:
            target = self._target(link, nofollow, depth + 1)
            if isinstance(target, LeftLink):
                left.append(target)
            elif target.href != url.href:
                language = _named(tags, target, link)
                within = folder(target) == here.folder
                links.append(ReadLink(target, here.locality(target), link.anchor, language, within))
        return PageReading(
            identification=raw.identification,
            identified=self.identifier.relevance(raw.identification),
            title=raw.title,
            simhash=simhash(raw.text[:EXAMINED]),
            content_language=said(headers, "content-language"),
            vary=said(headers, "vary"),
            opt_outs=opt_outs(headers, in_headers, raw.robots),
            unwanted=next((word for word in _UNWANTED if self._obeys(word, told)), None),
            links=tuple(links),
            left=tuple(left),
            unread_links=raw.unread_links,
            is_cut=raw.is_cut,
        )

    def _obeys(self, word: Outcome, told: frozenset[str]) -> bool:
        return word in self.obeyed and (
            word in told or ("none" in told and word != Outcome.NOARCHIVE)
        )

    def _target(self, link: RawLink, nofollow: bool, depth: int) -> Url | LeftLink:
        url = self.scope.check(link.url, depth)
        if isinstance(url, Outcome):
            shown = link.url[: self.scope.max_length or None]
            return LeftLink(shown, link.anchor, url)
        if nofollow or (link.nofollow and Outcome.NOFOLLOW in self.obeyed):
            return LeftLink(url.href, link.anchor, Outcome.NOFOLLOW)
        return url


def without_closed(reading: PageReading, closed: Callable[[Url], Outcome | None]) -> PageReading:
    """Return the reading without the links to what is left alone: ``closed`` tells why."""
    reasons = [closed(link.url) for link in reading.links]
    if not any(reasons):
        return reading
    both = list(zip(reading.links, reasons, strict=True))
    return replace(
        reading,
        links=tuple(link for link, reason in both if reason is None),
        left=(
            *reading.left,
            *(LeftLink(link.url.href, link.anchor, reason) for link, reason in both if reason),
        ),
    )


def _named(tags: Sequence[str], url: Url, link: RawLink) -> Named:
    """Return what a link names: the target, if it is one of several."""
    found = Named.NONE
    for tag in tags:
        found = named(tag, url, link.hreflang or link.lang, link.anchor_text)
        if found != Named.OTHER:
            break
    return found


class _Place(NamedTuple):
    server: str
    site: str
    folder: str

    def locality(self, url: Url) -> Locality:
        if url.server == self.server:
            return Locality.SAME_SERVER
        return Locality.SAME_SITE if site(url.hostname) == self.site else Locality.ELSEWHERE
