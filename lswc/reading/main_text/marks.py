"""Marks of a page's elements: what their names say of the text in them.

Those who write pages, and the programs that make them, name parts of a page alike, in whatever
language it is: ``entry-content``, ``related``, ``comments``. These are names of elements, by which
style sheets find them, not words of texts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Mark: TypeAlias = Literal[
    "", "comment", "links", "notice", "hidden", "caption", "body", "article", "main"
]
"""What an element is marked as: a part beside the text, or one of ROOTS; "" if nothing says."""

ROOTS: tuple[Mark, ...] = ("body", "article", "main")
"""Marks of the element that holds a page's text, the closest first."""

_BESIDE: dict[Mark, str] = {
    "comment": (
        r"comments?|commentlist|commentary|disqus|respond|repl(y|ies)|kommentare?|leserkommentare?|"
        r"comentarios?|commentaires?|discussion|livefyre|fb-comments|postcomment"
    ),
    "links": (
        r"related\w*|recommend\w*|recirc\w*|teasers?|promos?|trending|popular|most-\w+|latest|"
        r"(more|read)-(news|stories|articles|posts|on|from|next|also)|also-read|see-also|onward|"
        r"sidebar\w*|widgets?|carousel|slider|playlist|newsfeed|outbrain|taboola|zergnet|yarpp\w*|"
        r"tags?|tagcloud|taglist|topics?|categor(y|ies)|breadcrumb\w*|crumbs|menu\w*|toolbar|"
        r"nav|navi|navbar|navbox|navigation|navheader|navfooter|bottomnav|docnav|prev-?next|"
        r"pagination|pager|paging|toc|table-of-contents|sitemap|linklist|read-?more|"
        r"share\w*|sharing|socials?\w*|sociable|addthis\w*|addtoany\w*|headerlink|catlinks|"
        r"mw-editsection|printfooter"
    ),
    "notice": (
        r"cookies?\w*|consent|gdpr|copyright\w*|copyleft|disclaimer|license|impressum|"
        r"by-?line\w*|authors?|author-?\w+|bio|biography|credits?|attribution|"
        r"date|dateline|datetime|pub-?date|published|posted-on|time|timestamp|reading-?time|"
        r"(post|entry|article)-?(meta|info)|meta|metadata|meta-?data|entry-?footer|keywords?|"
        r"info-?bar|subscri\w+|newsletter\w*|paywall\w*|sign-?up|login|registration|follow\w*|"
        r"ads?|advert\w*|banner\w*|sponsor\w*|promotion\w*|donate|donation|app-download|"
        r"masthead|footer\w*|toplinks|search\w*|feedback|ratings?|stars|votes?|"
        r"modal|popup|overlay|lightbox|tooltip|print-only|noprint|"
        r"skip|skip-?link"
    ),
    "caption": r"captions?|figcaption|wp-caption\w*|\w+-?caption|bildunterschrift",
}
_IN_CLASS = [(mark, re.compile(rf"(?:^|-)(?:{names})(?=$|-)")) for mark, names in _BESIDE.items()]
# Identifiers are also made of headings: "topics-of-this-chapter".
_IN_ID = [(mark, re.compile(rf"(?:{names})$")) for mark, names in _BESIDE.items()]
_ROOT: list[tuple[Mark, re.Pattern[str]]] = [
    (
        "body",
        re.compile(
            r"(?:.*-)?(?:article-?(?:body|text|content|main|copy)\w*|newsarticle|"
            r"(?:entry|post|story|news|blog|page|single|text|rich|newsitem)-?"
            r"(?:content|body|text|entry|copy)|(?:body|main)-?(?:text|copy|article)|"
            r"article-(?:page|detail)-?\w*|mw-parser-output|field-name-body|entry|storytext|"
            r"story-?(?:contents|inner|page)|post-?(?:entry|single|inner)|"
            r"content-(?:body|text|article|inner)|articulo|cuerpo|texto|inhalt|"
            r"artikel-?(?:text|inhalt|body)?)$"
        ),
    ),
    (
        "article",
        re.compile(r"(?:article|post|story|hentry|blog-?post|single|main-article|post-\d+)$"),
    ),
    (
        "main",
        re.compile(
            r"(?:.*-)?(?:main|contents?|bodycontent|primary|center|document|"
            r"main-?(?:content|container|column|body|inner|wrapper)|page-?content|column-?main|"
            r"site-?(?:content|main)|content-?(?:main|area|wrap|wrapper|container|left|column))$"
        ),
    ),
]
# What an element has or is of, not what it is: "has-sidebar", "category-news", "post-1234567".
_STATE = re.compile(
    r"(?:has|have|with|without|no|not|is|js|show|hide|enable|layout|depth|status|format|"
    r"type|post-type|category|tag)-|.*\d{5}",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_:.]+")
_NOT_SHOWN = re.compile(r"display\s*:\s*none")
_MOST_CLASSES = 12
_LONGEST = 300  # characters of a class or an identifier that are looked at

_OF_TAG: dict[str, Mark] = {
    "article": "article",
    "main": "main",
    "figcaption": "caption",
    "address": "notice",
    "noscript": "notice",
}
_OF_ROLE: dict[str | None, Mark] = {"main": "main", "banner": "notice", "contentinfo": "notice"}
_OF_ITEMPROP: dict[str | None, Mark] = {
    "articleBody": "body",
    "author": "notice",
    "datePublished": "notice",
    "comment": "comment",
}
_UNMARKED = frozenset({"html", "body", "h1", "h2", "h3", "h4", "h5", "h6"})


def mark_of(node: LexborNode, tag: str) -> Mark:
    """Return what an element is marked as, by its name, class, identifier, role or property."""
    if tag in _UNMARKED:
        return ""
    said = node.attributes
    if not said:
        return _OF_TAG.get(tag, "")
    sure = _OF_ROLE.get(said.get("role")) or _OF_ITEMPROP.get(said.get("itemprop"))
    if sure:
        return sure
    style = said.get("style")
    if style and "display" in style and _NOT_SHOWN.search(style):
        return "hidden"
    classes, name = said.get("class"), said.get("id")
    if classes or name:
        named = _named((classes or "")[:_LONGEST], (name or "")[:_LONGEST])
        if named:
            return named
    return _OF_TAG.get(tag, "")


@lru_cache(8_192)
def _named(classes: str, identifier: str) -> Mark:
    """Return the mark that names give: a part beside the text, unless they name the text itself."""
    beside: Mark = ""
    root: Mark = ""
    names = [(one.partition("--")[0], True) for one in classes.split()[:_MOST_CLASSES]]
    for name, is_class in [*names, (identifier, False)]:
        named, here = _of_name(name, is_class)
        beside = beside or named
        if here and (not root or ROOTS.index(here) < ROOTS.index(root)):
            root = here
    return root if root == "body" and beside != "comment" else beside or root


@lru_cache(8_192)
def _of_name(name: str, is_class: bool) -> tuple[Mark, Mark]:
    """Return the part beside the text that a class or an identifier names, and the root."""
    if not name or (is_class and _STATE.match(name)):
        return "", ""
    flat = _JOINT.sub("-", name).lower()
    patterns = _IN_CLASS if is_class else _IN_ID
    match = re.Pattern.search if is_class else re.Pattern.match
    beside: Mark = next((mark for mark, one in patterns if match(one, flat)), "")
    return beside, next((mark for mark, one in _ROOT if one.match(flat)), "")
