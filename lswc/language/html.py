"""HTML: one parse of a page, within bounds: its text, its links and what it says of itself."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborHTMLParser, LexborNode

from lswc.language.base_url import Base
from lswc.language.large_pages import links_lost, within_tags, without_ballast
from lswc.mishaps import LINK, Mishaps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What is beyond is left out of the page, so that none holds the parser.

    ``size`` bytes are read whole, of them so many ``tags``; of what follows the text and links,
    within the same bounds. What no reader sees doesn't count (lswc.language.large_pages). So many
    ``links`` are taken, more than a page for readers has: what lists thousands is a sitemap, or a
    trap. The
    parser takes time by the square of the nesting: a page of 50,000 open <div> holds it for ten
    seconds, a tag of as many attributes for three. So a page with more ``nesting``, or with more
    ``attributes`` in a tag, is reduced to its text, links and requisites. The length of a tag, or
    of an attribute, takes no such time: pages hold whole images in one, and data of scripts.
    """

    links: int = 3_000
    size: int = 524_288
    tags: int = 12_000
    nesting: int = 200
    attributes: int = 4_000

    def enlarged(self) -> Bounds:
        """Return those of a page that is worth it: a front page of a server with relevant ones."""
        return replace(self, links=4 * self.links, size=4 * self.size, tags=4 * self.tags)


BOUNDS = Bounds()
"""The defaults: a page that is written for readers has less of everything."""


MAX_TITLE = 1_000
"""Characters of a title that are kept."""

# What a page whose letters are decomposed holds: U+0300 to U+036F, the marks of kana, Hangul's
# letters; or references, which may be to any of these. A pattern finds two bytes ten times faster
# than ``in``.
_MARKS = {
    b"\xe3": re.compile(rb"\xe3\x82[\x99\x9a]"),
    b"\xe1": re.compile(rb"\xe1\x84"),
    b"&": re.compile(rb"&#[xX\d]"),
}
_MARK = re.compile("[\u0300-\u036f\u1100-\u1112\u3099\u309a]")
_DECOMPOSED = re.compile(
    "\\w[\u0300-\u036f]{1,4}|[\u3041-\u30ff][\u3099\u309a]"
    "|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
)
# A TITLE in the body is that of an icon.
_BOILERPLATE = ["script", "style", "select", "a", "nav", "footer", "title"]
_CODE = ["pre", "code", "samp", "kbd"]
_ANY_CODE = (",".join(_CODE),)
_SELECTOR = "a[href],area[href],frame[src],iframe[src],link[href],meta,base[href],title"
_FOLLOWED_RELS = frozenset({"next", "prev", "alternate", "canonical", "index", "contents", "start"})
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"'>]+)", re.IGNORECASE)

_A = next(iter(LexborHTMLParser("<a>").css("a"))).tag_id
_OF_LINKS = frozenset({"rel", "hreflang", "lang", "xml:lang"})
_LONGEST = 100  # characters of an attribute that is a list of words or a tag
# HTML Standard §2.4.4, extracting a character encoding from a meta element.
_CHARSET = re.compile(r"charset\s*+=\s*+[\"']?\s*+([\w:.+-]+)", re.IGNORECASE)
_BCP_47 = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,6}")

_MANY_TAGS = 3_000  # fewer may nest as they like
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_TAG_START = re.compile(rb"<[a-zA-Z/]")
# HTML Standard §13.2.5.6 to §13.2.5.40: how a tag is read, wherever it begins.
_ATTRIBUTE = (
    rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+"
    rb"(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_WHOLE_TAG = re.compile(rb"</?[a-zA-Z][^\t\n\f\r />]*+(?:%b)*+" % _ATTRIBUTE)
_MOST_READ = 8  # times the size of a page: tags may seem to begin within a tag
_SHADOW_ROOT = b"shadowrootmode"
_LOWER = 0x20  # the bit of a small letter
_TEMPLATE = re.compile(rb"<(/?)template(?=[\s/>])([^>]*)", re.IGNORECASE)
_NEVER_NESTED = frozenset(
    b"area base br col dd dt frame hr img input li link meta option p path script source style td"
    b" th tr wbr".split()
)
# Formatting elements that aren't closed are opened again in each block that follows, with their
# attributes: 60 KB of such tags made 12 million elements.
_FORMATTING = b"b big code em font i nobr s small strike strong tt u".split()
_FORMAT = re.compile(rb"<(/?)(?=(?:%b)[\s/>])" % b"|".join(_FORMATTING), re.IGNORECASE)
_FORMAT_WITH_ATTRIBUTES = re.compile(rb"<(?:%b)[\s/]" % b"|".join(_FORMATTING), re.IGNORECASE)
_LONGEST_FORMATTING = 8  # bytes from "<" on
_BEGIN_NO_FORMATTING = bytes(
    sign for sign in range(256) if bytes((sign,)).lower() not in {name[:1] for name in _FORMATTING}
)
_AFTER_A_NAME = np.isin(np.arange(256), tuple(b"\t\n\v\f\r /"))
_MANY_COPIES = 150_000
_LARGE = 60_000  # bytes; in a smaller page no tag has attributes enough for half a second
_BETWEEN_ATTRIBUTES = bytes.maketrans(b"/=", b"  ")
_ICON_DEPTH = 20  # elements from a graphic to its title
_MAX_BASE = 8_000  # every link is joined to it
_ANY_TAG = re.compile(rb"</?[a-zA-Z][^>]*>?")
_KEPT_TAG = re.compile(
    rb"</?(?:a|area|base|embed|frame|iframe|img|input|link|meta|script|source|style|title|track)"
    rb"(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))?){0,20}\s*/?>",
    re.IGNORECASE,
)


Attributes = dict[str, str | None]
_Found = tuple[str, bool, str, str]  # the fields of a ParsedLink but its URL


class ParsedLink(NamedTuple):
    """A link of a page: absolute URL, anchor text, and whether it says nofollow.

    ``hreflang`` is the language that the page says the target is in, ``lang`` the one it says
    the anchor text is in: BCP 47 tags in lower case, "" if it says none (HTML Standard §4.6.1,
    §3.2.6.2; in XHTML ``xml:lang``, XML 1.0 §2.12).
    """

    url: str
    text: str
    nofollow: bool
    hreflang: str = ""
    lang: str = ""


# A page has many, and this takes a third of the time that ParsedLink(...) does.
_link: Callable[[tuple[str, str, bool, str, str]], ParsedLink] = partial(tuple.__new__, ParsedLink)


class ParsedPage(NamedTuple):
    """What one parse gives.

    ``content`` is the text outside links, menus and footers, one text node a line;
    ``anchors`` is that of all links, one a line. ``hints`` is text for a page without any:
    alternative texts, descriptions. ``lang`` and ``locale`` are what the page declares, the
    latter for Open Graph, in lower case; ``charset`` is what the last META that names one says.
    ``prose`` is ``content`` without code and what programs print, None if there is none of these.
    ``canonical`` is the URL that it says to be its own, "" if it says none.
    ``unread`` is the number of links beyond the bounds; ``is_cut`` says that some were in what was
    cut off or taken out because it would hold the parser. ``mishaps`` are errors of ours that cost
    a link each (lswc.mishaps). ``base`` is what its links are relative to.
    """

    title: str
    content: str
    anchors: str
    hints: str
    lang: str
    locale: str
    links: list[ParsedLink]
    robots: frozenset[str]
    unread: int
    is_cut: bool
    charset: str = ""
    prose: str | None = None
    canonical: str = ""
    mishaps: Mapping[str, int] = {}
    base: Base | None = None


def parse(
    source: bytes,
    url: str,
    charset: str = "utf-8",
    bounds: Bounds = BOUNDS,
    bounded: bytes | None = None,
) -> ParsedPage:
    """Parse HTML in UTF-8; ``url`` is the page's own, ``charset`` the one it came in.

    ``bounded`` is what ``flattened`` makes of the source, if that is known. Broken UTF-8 is
    replaced, never an error.
    """
    bounded = flattened(source, bounds) if bounded is None else bounded
    tree = LexborHTMLParser(bounded)
    compose = composed if _may_be_decomposed(bounded) else None
    reader = _Reader(url, charset, bounds.links, len(source), compose)
    reader.take(tree.css(_SELECTOR))
    anchors = "\n".join([link.text for link in reader.links])
    root = tree.root
    lang = next(filter(None, map(_lang, (root, tree.body))), "")
    tree.strip_tags(_BOILERPLATE)
    body = tree.body or root
    content, hints = body.text(separator="\n", strip=True) if body else "", "\n".join(reader.hints)
    prose = None
    if body and body.any_css_matches(_ANY_CODE):
        tree.strip_tags(_CODE)
        prose = body.text(separator="\n", strip=True)
    if compose:
        content, hints, prose = compose(content), compose(hints), prose and compose(prose)
    lost = 0 if bounded is source else links_lost(without_ballast(source), bounded)
    return ParsedPage(
        reader.title,
        content,
        anchors,
        hints,
        lang or reader.language,
        reader.locale,
        reader.links,
        frozenset(reader.robots),
        reader.unread + lost,
        lost > 0,
        reader.charset,
        prose,
        reader.canonical,
        reader.mishaps,
        reader.base,
    )


def _lang(node: LexborNode | None) -> str:
    """Return the language that an element says its text is in, as ``lang`` or ``xml:lang``."""
    if node is None:
        return ""
    return (node.attributes.get("lang") or node.attributes.get("xml:lang") or "").lower()


def composed(text: str) -> str:
    """Return text in Unicode's Normalization Form C (UAX #15), as far as letters go.

    Letter by letter: of a long run of marks the whole would take the square.
    """
    if _MARK.search(text) is None:
        return text
    return _DECOMPOSED.sub(lambda letter: unicodedata.normalize("NFC", letter[0]), text)


def _may_be_decomposed(source: bytes) -> bool:
    if b"\xcc" in source or b"\xcd" in source:
        return True
    # Most pages lack the first byte of one or the other, which is found out ten times faster.
    return any(first in source and mark.search(source) for first, mark in _MARKS.items())


class _Reader:
    """Collects the links of a page in document order."""

    def __init__(
        self, url: str, charset: str, most: int, size: int, compose: Callable[[str], str] | None
    ) -> None:
        self.title = ""
        self._compose = compose
        self.links: list[ParsedLink] = []
        self._hrefs: list[str] = []
        self._found: list[_Found] = []
        self.robots: set[str] = set()
        self.hints: list[str] = []
        self.locale = ""
        self.canonical = ""
        self._canonical = ""
        self.language = ""
        self.charset = ""
        self.unread = 0
        self.mishaps = Mishaps()
        self.base = Base(url, charset)
        self._most = most
        self._text_left = size
        self._has_base = False

    def take(self, nodes: list[LexborNode]) -> None:
        """Take the elements that _SELECTOR finds, in document order.

        Links are relative to the page's BASE wherever that is (HTML Standard §2.4.3).
        """
        for node in nodes:
            try:
                if node.tag_id == _A:
                    self._take_anchor(node)
                else:
                    self._take_other(node)
            except Exception as error:  # of ours: it costs this link, not the page
                self.mishaps.take(LINK, error)
        self.links = [_link((url, *found)) for url, found in self._joined()]
        if self._canonical:
            try:
                self.canonical = self.base.join(self._canonical)
            except Exception as error:
                self.mishaps.take(LINK, error)

    def _joined(self) -> Iterable[tuple[str, _Found]]:
        """Return what was found with absolute URLs."""
        try:
            return zip(self.base.join_all(self._hrefs), self._found, strict=True)
        except Exception:  # of ours, with one of them
            joined = []
        for href, found in zip(self._hrefs, self._found, strict=True):
            try:
                joined.append((self.base.join(href), found))
            except Exception as error:
                self.mishaps.take(LINK, error)
        return joined

    def _take_anchor(self, node: LexborNode) -> None:
        attributes = node.attributes
        href = attributes.get("href")
        if href is None:  # of SVG (SVG 2 §16.1.1); the selector knows it by its local name
            href = attributes.get("xlink:href")
        if not href or href[0] == "#":
            return
        if len(self._hrefs) >= self._most:
            self.unread += 1
            return
        self._hrefs.append(href)
        text = self._text(node)
        # Most have none of these.
        is_plain = _OF_LINKS.isdisjoint(attributes)
        self._found.append((text, False, "", "") if is_plain else _said(text, attributes))

    def _take_other(self, node: LexborNode) -> None:
        tag, attributes = node.tag, node.attributes
        if tag == "meta":
            self._meta(attributes)
        elif tag == "link":
            self._link(attributes)
        elif tag == "title":
            if not (self.title or _is_in_svg(node)):
                self.title = self._text(node)[:MAX_TITLE]
        elif tag == "base":
            if "href" in attributes:  # else it is SVG's, which has none
                self._set_base(attributes["href"] or "")
        else:
            href = attributes.get("href") or attributes.get("src")
            self._add(href, attributes.get("alt"), attributes)

    def _set_base(self, href: str) -> None:
        if not self._has_base and len(href) <= _MAX_BASE:
            self.base = self.base.rebased(href)
        self._has_base = True

    def _text(self, node: LexborNode) -> str:
        """Return an element's text; none once they have more than the page: they are nested."""
        text = node.text_lexbor() if self._text_left > 0 else ""
        self._text_left -= len(text)
        text = " ".join(text.split())
        return self._compose(text) if self._compose else text

    def _link(self, attributes: Attributes) -> None:
        rel = attributes.get("rel")
        if rel and is_followed(rel[:_LONGEST]):
            before = len(self._hrefs)
            self._add(attributes.get("href"), attributes.get("title"), attributes)
            is_added = len(self._hrefs) > before
            if not self._canonical and is_added and "canonical" in rel.lower():
                self._canonical = self._hrefs[before]

    def _meta(self, attributes: Attributes) -> None:
        content = attributes.get("content") or ""
        name = (attributes.get("name") or "").lower()
        if name in ("robots", "lswc"):
            self.robots.update(filter(None, content.lower().replace(",", " ").split()))
        elif name in ("tdm-reservation", "tdm-policy"):
            self.robots.add(f"{name}={content.strip()}")
        elif name in ("description", "keywords"):
            self.hints.append(content)
        elif "property" in attributes:
            self._property((attributes["property"] or "").lower(), content)
        elif "charset" in attributes:
            self.charset = (attributes["charset"] or "").strip().lower() or self.charset
        elif "http-equiv" in attributes:
            self._equivalent((attributes["http-equiv"] or "").lower(), content)

    def _property(self, name: str, content: str) -> None:
        """Take a property of the Open Graph protocol."""
        if name == "og:locale":
            self.locale = self.locale or content.lower()
        elif name in ("og:title", "og:description"):
            self.hints.append(content)

    def _equivalent(self, name: str, content: str) -> None:
        """Take what stands for an HTTP header (HTML Standard §4.2.5.3)."""
        if name == "content-language":
            self.language = self.language or language_tag(content)
        elif name == "content-type":
            named = _CHARSET.search(content)
            self.charset = named[1].lower() if named else self.charset
        elif name == "refresh":
            self._add(refreshed_to(content), "", {})

    def _add(self, href: str | None, text: str | None, attributes: Attributes) -> None:
        if not href or href[0] == "#":
            return
        if len(self._hrefs) >= self._most:
            self.unread += 1
            return
        self._hrefs.append(href)
        self._found.append(_said(" ".join((text or "").split()), attributes))


def _said(text: str, attributes: Attributes) -> _Found:
    """Return what a link says besides its address."""
    get = attributes.get
    rel, hreflang = get("rel"), get("hreflang")
    lang = get("lang") or get("xml:lang")  # of pages that are XHTML, too
    return (
        text,
        rel is not None and _is_nofollow(rel),
        language_tag(hreflang) if hreflang else "",
        language_tag(lang) if lang else "",
    )


def _is_in_svg(node: LexborNode) -> bool:
    """Tell whether a TITLE is that of a graphic, as icons have them, and not the page's."""
    above = node.parent
    for _ in range(_ICON_DEPTH):
        if above is None or above.tag == "svg":
            break
        above = above.parent
    return above is not None and above.tag == "svg"


@lru_cache(maxsize=1_000)
def is_followed(rel: str) -> bool:
    """Tell whether what a LINK leads to is a page, by its ``rel``."""
    rels = frozenset(rel.lower().split())
    return bool(rels & _FOLLOWED_RELS) and "stylesheet" not in rels


def refreshed_to(content: str) -> str:
    """Return where a refresh leads, "" if that is the page itself (HTML Standard §4.2.5.3)."""
    refresh = _REFRESH.match(content)
    return refresh[1] if refresh and not refresh[1].strip().isdecimal() else ""


def language_tag(text: str) -> str:
    """Return a BCP 47 tag in lower case; "" for what can't be one."""
    return _known_tag(text) if len(text) <= _LONGEST else ""


@lru_cache(maxsize=1_000)
def _known_tag(text: str) -> str:
    tag = text.strip().lower().replace("_", "-")
    return tag if _BCP_47.fullmatch(tag) else ""


def _is_nofollow(rel: str) -> bool:
    return "nofollow" in rel.lower().split()


def flattened(source: bytes, bounds: Bounds) -> bytes:
    """Return the page, its text and links where it has too many tags, or these nest too deep.

    What is in a declarative shadow root (HTML Standard §4.12.3) is part of the page.
    """
    characters, starts = _tags(source)
    if _may_have_templates(characters, starts) and _SHADOW_ROOT in source.lower():
        source = _with_shadow_roots(source)
        characters, starts = _tags(source)
    if _has_copies(source, characters, starts):
        source = _FORMAT.sub(rb"<\1x-", source)
        characters, starts = _tags(source)
    if len(starts) > bounds.tags:
        source = within_tags(source, bounds.tags)
        characters, starts = _tags(source)
    if (len(starts) > _MANY_TAGS and _is_deep(source, bounds.nesting)) or (
        _may_have_attributes(source, characters, starts, bounds.attributes)
        and _has_attributes(source, starts, bounds.attributes)
    ):
        return _ANY_TAG.sub(lambda tag: tag[0] if _KEPT_TAG.fullmatch(tag[0]) else b"\n", source)
    return source


def _tags(source: bytes) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """Return the bytes of a page, and where its tags begin."""
    characters = np.frombuffer(source, np.uint8)
    return characters, (characters == ord("<")).nonzero()[0]


def _may_have_templates(characters: npt.NDArray[np.uint8], starts: npt.NDArray[np.intp]) -> bool:
    """Tell whether a tag's name begins as TEMPLATE does: a look at the whole page takes longer."""
    seconds = characters.take(starts + 2, mode="clip") | _LOWER == ord("e")
    return bool((characters.take(starts[seconds] + 1, mode="clip") | _LOWER == ord("t")).any())


def _with_shadow_roots(source: bytes) -> bytes:
    """Return the page with shadow roots as plain elements; templates of scripts stay so."""
    opened: list[bool] = []

    def renamed(tag: re.Match[bytes]) -> bytes:
        if not tag[1]:
            opened.append(_SHADOW_ROOT in tag[2].lower())
        is_root = opened[-1] if opened else False
        if tag[1] and opened:
            opened.pop()
        return b"<%bx-shadow%b" % (tag[1], tag[2]) if is_root else tag[0]

    return _TEMPLATE.sub(renamed, source)


def _has_copies(
    source: bytes, characters: npt.NDArray[np.uint8], starts: npt.NDArray[np.intp]
) -> bool:
    """Tell whether formatting elements may be copied too often.

    Most pages are done with when their tags are counted, or those that begin as these do.
    """
    tags = len(starts)
    if tags**2 <= _MANY_COPIES:
        return False
    firsts = characters[starts[:-1] + 1].tobytes().translate(None, _BEGIN_NO_FORMATTING)
    if tags * (len(firsts) + 1) <= _MANY_COPIES:
        return False
    begins = starts[starts < len(characters) - _LONGEST_FORMATTING] + 1
    pairs = characters[begins].astype(np.intp) << 8 | characters[begins + 1]
    lengths = _lengths_of_formatting()[pairs]
    after = characters[(begins + lengths)[lengths > 0]]
    likely = np.count_nonzero(_AFTER_A_NAME[after]) + _LONGEST_FORMATTING
    return bool(tags * likely > _MANY_COPIES) and (
        tags * len(_FORMAT_WITH_ATTRIBUTES.findall(source)) > _MANY_COPIES
    )


@cache
def _lengths_of_formatting() -> npt.NDArray[np.uint8]:
    """Return the length of the formatting element's name that begins with two bytes, else 0."""
    table = np.zeros(1 << 16, np.uint8)
    for name in _FORMATTING:
        seconds = (name[1], name[1] - 32) if len(name) > 1 else np.flatnonzero(_AFTER_A_NAME)
        for first in (name[0], name[0] - 32):
            table[[first << 8 | int(second) for second in seconds]] = len(name)
    return table


def _may_have_attributes(
    source: bytes, characters: npt.NDArray[np.uint8], starts: npt.NDArray[np.intp], most: int
) -> bool:
    """Tell whether a tag may have more attributes, in a fraction of the time it takes to know.

    Each takes two bytes. Quotes may hide where the tag ends, but then each is a word.
    """
    least = 2 * most
    return (
        _longest_gap(starts, len(source)) > least
        and _has_long_tag(source, characters[: len(source)], least)
    ) or (len(source) > _LARGE and _words(source) > most)


def _has_attributes(source: bytes, starts: npt.NDArray[np.intp], most: int) -> bool:
    """Tell whether a tag has more attributes, wherever the parser may see one begin.

    Each "<" is taken for the start of a tag, for scripts and comments may end otherwise than they
    seem to. What then has too much to be read is taken for hostile.
    """
    left = _MOST_READ * len(source)
    too_many = _tag_with_attributes(most + 1)
    for start in starts.tolist():
        tag = _WHOLE_TAG.match(source, start)
        if tag is None:
            continue
        left -= tag.end() - start
        if left < 0 or (tag.end() - start > 2 * most and too_many.match(source, start)):
            return True
    return False


@cache
def _tag_with_attributes(number: int) -> re.Pattern[bytes]:
    """Return what matches a tag that has so many attributes."""
    return re.compile(rb"</?[a-zA-Z][^\t\n\f\r />]*+(?:%b){%d}" % (_ATTRIBUTE, number))


def _longest_gap(starts: npt.NDArray[np.intp], size: int) -> int:
    """Return the bytes of the longest piece between two tags' starts, or before the first one."""
    if not len(starts):
        return size
    ends = max(int(starts[0]), size - int(starts[-1]))
    return max(ends, int(np.maximum.reduce(starts[1:] - starts[:-1], initial=0)))


def _has_long_tag(source: bytes, characters: npt.NDArray[np.uint8], most: int) -> bool:
    """Tell whether a tag begins so many bytes before the next sign that could end one."""
    ends = np.concatenate(([-1], np.flatnonzero(characters == ord(">")), [len(source)]))
    runs = np.flatnonzero(ends[1:] - ends[:-1] > most).tolist()
    return any(
        _TAG_START.search(source, int(ends[run]) + 1, int(ends[run + 1]) - most) for run in runs
    )


def _words(source: bytes) -> int:
    """Return the number of different words, at least that of any tag's different attributes.

    An attribute that is repeated takes the parser no time.
    """
    return len(set(source.translate(_BETWEEN_ATTRIBUTES).split()))


def _is_deep(source: bytes, most: int) -> bool:
    """Tell whether elements may be nested too deep, counting each name for itself."""
    depths: dict[bytes, int] = defaultdict(int)
    total = 0
    for slash, name in _TAG.findall(source):
        if name in _NEVER_NESTED:
            continue
        if not slash:
            depths[name] += 1
            total += 1
            if total > most:
                return True
        elif depths[name]:
            depths[name] -= 1
            total -= 1
    return False
