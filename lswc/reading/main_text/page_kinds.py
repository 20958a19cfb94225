"""Kinds of pages: article, forum, listing, documentation, product or service, told by signs.

A sign is what markup says in whatever language: a type of schema.org or Open Graph, the program
that made the page, a word of its address, names of elements, how much text of which sort there is.
Each weighs for kinds, and the heaviest one is taken: a logistic regression, whose weights are from
the even half of WCXB's pages for development (docs/lab/corpus.md).
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

from lswc.reading.main_text.blocks import LONG, MAIN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser

    from lswc.reading.main_text.blocks import Block, Box

PageKind: TypeAlias = Literal["article", "documentation", "forum", "listing", "product", "service"]
"""What a page is: an article may be of a blog, a listing is of links, goods or works, a service is
what an office or a firm says of what it does."""

POSTS = frozenset({"by forum", "of posts"})
"""Signs of which one says that a page is made of posts, each as much of its text as another."""

SURE = 14
"""Tenths more than of any other kind by which a kind is sure: four times as likely. Of WCXB's half
for development, and of trafilatura's set, of which no page gets worse by that, with steps of 6."""

_KINDS: tuple[PageKind, ...] = (
    "article", "documentation", "forum", "listing", "product", "service",
)  # fmt: skip
_BEFORE = (5, -8, -6, 13, -7, 3)  # what each weighs without a sign
# Tenths, for each of _KINDS. Those without a comment are the regression's. The set has too few of
# the others, which say what they are by themselves.
_WEIGHTS: dict[str, tuple[int, int, int, int, int, int]] = {
    "type article": (13, 0, 0, 0, 0, 0),
    "type forum": (-3, 0, 14, 0, 0, 0),
    "type organization": (-5, 0, 0, 0, 0, 4),
    "type product": (0, 0, 0, 0, 18, 0),
    "type listing": (0, 0, 0, 8, 0, 0),  # few
    "type documentation": (0, 12, 0, 0, 0, 0),  # few
    "type service": (0, 0, 0, 0, 0, 6),  # few
    "og article": (14, 0, 0, 0, 0, 4),
    "og product": (0, 0, 0, 0, 15, 0),
    "og website": (0, 0, 0, -4, 0, 2),
    "published": (4, 0, 0, -5, 0, 0),
    "by forum": (0, 0, 15, 0, 0, 0),  # few
    "by documentation": (0, 15, 0, 0, 0, 0),  # few
    "host forum": (0, 0, 12, 0, 0, 0),  # few
    "host documentation": (0, 30, 0, 0, 0, 0),
    "url article": (14, 0, 0, 0, 0, 0),
    "url listing": (0, 0, 0, 12, 0, 0),
    "url documentation": (0, 27, 0, 0, 0, 0),
    "url forum": (0, 0, 33, 0, 0, 0),
    "url product": (0, 0, 0, 0, 28, 0),
    "url service": (0, 0, 0, 0, 0, 17),
    "url front": (-8, 0, 0, 0, 0, 6),
    "url headline": (9, 0, 2, -16, 0, -8),
    "names action": (0, 0, 0, 0, 3, 7),
    "names author": (13, 0, 0, 2, 0, 0),
    "names cart": (0, 0, 0, 0, 14, 0),
    "names entry": (6, 0, 0, 0, 0, 0),
    "names documentation": (0, 6, 0, -1, 0, 0),
    "names gallery": (0, 0, 0, 0, 3, -3),
    "names goods": (0, 0, 0, 8, 0, 0),
    "names hero": (0, 0, 0, 0, 0, 7),
    "names pages": (-7, 0, 0, 5, 0, 0),
    "names price": (-10, 0, 0, 2, 11, 0),
    "names reply": (0, 0, 10, -1, 0, 3),
    "names variant": (0, 0, 0, 0, 10, -1),
    "code": (0, 22, 0, 0, 0, 0),
    "one comment": (0, 0, 4, 0, 0, -1),
    "5 comments": (0, 0, 16, 0, 0, 0),
    "3 headings": (0, 0, -9, 0, 0, 0),
    "fifth in links": (-4, 0, 0, 17, 0, 0),
    "long texts": (8, 0, 0, 1, 0, 0),
    "3 parts alike": (0, 0, 0, 0, 0, 7),
    "8 parts alike": (-10, 0, 0, 0, 0, 0),
    "12 prices": (0, 0, 0, 11, 0, 0),
    "root body": (8, 0, 0, 0, 0, 0),
    "3 texts": (1, 0, 0, -7, 0, 0),
    "10 texts": (7, 0, 0, 0, 0, 0),
    "30 texts": (9, 0, 0, 0, -3, 0),
}

_TYPES = {
    "article": "article newsarticle blogposting reportagenewsarticle liveblogposting",
    "forum": "discussionforumposting qapage question answer comment socialmediaposting",
    "listing": "itemlist collectionpage searchresultspage offercatalog",
    "documentation": "techarticle apireference",
    "product": "product productgroup individualproduct book movie videogame vehicle",
    "service": "service localbusiness professionalservice",
    "organization": "organization corporation",
}
_OF_TYPE = {name: f"type {kind}" for kind, names in _TYPES.items() for name in names.split()}
_MAKERS = {
    "by forum": re.compile(
        r"discourse|phpbb|vbulletin|xenforo|mybb|simple machines|nodebb|flarum|vanilla|invision|"
        r"punbb|fluxbb|discuz"
    ),
    "by documentation": re.compile(
        r"sphinx|mkdocs|docusaurus|gitbook|doxygen|javadoc|rustdoc|docbook|mdbook|vitepress|antora|"
        r"asciidoctor|mediawiki|dokuwiki|starlight|docfx"
    ),
}
_HOSTS = {
    "host forum": re.compile(
        r"(?:forums?|community|discuss|bbs|board|answers|ask|talk|webboard)\."
    ),
    "host documentation": re.compile(
        r"(?:docs?|help|support|wiki|developers?|manual|learn|api|kb)\.|.*(?:readthedocs|gitbook)"
    ),
}
_IN_URL = {
    "forum": (
        r"forums?|community|threads?|topics?|viewtopic|showthread|discussions?|questions?|boards?|"
        r"bbs|comments|thread-|t(?=/)|r(?=/)|webboard|dien-?dan|keijiban|kratoo"
    ),
    "documentation": (
        r"docs?|documentation|manuals?|reference|api|wiki|guides?|tutorials?|help|handbook|man|"
        r"learn|userguide|javadoc|support|kb"
    ),
    "article": (
        r"blogs?|news|articles?|posts?|story|stories|magazine|archives?|insights?|press|tin-?tuc|"
        r"\d{4}/\d\d"
    ),
    "product": r"products?|items?|itm|dp|p|pdp?|sku|prod|product-\w+|goods|san-?pham|shohin",
    "listing": (
        r"categor(?:y|ies)|collections?|c|cat|shop|browse|catalog(?:ue)?|department|b|w|all|store|"
        r"plp|search|tags?|section|list|archive|directory|rankings?|charts?|danh-?muc"
    ),
    "service": (
        r"services?|solutions?|platform|features?|pricing|about|programs?|degrees?|admissions?|"
        r"contact|consulting|company|software|careers?"
    ),
}
_WORDS = {
    f"url {kind}": re.compile(rf"[/?&=.](?:{words})(?=$|[/.?&=-])")
    for kind, words in _IN_URL.items()
}
_HEADLINE = re.compile(r"(?:[a-z]{2,}[-_]){4,}")
# As written in classes, without hyphens; those that begin with a blank begin a class.
_NAMES = {
    "names action": (b" cta", b"testimonial", b"pricing", b"btnprimary", b"calltoaction"),
    "names author": (b"byline", b"author"),
    "names cart": (b"addtocart", b"addtobag", b"addtobasket", b"buynow"),
    "names entry": (b"entrycontent", b"postcontent", b"articlebody", b"singlepost"),
    "names documentation": (
        b"toctree", b"docsearch", b"editpage", b"editthis", b" docs", b"headerlink", b"apidoc",
        b"mwparser", b"themedoc",
    ),
    "names gallery": (
        b"productgallery", b"productimage", b"productmedia", b"productdetail", b" pdp",
    ),
    "names goods": (
        b"productcard", b"producttile", b"productitem", b"productgrid", b"productlist", b" plp",
    ),
    "names hero": (b" hero",),
    "names pages": (b"pagination", b"loadmore"),
    "names price": (b"price",),
    "names reply": (b"reply", b"quote"),
    "names variant": (b" sku", b"swatch", b"singleproduct"),
}  # fmt: skip
_CLASS = re.compile(rb'class="([^"]{1,300})')
_PRICE = re.compile(r"[$€£¥₩฿₫₭៛￥]\s?\d|\d\s?(?:[€₫₭៛円元원บ]|บาท|USD|EUR|VND|THB|đ\b|kr\b)")

_POSTING = b"DiscussionForumPosting"  # schema.org: questions and their answers are no such
_STATED = (
    "meta[property='og:type'][content],meta[property='article:published_time'],"
    "meta[name=generator][content],[itemtype]"
)
_TYPE = re.compile(r'"@type"\s*:\s*(\[[^\]]{0,200}\]|"[^"]{1,60}")')
_NAME = re.compile(r"\w+")
_MOST = 500  # elements that are looked at
_LONGEST = 200_000  # characters of a script that are looked at
_LONGEST_URL = 300
_LONGEST_PRICE = 30  # letters of a block that is a price
_BLOCKS_OF_PART = 3
_FIFTH = 0.2
_STRONG = 7  # tenths
_LONG_TEXT = 250  # letters of the mean text


def signs_of(
    markup: bytes, tree: LexborHTMLParser, url: str, linked_data: Sequence[str]
) -> set[str]:
    """Return the signs of a page in its markup, its scripts of JSON-LD, and its address."""
    names = b" " + b" ".join(set(_CLASS.findall(markup))).lower().translate(None, b"-_")
    found = {sign for sign, parts in _NAMES.items() if any(part in names for part in parts)}
    found.update(_stated(tree), _of_url(url[:_LONGEST_URL].lower()))
    if _POSTING in markup:
        found.add("of posts")
    for script in linked_data:
        for match in _TYPE.finditer(script, 0, _LONGEST):
            found.update(_of_types(match[1]))
    return found


def _of_types(names: str) -> Iterator[str]:
    return filter(None, map(_OF_TYPE.get, _NAME.findall(names.lower())))


def _stated(tree: LexborHTMLParser) -> Iterator[str]:
    for node in tree.css(_STATED)[:_MOST]:
        said = node.attributes
        content = (said.get("content") or "").strip().lower()
        if "itemtype" in said:
            yield from _of_types((said["itemtype"] or "").rpartition("/")[2])
        elif "name" in said:
            yield from (sign for sign, names in _MAKERS.items() if names.search(content))
        elif said.get("property") == "og:type":
            yield "og " + content.partition(".")[0]
        else:
            yield "published"


def _of_url(url: str) -> Iterator[str]:
    host, _, path = url.partition("://")[2].partition("/")
    yield from (sign for sign, names in _HOSTS.items() if names.match(host.removeprefix("www.")))
    yield from (sign for sign, words in _WORDS.items() if words.search(f"/{path}"))
    if not path.partition("?")[0]:
        yield "url front"
    if _HEADLINE.search(path):
        yield "url headline"


def kind_of(signs: set[str], found: Sequence[Block], boxes: Sequence[Box]) -> tuple[PageKind, bool]:
    """Return the kind of a page with these signs, whose blocks have been judged; if it is sure."""
    sums = list(_BEFORE)
    for sign in signs.union(_of_blocks(found, boxes)):
        for place, weight in enumerate(_WEIGHTS.get(sign, ())):
            sums[place] += weight
    *_, second, best = sorted(sums)
    return _KINDS[sums.index(best)], best - second >= SURE


def speaks_for(signs: set[str], kind: PageKind) -> bool:
    """Tell whether a strong sign in a page's markup or address speaks for a kind."""
    place = _KINDS.index(kind)
    return any(_WEIGHTS[sign][place] >= _STRONG for sign in signs if sign in _WEIGHTS)


def _of_blocks(found: Sequence[Block], boxes: Sequence[Box]) -> Iterator[str]:
    texts = [block.letters if block.is_text else 0.0 for block in found]
    before = [0.0, *accumulate(texts)]
    alike = Counter(
        box.place
        for box in boxes
        if box.end - box.begin >= _BLOCKS_OF_PART and before[box.end] - before[box.begin] >= LONG
    )
    own = [size for size, block in zip(texts, found, strict=True) if size and block.kind in MAIN]
    prices = sum(
        block.letters < _LONGEST_PRICE and bool(_PRICE.search(block.text)) for block in found
    )
    marks = Counter(box.mark for box in boxes)
    whole, linked = sum(block.letters for block in found), sum(block.linked for block in found)
    signs = {
        "code": any(block.kind == "code" for block in found),
        "one comment": marks["comment"] > 0,
        "5 comments": marks["comment"] >= 5,
        "3 headings": sum(block.level > 0 and block.kind in MAIN for block in found) >= 3,
        "fifth in links": linked >= _FIFTH * whole,
        "long texts": sum(own) >= _LONG_TEXT * len(own) > 0,
        "3 parts alike": max(alike.values(), default=0) >= 3,
        "8 parts alike": max(alike.values(), default=0) >= 8,
        "12 prices": prices >= 12,
        "root body": marks["body"] > 0,
        **{f"{least} texts": len(own) >= least for least in (3, 10, 30)},
    }
    return (sign for sign, is_there in signs.items() if is_there)
