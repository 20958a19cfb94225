"""App shells: pages that are empty until their scripts run, or lack their list until then.

A page with a text of its own never is empty, whatever its scripts do, nor is one that leads on by
links, a form, frames, or META refresh. An empty one must show that scripts fill it: by the element
that a framework puts its page in, by a ``noscript`` that asks for JavaScript, or by a script that
writes the page. A page with text lacks a list if it has few links, and an empty element that a
script in it names, which fetches.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from lswc.language.document import Document

MAX_TEXT = 200
"""Characters of a shell's text: a title, "Loading ...", a plea for JavaScript."""

MAX_LINKS = 3
"""Links of a shell's body."""

FEW_LINKS = 20
"""Links of a page that may lack its list: those of its menu."""

# Found by the sign that they share: any other pattern takes ten times as long.
FETCHES = re.compile(
    rb"\((?:(?<=fetch\()|(?<=HttpRequest\()|(?<=\.getJSON\()|(?<=\$\.get\()|(?<=\$\.ajax\()"
    rb"|(?<=axios\()|(?<=axios\.get\())"
)
"""What a page has that may lack its list: a script that asks for more."""

_LONGEST = 2_000  # characters of a plea
_LISTS = 50  # empty elements that are looked at
_EMPTY = re.compile(
    rb"<(ul|ol|dl|tbody|div|section|main)\s(?:[^<>]{0,200}\s)?id=[\"']?([\w-]{1,60})[^<>]{0,200}>\s*</\1>",
    re.IGNORECASE,
)
_MAX_SIZE = 300_000  # bytes of a shell: its state may be in it, as JSON
_SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)
_ASKS = re.compile(
    r"java\s?script|จาวาสคริปต์|จาวาสคริปท์|जावास्क्रिप्ट|자바\s?스크립트|ジャバスクリプト", re.IGNORECASE
)
_WRITES = re.compile(r"document\.write(?:ln)?\s*\(|\.innerHTML\s*\+?=|\.append(?:Child)?\s*\(")
_GOES = re.compile(r"location(?:\.href)?\s*=[^=]|location\.(?:replace|assign)\s*\(")
_STARTS = re.compile(r"__sveltekit|\bkit\.start\(|_app/immutable/")
# The elements that frameworks put their pages in, by their own templates.
_ROOTS = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#q-app,#app-root,#react-root,#app-container,"
    "#main-app,#vue-app,[data-reactroot],[data-server-rendered],[ng-app],[data-ng-app],[ng-view],"
    "[ui-view],ui-view,ng-view,app-root,ember-app,body[data-sveltekit-preload-data]"
)
_LEADS_ON = (
    "form,input[type=password],frameset,frame,iframe[src^=http],meta[http-equiv=refresh i],"
    "object,embed,area"
)
_UNSEEN = ["script", "style", "noscript", "template", "title", "head"]


class Lack(Enum):
    """What a page lacks until its scripts run: all its text, or its list."""

    NOTHING = auto()
    LIST = auto()
    TEXT = auto()


def is_shell(document: Document) -> bool:
    """Tell whether a page that hardly has text, anchor texts included, is an app shell."""
    markup = document.markup
    if len(markup) > _MAX_SIZE or _SCRIPT.search(markup) is None:
        return False
    tree = LexborHTMLParser(markup)
    if tree.body is None or _leads_on(tree):
        return False
    pleas = [plea.text()[:_LONGEST] for plea in tree.css("noscript")]
    scripts = tree.css("script")
    code = "\n".join(script.text() for script in scripts)
    is_fetched = any(script.attributes.get("src") for script in scripts)
    tree.strip_tags(_UNSEEN)
    seen = _seen(tree)
    if len(seen) > MAX_TEXT:
        return False
    # A plea in the head is text of the body, for parsers that run no scripts.
    if any(map(_ASKS.search, pleas)) or (pleas and _ASKS.search(seen)) or _STARTS.search(code):
        return True
    writes = _WRITES.search(code) is not None
    if is_fetched or writes or "import" in code:
        return _has_root(tree) or (not seen and writes and not _GOES.search(code))
    return False


def lacks_list(document: Document) -> bool:
    """Tell whether a page that has text lacks its list until its scripts run."""
    markup = document.markup
    if len(markup) > _MAX_SIZE:
        return False
    empty = islice(_EMPTY.finditer(markup), _LISTS)
    names = {found[2] for found in empty}
    if not names:
        return False
    tree = LexborHTMLParser(markup)
    code = "\n".join(s.text() for s in tree.css("script") if not s.attributes.get("src")).encode()
    return FETCHES.search(code) is not None and any(_names(code, name) for name in names)


def _names(code: bytes, name: bytes) -> bool:
    return re.search(rb"[\"'`#]%b[\"'`\s]" % re.escape(name), code) is not None


def _leads_on(tree: LexborHTMLParser) -> bool:
    return (
        tree.css_first(_LEADS_ON) is not None
        or len(tree.css("body a[href]")) > MAX_LINKS
        or len(tree.css("body img")) > MAX_LINKS
    )


def _seen(tree: LexborHTMLParser) -> str:
    return " ".join(tree.body.text(separator=" ").split()) if tree.body else ""


def _has_root(tree: LexborHTMLParser) -> bool:
    """Tell whether the element is there that a framework fills, all but empty."""
    return any(len(root.text().strip()) <= MAX_TEXT for root in tree.css(_ROOTS))
