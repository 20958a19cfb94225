"""App shells: pages that are empty until their scripts run, or lack their list until then.

A page is looked at as browsers with scripts have it: without what is in a ``noscript``, and what
only says that it loads. It is empty if it hardly has a text, leads on to no other page, and shows
that scripts fill it: by a ``noscript`` that asks for them, by the element that a framework puts
its page in, or by scripts and nothing else. So is one that has a menu, and an empty main place. A
page with text lacks a list if it has few links, and an empty element that a script in it names,
which fetches; or hardly a link, and a menu of buttons.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lswc.language.document import Document

MAX_TEXT = 200
"""Characters of a shell's text: a title, a plea for JavaScript."""

MAX_BESIDE = 600
"""Characters outside links and menus of an empty page: its name, an address, a consent."""

MAX_OWN = 100
"""Characters of these that stand in the middle of a page whose main place is empty."""

MAX_LINKS = 3
"""Links of a shell that has no main place, and its images."""

FEW_LINKS = 20
"""Links of a page that may lack its list: those of its menu."""

MENU = 5
"""Buttons with words of a page that hardly has links that are its menu."""

# Found by the sign that they share: any other pattern takes ten times as long.
FETCHES = re.compile(
    rb"\((?:(?<=fetch\()|(?<=HttpRequest\()|(?<=\.getJSON\()|(?<=\$\.get\()|(?<=\$\.ajax\()"
    rb"|(?<=axios\()|(?<=axios\.get\())"
)
"""What a page has that may lack its list: a script that asks for more."""

_MAX_WAITING = 80  # characters of what only says that something loads, or whose page it is
_MAX_SIZE = 300_000  # bytes of a shell: its state may be in it, as JSON
_LONGEST = 2_000  # characters of a plea
_MOST = 50  # elements of a kind that are looked at
_PLACES = 300  # that may be the main one
_EMPTY = re.compile(
    rb"<(ul|ol|dl|tbody|div|section|main)\s(?:[^<>]{0,200}\s)?id=[\"']?([\w-]{1,60})[^<>]{0,200}>\s*</\1>",
    re.IGNORECASE,
)
_SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)
_NOSCRIPT = re.compile(rb"<noscript[\s>]", re.IGNORECASE)
# In a script and a comment nothing is a tag. What isn't closed goes on to the end.
_PARTS = re.compile(
    rb"<script\b(?:[^<]++|<(?!/script))*+|<!--(?:[^-]++|-(?!->))*+"
    rb"|<noscript\b[^<>]{0,300}>((?:[^<]++|<(?!/noscript))*+)",
    re.IGNORECASE,
)
_CUSTOM = re.compile(rb"<([a-z][a-z0-9]{0,30}-[a-z0-9-]{1,30})[\s>]", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{.{0,200}?\}\}|\{%.{0,200}?%\}", re.DOTALL)
_WRITES = re.compile(
    r"document\.write(?:ln)?\s*\(|\.(?:inner|outer)HTML\s*\+?="
    r"|\.(?:append(?:Child|To)?|html|load|render|mount)\s*\("
    r"|\bimport\b\s*(?:[({*\"']|\w+[\s,])|\bSystem\.import"
    r"|\bfetch\s*\(|HttpRequest\s*\(|\.getJSON\s*\(|\$\.(?:get|ajax)\s*\("
)
_GOES = re.compile(r"location(?:\.href)?\s*=[^=]|location\.(?:replace|assign)\s*\(")
# A server that wants to see its cookie before it sends the page.
_TRIES_AGAIN = re.compile(
    r"document\.cookie\s*=[^=].{0,300}?\blocation(?:(?:\.href)?\s*=[^=]|\.re(?:load|place)\s*\()",
    re.DOTALL,
)
_LONGEST_TRIAL = 10_000  # characters of scripts
# Scripts that count and advertise, and libraries, fill no page by themselves.
_IDLE = re.compile(
    r"google-?analytics|googletag|googlesyndication|doubleclick|/gtag/|/(?:gtm|ga|analytics)\.js"
    r"|cloudflareinsights|/cdn-cgi/|connect\.facebook|hm\.baidu|mc\.yandex|statcounter|histats"
    r"|matomo|piwik|hotjar|clarity\.ms|addthis|sharethis|truehits|adsbygoogle|recaptcha|cookiebot"
    r"|jquery[\w.-]*\.js|/bootstrap[\w.@-]*(?:/|(?:min|bundle)\.js)|popper|modernizr"
    r"|polyfills?[\w.-]*\.js|html5shiv|respond\.|font-?awesome",
    re.IGNORECASE,
)
# The elements that frameworks put their pages in, by their own templates.
_ROOTS = (
    "#root,#app,#__next,#__nuxt,#___gatsby,#svelte,#q-app,#app-root,#react-root,#app-container,"
    "#main-app,#vue-app,#applicationHost,[data-reactroot],[data-server-rendered],[ng-app],"
    "[data-ng-app],[ng-view],[ui-view],[aurelia-app],body[data-sveltekit-preload-data],ui-view,"
    "ng-view,app-root,ember-app,app"
)
_AWAY = (
    'frameset,frame,iframe[src]:not([src^="javascript:" i]):not([src^="about:" i]):not([src=""]),'
    "meta[http-equiv=refresh i],object,embed,area,input[type=password]"
)
_MEDIA = "img,picture,video,audio,canvas"
_HOLDS = f"{_MEDIA},a[href],input,textarea,select,form,button,iframe"
_QUESTIONS = "textarea,form[method=post i] input:not([type=hidden i])"
_MORE = "form,input,textarea,iframe,img,video,audio"
_NO_WAITING = "form,h1,a[href],[data-src],[data-original]"  # or what comes later is known
_NO_SHELL = "[id*=search-result i],[id*=searchresult i]"  # of words, which a crawl has none of
_BUTTONS = ",".join(
    f"{button}:not(form {button})"
    for button in ("button", "[onclick]", "[role=button]", "[role=link]")
)
_OF_BUTTONS = (b"<button", b"onclick=", b"role=")
_BESIDE_BUTTONS = (
    'a[href]:not([href^="#"]):not([href^="javascript:" i]),input,textarea,video,canvas'
)
_LETTERS = re.compile(r"[^\W\d_]{2}")  # not the keys of a calculator, nor the fields of a game
_UNSEEN = ["script", "style", "noscript", "template", "title", "head"]
_UNCOUNTED = ["a", "button", "select", "h1", "h2", "h3"]
_BARS = str.maketrans("", "", " |/·•»›-–—")  # between links
_LONG_LINK = 40  # characters: one of a menu has fewer
_BESIDE = (
    "nav,header,footer,aside,dialog,[role=navigation],[role=banner],[role=contentinfo],"
    "[role=search],[role=dialog],"
) + ",".join(
    f"[{attribute}*={word} i]"
    for attribute in ("class", "id")
    for word in (
        "nav", "menu", "header", "footer", "sidebar", "topbar", "breadcrumb", "copyright",
        "cookie", "consent",
    )
)  # fmt: skip
_MAINS = "main,article,[role=main],#app,#root,#content,#main"
_BLOCKS = "main,article,section,div,td,[role=main],[role=article]"
_WRITTEN = "p,h1,h2,h3"  # by an author: if they are empty, nobody fills them
_MAIN = frozenset({"main", "article"})
_NOWHERE = "x-none"  # a selector that finds nothing
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_OF_MAIN = frozenset({
    "app", "application", "article", "body", "content", "detail", "details", "entry", "main",
    "mount", "news", "outlet", "page", "post", "root", "story", "target", "view",
})  # fmt: skip
_OF_ANY = frozenset({
    "area", "box", "container", "inner", "js", "section", "text", "wrap", "wrapper",
})  # fmt: skip
_OF_OTHERS = frozenset({
    "ad", "ads", "alert", "backdrop", "background", "banner", "bg", "bookmark", "bottom",
    "breadcrumb", "breadcrumbs", "carousel", "chat", "clear", "clearfix", "clock", "comment",
    "comments", "consent", "cookie", "countdown", "decoration", "dialog", "disqus", "divider",
    "donate", "donation", "drag", "drop", "error", "fb", "footer", "frame", "head", "header",
    "icon", "illustration", "image", "intro", "left", "line", "login", "logo", "map", "menu",
    "message", "messages", "modal", "nav", "navbar", "notification", "notifications",
    "overlay", "player", "popup", "print", "related", "right", "search", "shadow", "share",
    "side", "sidebar", "skip", "slider", "social", "spacer", "timer", "toast", "toc",
    "toolbar", "top", "translate", "tree", "treeview", "video",
})  # fmt: skip

# What scripts are called, JavaScript or not.
_SCRIPTS = re.compile(
    r"java\s?script|\bscripts?\b|\bJS\b|脚本|腳本|指令碼|スクリプト|스크립트|สคริป|จาวา|скрипт"
    r"|स्क्रिप्ट|স্ক্রিপ্ট|ਸਕ੍ਰਿਪਟ|સ્ક્રિપ્ટ|ஸ்கிரிப்ட்|స్క్రిప్ట్|ಸ್ಕ್ರಿಪ್ಟ್|സ്ക്രിപ്റ്റ്|ස්ක්\u200d?රිප්ට්"
    r"|سكريبت|سكربت|اسکریپت|جافا|جاوا|סקריפט|σκριπτ|სკრიპტ|սկրիպտ|ስክሪፕት|ສະຄຣິບ|ສະກຣິບ|ຈາວາ"
    r"|ស្គ្រីប|ចាវ៉ា|စခရစ်|ဂျာဗား",
    re.IGNORECASE,
)
# Where a word is one for a download, too, or for a shop, it must end the text, or have its form.
LOADS = re.compile(
    r"\bloading\b|please wait|\bone moment\b|initiali[sz]ing|กำลังโหลด|กำลังดาวน์โหลด|รอสัก|โปรดรอ"
    r"|加载|加載|載入|载入|读取中|讀取中|请稍|請稍|読み込|読込|お待ち|ロード中|로딩|로드 중"
    r"|불러오는|기다려 ?주|загружа|загрузка\W*$|завантажу|завантаження\W*$|подождите|зачекайте"
    r"|зареждане|учитава|chargement|patientez|cargando|\bespere\b|carregando|aguarde|wird geladen"
    r"|\blädt\b|bitte warten|bezig met laden|(?:laden?|laster|memuat|laddar)\s?(?:\.\.\.|…)"
    r"|caricamento|attendere|đang tải|vui lòng (?:chờ|đợi)|sedang memuat|mohon tunggu|yükleniyor"
    r"|lütfen bekle|ładowanie|wczytywanie|proszę czekać|načítá|čekejte|betöltés|se încarcă|φόρτωση"
    r"|περιμένετε|indlæser|ladataan|جار\w{0,2} ?(?:ال)?تحميل|يتم التحميل|انتظر|در حال بار|لوڈ ہو"
    r"|טוען|लोड हो|লোড হ|অপেক্ষা কর|ஏற்றுகிறது|ஏற்றப்படுகிறது|లోడ్|ലോഡ്|ಲೋಡ್|લોડ|පූරණය"
    r"|ກຳລັງໂຫຼດ|ກຳລັງໂຫລດ|កំពុងផ្ទុក|កំពុងដំណើរការ|ဖွင့်နေ|တင်နေ|ခဏ ?စောင့်|იტვირთება|բեռնվում",
    re.IGNORECASE,
)
_OWNED = re.compile(
    r"©|ⓒ|\(c\)|copyright|rights ?reserved|ลิขสิทธิ์|版权|版權|著作権|저작권|bản ?quyền"
    r"|derechos|direitos|tous ?droits|alle ?rechte|diritti|все ?права|hak ?cipta|حقوق"
    r"|ລິຂະສິດ|រក្សាសិទ្ធិ",
    re.IGNORECASE,
)
# Elements that are shown until something has loaded. Most names come from style sheets, in English.
_NAMES = ("loading", "loader", "spinner", "skeleton", "splash", "preload", "shimmer")
_SIGNS = tuple(name.encode() for name in (*_NAMES, "aria-busy", "progress"))
_WAITING = ",".join((
    *(f"[{attribute}*={name} i]" for attribute in ("class", "id") for name in _NAMES),
    *(f"img[src*={name} i]" for name in _NAMES),
    "[aria-busy=true],[role=progressbar],progress",
))  # fmt: skip


class Lack(Enum):
    """What a page lacks until its scripts run: all its text, or its list of links."""

    NOTHING = auto()
    LIST = auto()
    TEXT = auto()


class _Scripts(NamedTuple):
    """The scripts in a page, and whether any of an address of its own may fill it."""

    code: str
    is_fetched: bool

    @property
    def writes(self) -> bool:
        return _WRITES.search(self.code) is not None

    @property
    def goes(self) -> bool:
        return _GOES.search(self.code) is not None

    @property
    def tries_again(self) -> bool:
        return len(self.code) <= _LONGEST_TRIAL and _TRIES_AGAIN.search(self.code) is not None


def is_empty(document: Document) -> bool:
    """Tell whether a page with at most MAX_BESIDE characters lacks its text."""
    markup = document.markup
    if len(markup) > _MAX_SIZE or _SCRIPT.search(markup) is None:
        return False
    shown, unseen = _with_scripts(markup)
    tree = LexborHTMLParser(shown)
    if tree.body is None or tree.css_first(_AWAY) is not None:
        return False
    scripts = _scripts(tree)
    names = {found[1].decode().lower() for found in islice(_CUSTOM.finditer(shown), _MOST)}
    custom = ",".join(sorted(names)) or _NOWHERE
    tree.strip_tags(_UNSEEN)
    if _may_wait(shown):
        _drop_waiting(tree)
    return _is_bare(tree, scripts, custom, asks=_is_plea(unseen)) or _lacks_main(
        tree, scripts, custom
    )


def lacks_list(document: Document) -> bool:
    """Tell whether a page that has text, FEW_LINKS, and a script that FETCHES, lacks its list."""
    markup = document.markup
    if len(markup) > _MAX_SIZE:
        return False
    names = {found[2] for found in islice(_EMPTY.finditer(markup), _MOST)}
    if not names:
        return False
    tree = LexborHTMLParser(markup)
    code = "\n".join(s.text() for s in tree.css("script") if not s.attributes.get("src")).encode()
    return FETCHES.search(code) is not None and any(_names(code, name) for name in names)


def lacks_links(document: Document) -> bool:
    """Tell whether a page with at most MAX_LINKS leads on by buttons, which only scripts know.

    They are its menu, or all that it has, as where it asks for an age.
    """
    markup = document.markup
    if len(markup) > _MAX_SIZE or not any(mark in markup for mark in _OF_BUTTONS):
        return False
    tree = LexborHTMLParser(markup)
    scripts = _scripts(tree)
    if tree.css_first(_AWAY) is not None or not (scripts.is_fetched or scripts.code.strip()):
        return False
    tree.strip_tags(_UNSEEN)
    buttons = sum(_LETTERS.search(button.text()) is not None for button in tree.css(_BUTTONS))
    if buttons >= MENU or not buttons:
        return buttons >= MENU
    has_more = tree.css_first(_BESIDE_BUTTONS) is not None or len(tree.css("img")) > 1
    return not has_more and len(_seen(tree)) <= MAX_TEXT


def _with_scripts(markup: bytes) -> tuple[bytes, str]:
    """Return a page as browsers with scripts have it, and what each ``noscript`` of it says."""
    unseen: list[bytes] = []

    def without(part: re.Match[bytes]) -> bytes:
        if part[1] is None:
            return part[0]
        unseen.append(part[1])
        return b""

    shown = _PARTS.sub(without, markup) if _NOSCRIPT.search(markup) else markup
    says = b" ".join(unseen)[: 4 * _LONGEST]
    return shown, LexborHTMLParser(says).text()[:_LONGEST] if says else ""


def _scripts(tree: LexborHTMLParser) -> _Scripts:
    fills, code = False, []
    for script in tree.css("script"):
        source = script.attributes.get("src")
        if source:
            fills = fills or _IDLE.search(source) is None
        elif "json" not in (script.attributes.get("type") or ""):
            code.append(script.text())
    return _Scripts("\n".join(code), fills)


def _is_bare(tree: LexborHTMLParser, scripts: _Scripts, custom: str, *, asks: bool) -> bool:
    """Tell whether a page without a menu is empty, and is filled by its scripts."""
    seen = _seen(tree)
    if len(seen) > MAX_TEXT or _leads_on(tree):
        return False
    if asks and (scripts.is_fetched or not scripts.goes):
        return True
    if scripts.tries_again:
        return True
    if not (scripts.is_fetched or scripts.writes):
        return False
    if any(len(root.text().strip()) <= MAX_TEXT for root in tree.css(_ROOTS)):
        return True
    if scripts.goes:
        return False
    if not seen:
        return tree.css_first(_MEDIA) is None
    return _waits(seen) or (
        len(seen) <= _MAX_WAITING
        and any(len(node.text().strip()) >= len(seen) for node in tree.css(custom))
    )


def _leads_on(tree: LexborHTMLParser) -> bool:
    return (
        tree.css_first("form") is not None
        or len(tree.css("body a[href]")) > MAX_LINKS
        or len(tree.css("body img")) > MAX_LINKS
    )


def _lacks_main(tree: LexborHTMLParser, scripts: _Scripts, custom: str) -> bool:
    """Tell whether what stands beside a page's menu is empty, and is filled by its scripts."""
    if not (scripts.is_fetched or scripts.writes):
        return False
    if tree.css_first(_NO_SHELL) is not None or any(map(_is_story, tree.css("article"))):
        return False
    has_menu = tree.css_first("a[href]") is not None
    places = islice(_places(tree, custom), _PLACES)
    if not any(_is_hollow(place, is_named=is_named) for is_named, place in places):
        return False
    _drop_beside(tree)
    hollow = _hollow(tree, custom)
    if not hollow or any(len(a.text().strip()) > _LONG_LINK for a in tree.css("a[href]")):
        return False
    if tree.css_first(_QUESTIONS) is not None:
        return False
    has_more = tree.css_first(_MORE) is not None
    tree.strip_tags(_UNCOUNTED)
    own = _seen(tree).translate(_BARS)
    for _, said in hollow:
        own = own.replace(said.translate(_BARS), "", 1)
    if any(is_named for is_named, _ in hollow):
        return len(own) <= MAX_OWN
    return has_menu and not has_more and (not own or _is_notice(own))


def _hollow(tree: LexborHTMLParser, custom: str) -> list[tuple[bool, str]]:
    """Return what empty places say, as that they load, and whether their names are a main one's."""
    return [
        (is_named, _words(place))
        for is_named, place in islice(_places(tree, custom), _PLACES)
        if _is_hollow(place, is_named=is_named)
    ]


def _places(tree: LexborHTMLParser, custom: str) -> Iterator[tuple[bool, LexborNode]]:
    """Yield the elements that may be a page's main place, and whether their names say so."""
    for node in tree.css(f"{_BLOCKS},{custom}"):
        tag, attributes = node.tag or "", node.attributes
        is_custom = "-" in tag
        if not (attributes or is_custom or tag in _MAIN):
            continue
        name, classes = (attributes.get("id") or "").strip(), attributes.get("class") or ""
        names = f"{name} {classes} {tag}" if is_custom else f"{name} {classes}"
        words = _words_of(names[:_LONGEST])
        if not all(map(_OF_OTHERS.isdisjoint, words)):
            continue
        is_main = tag in _MAIN or attributes.get("role") in _MAIN
        if is_main or any(map(_is_of_main, words)) or (name and words[0] and words[0] <= _OF_ANY):
            yield True, node
        elif name or classes or is_custom:
            yield False, node


def _is_of_main(words: frozenset[str]) -> bool:
    return not words.isdisjoint(_OF_MAIN) and words <= _OF_MAIN | _OF_ANY


@lru_cache(maxsize=4_096)
def _words_of(names: str) -> tuple[frozenset[str], ...]:
    """Return the words of an element's names: those of ``newsDetail`` are news and detail."""
    of_each = map(_WORD.findall, names.split()[:_MOST])
    return tuple(frozenset(word.lower() for word in words) for words in of_each)


def _is_story(article: LexborNode) -> bool:
    """Tell whether an article is there, or a card of one."""
    return article.css_first("a[href],img") is not None or len(_words(article)) > MAX_OWN


def _is_hollow(place: LexborNode, *, is_named: bool) -> bool:
    said = _words(place)
    if (said and not _waits(said)) or place.css_first(_HOLDS) is not None:
        return False
    return is_named or all(part.text().strip() for part in place.css(_WRITTEN))


def _drop_waiting(tree: LexborHTMLParser) -> None:
    """Remove what is shown until something has loaded; its place stays."""
    for node in _outer(
        tree, _WAITING, _NO_WAITING, lambda text: len(text) <= _MAX_WAITING or _waits(text)
    ):
        if node.css_matches(_BLOCKS):
            for child in list(node.iter(include_text=True)):
                child.decompose()
        else:
            node.decompose()


def _drop_beside(tree: LexborHTMLParser) -> None:
    """Remove a page's menus, header, and footer."""
    for node in _outer(tree, _BESIDE, _MAINS, lambda _: True):
        node.decompose()


def _outer(
    tree: LexborHTMLParser, selector: str, unless: str, fits: Callable[[str], bool]
) -> Iterator[LexborNode]:
    """Yield what a selector finds, and may be removed: none in another, nor the page itself.

    None that holds ``unless``, or whose text doesn't fit.
    """
    inner: set[int] = set()
    for node in tree.css(selector):
        if node.mem_id in inner or node.tag in {"html", "body"}:
            continue
        if fits(node.text().strip()) and node.css_first(unless) is None:
            inner.update(other.mem_id for other in node.css(selector))
            yield node


def _seen(tree: LexborHTMLParser) -> str:
    return _words(tree.body) if tree.body else ""


def _words(node: LexborNode) -> str:
    """Return an element's text, but for what a script is to replace in it."""
    text = " ".join(node.text(separator=" ").split())
    return _TEMPLATE.sub("", text).strip() if len(text) <= _LONGEST else text


def _may_wait(markup: bytes) -> bool:
    """Tell whether a page may have elements that are shown until something has loaded."""
    lower = markup.lower()
    return any(sign in lower for sign in _SIGNS)


def _is_plea(text: str) -> bool:
    """Tell whether what a page says without scripts names them: it wants them, in any language."""
    return _SCRIPTS.search(text) is not None


def _waits(text: str) -> bool:
    """Tell whether a text says only that something loads."""
    if LOADS.search(text) is None:
        return False
    return len(text) <= _MAX_WAITING or len(" ".join({*text.split()})) <= _MAX_WAITING


def _is_notice(text: str) -> bool:
    """Tell whether a text says only whose page it is."""
    return len(text) <= _MAX_WAITING and _OWNED.search(text) is not None


def _names(code: bytes, name: bytes) -> bool:
    return re.search(rb"[\"'`#]%b[\"'`\s]" % re.escape(name), code) is not None
