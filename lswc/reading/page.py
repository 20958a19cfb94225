"""Page: bytes in; its language, and its links in scope, out, by one reading.

A crawl, a trace made from a web, and ``scrapy seeds --fetch`` read pages by this alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from lswc.language import Identification
from lswc.language.base_url import Base
from lswc.language.document import Document, TextDocument
from lswc.language.html import ParsedLink, ParsedPage
from lswc.mishaps import LINK, REQUISITE, TEXT, Mishaps
from lswc.outcomes import Outcome
from lswc.reading.app_shell import (
    FETCHES,
    FEW_LINKS,
    MAX_BESIDE,
    MAX_LINKS,
    Lack,
    is_empty,
    lacks_links,
    lacks_list,
)
from lswc.reading.documents import read as read_here
from lswc.reading.documents.text import Most
from lswc.reading.machine_translation import mark_of
from lswc.reading.main_text.clean_text import NO_TEXT, CleanText, of_document, of_page
from lswc.reading.named_language import SEGMENT_CHARACTERS, named_by
from lswc.reading.opt_outs import OptOuts, opt_outs, robots_words, said
from lswc.reading.other_links import canonical_of_headers, of_headers, of_scripts
from lswc.reading.requisites import Needed, RequisiteReader
from lswc.safety.content_types import Kind, declared_type, file_name, is_html, kind_of
from lswc.safety.near_duplicates import simhash
from lswc.strategy import Anchor, Locality, Named, PageLanguage
from lswc.urls import Home, Url, home, parse_served

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.language import Identifier
    from lswc.language.html import Bounds
    from lswc.language.identifier import Reading
    from lswc.reading.documents.text import Text
    from lswc.reading.opt_outs import Headers
    from lswc.reading.scope import Scope

EXAMINED = 20_000
"""Characters of a page's text that are compared with other pages'."""

_TARGETS = 16_384  # of links that are remembered, with no longer addresses than these
_LONGEST = 300
_MENU = SEGMENT_CHARACTERS + 1  # characters of an anchor text that tell whether it names a language
_Link = tuple[str, bool, str, str]  # address, whether it is too deep, tag and text of a language
_NAMING = {"link", "refresh"}
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

    ``kind`` is what it is written in, HTML or a document. ``identified`` is its language as
    strategies tell them apart. ``simhash`` is that of its text. ``unwanted`` says that it asks not
    to be kept. ``content_language`` is the language that the server says, ``vary`` what its answer
    depends on. ``opt_outs`` is what the page itself says against mining its text. ``left`` are
    links out of scope; ``unread_links`` counts those beyond the bound. ``is_cut`` says that
    more than links was left unread. ``needed`` are its requisites, if they were to be read.
    ``is_shell`` says that the page, or its list, is empty until its scripts run, ``is_empty`` that
    the page is: what it says, its title and menu, tells nothing of its language. ``has_text`` says
    that a document says anything, besides its title. ``clean`` is its clean text, if that counts
    and the page is in the target language. ``canonical`` is the URL that it says to be its own, if
    that is another. ``mishaps`` are errors of ours that cost a part of the page, and how often each
    came (lswc.mishaps). ``other_links`` counts those that it gives otherwise than by its elements.
    ``text`` is the beginning of what it says.
    """

    kind: Kind
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
    needed: Needed
    is_shell: bool
    is_empty: bool
    has_text: bool
    clean: CleanText = NO_TEXT
    canonical: str = ""
    mishaps: tuple[tuple[str, int], ...] = ()
    other_links: int = 0
    text: str = ""


@dataclass(frozen=True)
class PageReader:
    """How pages are read: ``obeyed`` are the words of META robots and X-Robots-Tag that count.

    ``requisites`` says of which pages it is read what they need besides; None for no page.
    ``documents``: what isn't HTML is read, too, if it is one of lswc.reading.documents, by
    ``read_document``: in this process, or in another. ``clean_text``: that of relevant pages is
    read. ``text`` is how many characters are kept of what each page says. Without
    ``keeps_translated`` a page that says that it was machine-translated isn't relevant.
    """

    identifier: Identifier
    scope: Scope
    obeyed: frozenset[str]
    requisites: RequisiteReader | None = None
    documents: bool = False
    clean_text: bool = False
    read_document: Callable[[Kind, bytes, str, Most], Text] = read_here
    keeps_translated: bool = True
    text: int = 0
    _known: dict[_Link, _Target | Outcome] = field(default_factory=dict, init=False, repr=False)

    def read(
        self,
        body: bytes,
        headers: Headers,
        url: Url,
        depth: int,
        base: str = "",
        *,
        is_large: bool = False,
    ) -> PageReading | None:
        """Read a page; None if it is neither HTML nor a document.

        One that ``is_large`` is read within larger bounds.

        ``depth`` is its own in links from the seeds. Links are relative to ``base``, the page's
        URL as it was asked for.
        """
        declared = ", ".join(headers.get("content-type", ()))
        if "," in declared:
            declared = declared_type(headers)
        kind = kind_of(declared, body, file_name(headers, url.path))
        if kind is None or (kind is not Kind.HTML and not self.documents):
            return None
        if kind is Kind.HTML:
            bounds = self.identifier.bounds.enlarged() if is_large else None
            raw = self.identifier.read(body, declared or None, base or url.href, bounds)
        else:
            raw = self._document(kind, body, declared, base or url.href)
        others = self._others(raw, headers, base or url.href)
        in_headers = robots_words(headers.get("x-robots-tag", ()))
        told = raw.robots | in_headers
        nofollow = self._obeys(Outcome.NOFOLLOW, told)
        links: list[ReadLink] = []
        left: list[LeftLink] = []
        here = home(url)
        follows_none = Outcome.NOFOLLOW in self.obeyed
        is_deep = 0 < self.scope.max_depth <= depth
        found = [*raw.links, *others]
        anchors = [*raw.anchors, *[Anchor.NONE] * len(others)]
        targets = self._targets_of(found, raw.mishaps, is_deep=is_deep)
        for link, anchor, target in zip(found, anchors, targets, strict=True):
            if isinstance(target, Outcome):
                left.append(LeftLink(link.url[: self.scope.max_length or None], anchor, target))
            elif nofollow or (link.nofollow and follows_none):
                left.append(LeftLink(target.url.href, anchor, Outcome.NOFOLLOW))
            elif target.url.href != url.href:
                where, is_near = _locality(here, target.home), target.home.folder == here.folder
                links.append(ReadLink(target.url, where, anchor, target.named, is_near))
        identified = self.identifier.relevance(raw.identification)
        is_doubted = not self.keeps_translated and identified == PageLanguage.TARGET
        if is_doubted and kind is Kind.HTML and mark_of(body.decode("latin-1")):  # they are ASCII
            identified = PageLanguage.OTHER
        lack = _lack(raw, len(others)) if kind is Kind.HTML else Lack.NOTHING
        if lack is Lack.TEXT:
            identified = PageLanguage.UNKNOWN
        return PageReading(
            kind=kind,
            identification=raw.identification,
            identified=identified,
            needed=self._needed(raw, identified) if kind is Kind.HTML else Needed(),
            title=raw.title,
            simhash=_simhash(raw.text, kind, body),
            content_language=said(headers, "content-language"),
            vary=said(headers, "vary"),
            opt_outs=opt_outs(headers, in_headers, raw.robots),
            unwanted=next((word for word in _UNWANTED if self._obeys(word, told)), None),
            links=tuple(links),
            left=tuple(left),
            unread_links=raw.unread_links,
            is_cut=raw.is_cut,
            is_shell=lack is not Lack.NOTHING,
            is_empty=lack is Lack.TEXT,
            has_text=kind is Kind.HTML or bool(raw.text.strip()),
            clean=self._clean(raw, kind, identified) if self.clean_text else NO_TEXT,
            canonical=_canonical(raw, headers, url),
            mishaps=tuple(raw.mishaps.items()),
            other_links=len(others),
            text=raw.text[: self.text],
        )

    def _others(self, raw: Reading, headers: Headers, url: str) -> list[ParsedLink]:
        """Return the links of a page's headers, and those that only its scripts read."""
        try:
            links = list(of_headers(headers, Base(url))) if headers.keys() & _NAMING else []
            base, markup = raw.document.page.base, raw.document.markup
            if base is not None and (b"data-href" in markup or b"lick=" in markup):
                links += of_scripts(markup, base, raw.links)
            return links
        except Exception as error:  # of ours: the page's own links are followed all the same
            raw.mishaps.take(LINK, error)
            return []

    def links(self, body: bytes, content_type: str, url: str) -> list[str]:
        """Return the addresses of a page's links, read within larger bounds; none if it isn't HTML.

        None of a page that asks not to be followed.
        """
        if not is_html(content_type, body):
            return []
        page = Document(body, content_type, url, self.identifier.bounds.enlarged()).page
        if self._obeys(Outcome.NOFOLLOW, page.robots):
            return []
        follows_none = Outcome.NOFOLLOW in self.obeyed
        return [link.url for link in page.links if not (follows_none and link.nofollow)]

    def _document(self, kind: Kind, body: bytes, content_type: str, url: str) -> Reading:
        bounds = self.identifier.bounds
        most = Most(links=bounds.links, size=bounds.size)
        text = self.read_document(kind, body, content_type, most)
        return self.identifier.read_document(document_of(text, body, url, bounds))

    def _needed(self, raw: Reading, identified: PageLanguage) -> Needed:
        if self.requisites is None:
            return Needed()
        try:
            needed = self.requisites.of_page(raw.document, identified)
        except Exception as error:  # of ours: the page is read all the same
            raw.mishaps.take(REQUISITE, error)
            return Needed()
        raw.mishaps.update(dict(needed.mishaps))
        return needed

    def _clean(self, raw: Reading, kind: Kind, identified: PageLanguage) -> CleanText:
        if identified != PageLanguage.TARGET:
            return NO_TEXT
        codes = [target.code for target in self.identifier.targets]
        try:
            if kind is Kind.HTML:
                return of_page(raw.document.markup, raw.document.url, codes)
            return of_document(raw.text, codes)
        except Exception as error:
            raw.mishaps.take(TEXT, error)
            return NO_TEXT

    def _obeys(self, word: Outcome, told: frozenset[str]) -> bool:
        return word in self.obeyed and (
            word in told or ("none" in told and word != Outcome.NOARCHIVE)
        )

    @cached_property
    def _tags(self) -> tuple[str, ...]:
        return tuple(target.tag for target in self.identifier.targets)

    def _targets_of(
        self, links: list[ParsedLink], mishaps: Mishaps, *, is_deep: bool
    ) -> list[_Target | Outcome]:
        """Return what each link leads to, or why it is left out.

        ``is_deep`` says that they are deeper than the crawl goes. Menus stand on every page of a
        site: what was found of a link lately is known.
        """
        asked: list[_Link] = [
            (link.url, is_deep, link.hreflang or link.lang, link.text[:_MENU]) for link in links
        ]
        known = self._known
        new = [link for link in dict.fromkeys(asked) if link not in known]
        if not new:
            return [known[link] for link in asked]
        depth = self.scope.max_depth + is_deep
        try:
            found = self._judged(new, depth)
        except Exception:  # of ours, with one of them
            found = self._judged_singly(new, depth, mishaps)
        targets = [known.get(link) or found[link] for link in asked]
        if len(known) + len(found) > _TARGETS:
            known.clear()
        known.update((link, target) for link, target in found.items() if len(link[0]) <= _LONGEST)
        return targets

    def _judged_singly(
        self, links: list[_Link], depth: int, mishaps: Mishaps
    ) -> dict[_Link, _Target | Outcome]:
        found: dict[_Link, _Target | Outcome] = {}
        for link in links:
            try:
                found |= self._judged([link], depth)
            except Exception as error:
                mishaps.take(LINK, error)
                found[link] = Outcome.SPIDER_ERROR
        return found

    def _judged(self, links: list[_Link], depth: int) -> dict[_Link, _Target | Outcome]:
        """Return what links of this depth lead to, or why they are left out, all at once."""
        checked = self.scope.check_all([link[0] for link in links], depth)
        tags, homes = self._tags, iter([home(u) for u in checked if not isinstance(u, Outcome)])
        return {
            link: url
            if isinstance(url, Outcome)
            else _Target(url, next(homes), named_by(tags, url, link[2], link[3]))
            for link, url in zip(links, checked, strict=True)
        }


def document_of(text: Text, body: bytes, url: str, bounds: Bounds) -> TextDocument:
    """Return what a document says as a page, whose links are relative to its URL."""
    base = Base(url)
    page = ParsedPage(
        title=text.title,
        content=text.text,
        anchors="",
        hints="",
        lang=text.lang,
        locale="",
        links=[ParsedLink(base.join(to), linked, False) for to, linked in text.references],
        robots=text.robots,
        unread=text.unread,
        is_cut=text.is_cut,
    )
    return TextDocument(page, url, body[: bounds.size], text.decoded, bounds)


def _canonical(raw: Reading, headers: Headers, url: Url) -> str:
    """Return the URL that a page, or its headers, say to be its own; "" if it is, or none."""
    said = raw.document.page.canonical
    if not said and "link" in headers:
        said = canonical_of_headers(headers, Base(url.href))
    found = parse_served(said) if said else None
    return found.href if found is not None and found.href != url.href else ""


def _lack(raw: Reading, others: int) -> Lack:
    """Return what a page lacks until its scripts run; ``others`` are the links that they name."""
    try:
        return _found_lack(raw.document, others)
    except Exception as error:
        raw.mishaps.take(TEXT, error)
        return Lack.NOTHING


def _found_lack(document: Document, others: int = 0) -> Lack:
    page = document.page
    if len(page.content) <= MAX_BESIDE and is_empty(document):
        return Lack.TEXT
    links = len(page.links) + others
    if links <= FEW_LINKS and FETCHES.search(document.markup) and lacks_list(document):
        return Lack.LIST
    return Lack.LIST if links <= MAX_LINKS and lacks_links(document) else Lack.NOTHING


def _simhash(text: str, kind: Kind, body: bytes) -> int:
    """Return the simhash of a page's text; of a document without, as a scanned PDF, of its bytes.

    Else all of them would be near-duplicates.
    """
    examined = text[:EXAMINED]
    if kind is not Kind.HTML and not examined.strip():
        examined = body[:EXAMINED].decode("latin-1")
    return simhash(examined)


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


def _locality(here: Home, there: Home) -> Locality:
    if there.server == here.server:
        return Locality.SAME_SERVER
    return Locality.SAME_SITE if there.site == here.site else Locality.ELSEWHERE


class _Target(NamedTuple):
    url: Url
    home: Home
    named: Named
