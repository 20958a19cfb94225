"""Requisites of a page: images, style sheets, scripts, fonts, frames."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from lswc.language.base_url import Base
from lswc.language.document import Document
from lswc.language.html import BOUNDS, flattened
from lswc.mishaps import REQUISITE, Mishaps
from lswc.outcomes import Outcome
from lswc.reading import amd_modules, named_files
from lswc.reading.playlists import in_playlist, is_playlist
from lswc.reading.style_sheets import MAX_STYLE, in_css
from lswc.safety.content_types import is_html

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborNode

    from lswc.language.html import Bounds
    from lswc.reading.scope import Scope
    from lswc.strategy import PageLanguage

FEED = "feed"
"""The kind of what a page doesn't need, but names: RSS, Atom and JSON Feed."""

GUESS = "guess"
"""The kind of what a page may need: a script, or data of one, names it; or browsers ask for it."""

MAX_GUESSES = named_files.NAMED_FILES
"""Guesses of a page, and of a script."""

MAX_DEPTH = 10
"""Steps from a page to a requisite: a frame, its script, what that imports, and so on."""

MAX_SCRIPT = 4_194_304
"""Characters of a script's file that are read: games are bundles of several megabytes."""

# One selector for all: what has none of these needs nothing. `data-*` are those by which scripts
# load images late.
_LAZY = ("data-src", "data-original", "data-lazy-src")
_LAZY_SETS = ("data-srcset", "data-lazy-srcset")
_LAZY_BACKGROUNDS = ("data-bg", "data-background", "data-background-image")
_SELECTOR = (
    "img,source,input[src],video,audio,track[src],image,use,script,link[href],style,[style],"
    "frame[src],iframe,template,object[data],embed[src],body[background],table[background],td[background],"
    "th[background],base[href],[data-bg],[data-background],[data-background-image]"
)
_KIND_OF_TAG = {
    "img": "image", "source": "media", "input": "image", "video": "media", "audio": "media",
    "track": "media", "image": "image", "use": "image", "frame": "frame",
    "iframe": "frame", "object": "object", "embed": "object", "body": "image", "table": "image",
    "td": "image", "th": "image",
}  # fmt: skip
_FEEDS = frozenset(
    {
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
    }
)
_BACKGROUND = ("background",)
_REFERENCES = {
    "image": ("href", "xlink:href"), "use": ("href", "xlink:href"), "object": ("data",),
    "body": _BACKGROUND, "table": _BACKGROUND, "td": _BACKGROUND, "th": _BACKGROUND,
}  # fmt: skip
"""Attributes that name what an element shows, where it isn't ``src``."""

_KIND_OF_REL = {
    "stylesheet": "style", "icon": "icon", "apple-touch-icon": "icon", "mask-icon": "icon",
    "apple-touch-icon-precomposed": "icon", "apple-touch-startup-image": "icon",
    "manifest": "manifest", "import": "frame", "preload": "preload", "modulepreload": "script",
}  # fmt: skip
_KIND_OF_PRELOAD = {
    "style": "style", "script": "script", "worker": "script", "font": "font", "image": "image",
    "fetch": "data", "track": "media", "video": "media", "audio": "media", "document": "frame",
}  # fmt: skip
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|svg)(?:$|[?#])|^url\(", re.IGNORECASE)
# What a script names that a module can import (HTML Standard §8.1.6.2): no bare specifiers, which
# an import map resolves. Each part is bounded, so a search takes time by the length of the script.
_SPECIFIER = r"""["']((?:\.{0,2}/|https?://)[^"'\s\\]{1,2000})["']"""
_IMPORT = re.compile(
    rf"(?<![\w$.])(?:from|import)\s{{0,20}}\(?\s{{0,20}}{_SPECIFIER}"
    rf"|\bURL\(\s{{0,20}}{_SPECIFIER}\s{{0,20}},\s{{0,20}}import\.meta\.url"
)
_BARE = re.compile(
    r"(?<![\w$.])(?:from|import)\s{0,20}\(?\s{0,20}[\"']([\w@][^\"'\s\\:]{0,500})[\"']"
)
_RUN = frozenset({"", "module", "text/javascript", "application/javascript", "application/json"})
_TEMPLATES = frozenset(
    {
        "text/template",
        "text/x-template",
        "text/html",
        "text/x-handlebars",
        "text/x-handlebars-template",
        "text/ng-template",
        "text/x-mustache",
        "text/x-jquery-tmpl",
        "text/x-underscore-template",
    }
)
_IN_TEMPLATE = "img,source,image,use,link[href],[style]"
_FILLED_IN = re.compile(r"\{\{|\$\{|<%|\[\[|%7B%7B", re.IGNORECASE)
_MAINS = ("data-main", "data-curl-run")
_WIDGET = re.compile(rb"data-dojo-(?:type|mixins)\s*=\s*[\"']?([\w-]{1,50}(?:/[\w.-]{1,50}){1,9})")
_WRITTEN = 100  # script elements of a page that are read
_MAX_MANIFEST = 100_000  # bytes
_JSON = "application/json"  # that a script asked for: it may list what is shown
_SCRIPTS = frozenset({"text/javascript", "application/javascript", "application/x-javascript"})
_IMPORTS = 200  # of one script
_BETWEEN = " \t\n\f\r,"
_CANDIDATES = 50  # of one srcset
_LONGEST = 100_000  # characters of a srcset or a style attribute
_MAX_BASE = 8_000
_RELS = 100  # characters


REQUISITES_A_PAGE = 300
"""Requisites of a page, with what those need themselves: few pages that people made need more."""


class Requisite(NamedTuple):
    """What a page needs: absolute URL, and kind: image, style, script, font, frame, ..."""

    url: str
    kind: str


class Place(NamedTuple):
    """A page, as its scripts see it: its base URL, and what its import map says of names.

    Names that end with a slash are those of folders (HTML Standard §8.1.6.2). ``modules`` says
    where AMD's are.
    """

    base: str
    imports: tuple[tuple[str, str], ...] = ()
    modules: amd_modules.Config = amd_modules.Config()

    def imported(self, name: str) -> str | None:
        """Return the URL of a module by its bare name, None if the page has none for it."""
        folders = [
            pair for pair in self.imports if pair[0][-1:] == "/" and name.startswith(pair[0])
        ]
        if (url := dict(self.imports).get(name)) is not None:
            return url
        folder = max(folders, key=lambda pair: len(pair[0]), default=None)
        return folder and folder[1] + name[len(folder[0]) :]


class Needed(NamedTuple):
    """The requisites that may be asked for, and how many may not, with the reasons.

    ``place`` is where the names in a page's scripts lead from, as the page or a script of it says.
    ``mishaps`` are errors of ours that cost some (lswc.mishaps).
    """

    requisites: tuple[Requisite, ...] = ()
    discarded: tuple[tuple[str, int], ...] = ()
    place: Place | None = None
    mishaps: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class RequisiteReader:
    """Which requisites are read, and of which pages: those identified as one of ``of``.

    ``scope`` is that of any host, ``most`` the number that a page, or a style sheet, may have.
    ``bounds`` say how much of a page in a frame is read. ``feeds_of`` are the pages whose feeds are
    read too.
    """

    of: frozenset[PageLanguage]
    scope: Scope
    most: int = REQUISITES_A_PAGE
    bounds: Bounds = BOUNDS
    feeds_of: frozenset[PageLanguage] = frozenset()

    def of_page(self, document: Document, language: PageLanguage) -> Needed:
        """Return what a page needs, and the feeds that it names, as far as that is wanted."""
        wants_files, wants_feeds = language in self.of, language in self.feeds_of
        if not wants_files and not wants_feeds:
            return Needed()
        found = _read(document.markup, document.url, document.decoded.encoding)
        named = _named_by_page(document, found) if wants_files else ()
        chosen = self.chosen(
            one
            for one in (*found.requisites, *named)
            if (wants_feeds if one.kind == FEED else wants_files)
        )
        if found.mishaps:
            chosen = chosen._replace(mishaps=tuple(found.mishaps.items()))
        return chosen._replace(place=found.place) if chosen.requisites else chosen

    @staticmethod
    def reads(body: bytes, content_type: str) -> bool:
        """Tell whether a requisite may need anything itself, so that it is worth to be read."""
        media_type = content_type.partition(";")[0].strip().lower()
        is_read = media_type in ("text/css", "image/svg+xml", *_SCRIPTS)
        is_read = is_read or media_type == _JSON or _is_manifest(body) or is_playlist(body)
        return is_read or is_html(content_type, body)

    def read(
        self, body: bytes, content_type: str, url: str, steps: int, place: Place | None = None
    ) -> Needed:
        """Return what a requisite needs itself: a style sheet, a script, SVG, a page in a frame.

        ``steps`` are its own from the page that it belongs to, which ``place`` tells of.
        """
        media_type = content_type.partition(";")[0].strip().lower()
        configured = None
        if media_type == "text/css":
            found = of_style(body[:MAX_STYLE].decode("utf-8", "replace"), url)
        elif media_type in _SCRIPTS:
            text = body[:MAX_SCRIPT].decode("utf-8", "replace")
            place = told = place or Place(url)
            if amd_modules.names_modules(text):
                modules = amd_modules.configured(text, told.modules, Base(told.base))
                place = told._replace(modules=modules)
            configured = place if place != told else None
            found = [*of_script(text, url, place), *_named_by_script(text, url, place)]
        elif is_playlist(body):
            text = body[:MAX_STYLE].decode("utf-8", "replace")
            found = _absolute(((name, "media") for name in in_playlist(text)), Base(url), url)
        elif media_type == "image/svg+xml" or is_html(content_type, body):
            found = of_document(Document(body, content_type, url, self.bounds))
        elif _is_manifest(body):
            images = named_files.in_manifest(body.decode("utf-8", "replace"))
            found = _absolute(((image, "icon") for image in images), Base(url), url)
        elif media_type == _JSON:
            text = body[:MAX_STYLE].decode("utf-8", "replace")
            found = [*_named_by_script(text, url, place or Place(url))]
        else:
            return Needed()
        found = [requisite for requisite in found if requisite.kind != FEED]
        if found and steps >= MAX_DEPTH:
            return Needed((), ((Outcome.TOO_MANY_REQUISITES, len(found)),))
        return self.chosen(found)._replace(place=configured)

    def chosen(self, found: Iterable[Requisite]) -> Needed:
        """Return those of what was found that may be asked for."""
        kept: dict[str, Requisite] = {}
        discarded: Counter[str] = Counter()
        guesses = 0
        found = list(found)
        urls = self.scope.check_all([requisite.url for requisite in found], 0)
        for requisite, url in zip(found, urls, strict=True):
            is_guess = requisite.kind == GUESS
            if isinstance(url, Outcome):
                discarded[url] += not is_guess  # it may be no address at all
            elif (self.most and len(kept) >= self.most) or guesses >= MAX_GUESSES:
                discarded[Outcome.TOO_MANY_REQUISITES] += url.href not in kept
            else:
                kept.setdefault(url.href, Requisite(url.href, requisite.kind))
                guesses += is_guess
        return Needed(tuple(kept.values()), tuple((+discarded).items()))


def of_document(document: Document) -> list[Requisite]:
    """Return what a page needs whose bytes these are."""
    return of_page(document.markup, document.url, document.decoded.encoding)


def of_page(markup: bytes, url: str, charset: str = "utf-8") -> list[Requisite]:
    """Return what a page needs, in its order, each once.

    ``markup`` is HTML in UTF-8 that is safe to parse (``lswc.language.html.flattened``), ``url``
    the page's own, ``charset`` the one that it came in: queries are written in it. A BASE counts
    for what comes after it, as in browsers, which ask for what comes before it at once.
    """
    return _read(markup, url, charset).requisites


class _Read(NamedTuple):
    """What a page needs, where its scripts' names lead from, and what is written in them.

    ``mishaps`` are errors of ours that cost an element each.
    """

    requisites: list[Requisite]
    place: Place
    scripts: list[str]
    mains: list[str]
    mishaps: Mishaps


def _read(markup: bytes, url: str, charset: str) -> _Read:
    base = Base(url, charset)
    found: list[Requisite] = []
    written = _Written([], {}, [])
    rebased = False
    mishaps = Mishaps()
    for node in LexborHTMLParser(markup).css(_SELECTOR):
        try:
            if node.tag == "base":
                href = node.attributes.get("href") or ""
                if not rebased and len(href) <= _MAX_BASE:
                    base, rebased = base.rebased(href), True
            else:
                found += _absolute(_of_element(node), base, url)
                if node.tag == "script":
                    found += written.take(node, base)
                if named := _of_template(node):
                    found += [Requisite(one.url, GUESS) for one in _absolute(named, base, url)]
        except Exception as error:  # of ours: it costs what this element names
            mishaps.take(REQUISITE, error)
    kinds: dict[str, str] = {}
    for requisite in found:
        kinds.setdefault(*requisite)
    modules = _modules(written, markup, base)
    place = Place(base.join("."), (*written.imports.items(),), modules)
    requisites = [Requisite(*each) for each in kinds.items()]
    return _Read(requisites, place, written.scripts, written.mains, mishaps)


class _Written(NamedTuple):
    """What a page's script elements hold: scripts and data, and what import maps say.

    ``mains`` are the modules of AMD that they begin with.
    """

    scripts: list[str]
    imports: dict[str, str]
    mains: list[str]

    def take(self, node: LexborNode, base: Base) -> list[Requisite]:
        """Take a script element; return the modules that it imports by what import maps say."""
        attributes = node.attributes
        self.mains.extend(filter(None, (attributes.get(name) for name in _MAINS)))
        if said := attributes.get("data-dojo-config"):
            self.scripts.append(f"dojoConfig = {{{said[:_LONGEST]}}}")
        if attributes.get("src"):
            return []
        media_type = (attributes.get("type") or "").strip().lower()
        if media_type == "importmap":
            for name, address in _import_map(node.text()[:_LONGEST]):
                self.imports.setdefault(name, base.join(address))
        elif media_type in _RUN and len(self.scripts) < _WRITTEN:
            text = node.text()[:MAX_STYLE]
            self.scripts.append(text)
            return _imported(text, Place("", (*self.imports.items(),)))
        return []


def _modules(written: _Written, markup: bytes, base: Base) -> amd_modules.Config:
    """Return where a page says that modules of AMD are, and which its elements name."""
    main = next(iter(written.mains), None)
    config = amd_modules.main_of(main, base)[0] if main else amd_modules.Config()
    if b"data-dojo-" in markup:
        shown = (one.decode() for one in islice(_WIDGET.findall(markup), MAX_GUESSES))
        config = config._replace(shown=tuple(dict.fromkeys(shown)))
    for text in written.scripts:
        config = amd_modules.configured(text, config, base)
    return config


def _modules_of_page(read: _Read, base: Base) -> Iterator[str]:
    """Yield the modules of AMD that a page's own scripts and attributes name."""
    for main in read.mains:
        yield amd_modules.main_of(main, base)[1]
    modules = read.place.modules
    for text in filter(amd_modules.names_modules, read.scripts):
        yield from islice(amd_modules.named(text, base, modules), MAX_GUESSES)
    for name in modules.shown:
        yield amd_modules.placed(f"{name}.js", base, modules)


def _named_by_page(document: Document, read: _Read) -> Iterator[Requisite]:
    """Yield what a page's own scripts and data name, and the icon that browsers ask for."""
    base = Base(read.place.base)
    for url in _modules_of_page(read, base):
        yield Requisite(url.partition("#")[0], GUESS)
    written = (named_files.in_script(text) for text in read.scripts)
    of_data = named_files.in_attributes(document.markup) if b"data-" in document.markup else ()
    for one in chain(of_data, *written):
        yield Requisite(base.join(one.reference).partition("#")[0], GUESS)
    if read.requisites and all(requisite.kind != "icon" for requisite in read.requisites):
        yield Requisite(base.join("/favicon.ico"), GUESS)


def _named_by_script(text: str, url: str, place: Place) -> Iterator[Requisite]:
    """Yield what a script of its own address names.

    A name is relative to the page, but for a worker's; one that begins with a folder in which the
    script lies is so to where that folder is. One that begins with the script's own name is so to
    it.
    """
    own = Base(url)
    if amd_modules.names_modules(text):
        for module in islice(amd_modules.named(text, own, place.modules), MAX_GUESSES):
            yield Requisite(module.partition("#")[0], GUESS)
    base = own if named_files.is_worker(text) else Base(place.base)
    path = named_files.public_path(text)
    for one in named_files.in_script(text):
        first, slash, _ = one.reference.partition("/")
        folder = url.find(f"/{first}/", len("https://")) if first and slash else -1
        if one.of_script and path is not None:
            name = base.join(path + one.reference)
        elif folder > 0 and first not in (".", ".."):
            name = url[: folder + 1] + one.reference
        elif slash and url.endswith(f"/{first}.js"):
            name = own.join(one.reference)
        else:
            name = (own if one.of_script else base).join(one.reference)
        yield Requisite(name.partition("#")[0], GUESS)


def _is_manifest(body: bytes) -> bool:
    """Tell whether this is the manifest of a web app, which servers give many media types."""
    return len(body) < _MAX_MANIFEST and body.lstrip()[:1] == b"{" and b'"icons"' in body


def of_style(text: str, url: str) -> list[Requisite]:
    """Return what a style sheet needs: what it imports, its images and fonts."""
    return _absolute(in_css(text), Base(url), url)


def of_script(text: str, url: str, place: Place | None = None) -> list[Requisite]:
    """Return the modules that a script imports, as far as their addresses stand in it.

    What has a bare name is where the import map of the script's page says.
    """
    by_name = _imported(text, place) if place and place.imports else []
    return [*_absolute(_of_imports(text), Base(url), url), *by_name]


def _imported(text: str, place: Place) -> list[Requisite]:
    if not place.imports or ("import" not in text and "from" not in text):
        return []
    names = dict.fromkeys(found[1] for found in islice(_BARE.finditer(text), _IMPORTS))
    urls = filter(None, map(place.imported, names))
    return [Requisite(url, "script") for url in urls if url.startswith(("http://", "https://"))]


def _absolute(found: Iterable[tuple[str, str]], base: Base, own: str) -> list[Requisite]:
    """Return what is of http, each once, without fragments and without what is asked for anyway."""
    kinds: dict[str, str] = {}
    for reference, kind in found:
        reference = reference.strip()
        if reference and reference[0] != "#":
            absolute = base.join(reference).partition("#")[0]
            if absolute.startswith(("http://", "https://")) and absolute != own:
                kinds.setdefault(absolute, kind)
    return [Requisite(url, kind) for url, kind in kinds.items()]


def _of_element(node: LexborNode) -> Iterator[tuple[str, str]]:
    tag, attributes = str(node.tag), node.attributes
    if style := attributes.get("style"):
        yield from in_css(style[:_LONGEST])
    for name in _LAZY_BACKGROUNDS:
        reference = (attributes.get(name) or "")[:_LONGEST].strip()
        if _IMAGE.search(reference):
            bare = not reference.lower().startswith("url(")
            yield from [(reference, "image")] if bare else in_css(reference)
    if tag == "style":
        yield from in_css(node.text())
    elif tag == "script":
        yield from _of_own_script(node, attributes)
    elif tag == "link":
        yield from _of_link(attributes)
    elif kind := _KIND_OF_TAG.get(tag):
        yield from _of_attributes(tag, kind, attributes)


def _of_template(node: LexborNode) -> list[tuple[str, str]]:
    """Return what a template of HTML names: scripts put it into the page, or not."""
    if node.tag == "template":
        inside = (node.html or "").partition(">")[2]
    elif (node.attributes.get("type") or "").strip().lower() in _TEMPLATES:
        inside = node.text()
    else:
        return []
    page = flattened(inside[:_LONGEST].encode("utf-8", "replace"), BOUNDS)
    named = chain.from_iterable(map(_of_element, LexborHTMLParser(page).css(_IN_TEMPLATE)))
    # What is filled in isn't known: {{name}}, ${name}, <%= name %>.
    return [(name, kind) for name, kind in named if not _FILLED_IN.search(name)]


def _of_attributes(
    tag: str, kind: str, attributes: dict[str, str | None]
) -> Iterator[tuple[str, str]]:
    for name in _REFERENCES.get(tag, ("src", *_LAZY)):
        if reference := attributes.get(name):
            yield reference, kind
    if poster := attributes.get("poster"):
        yield poster, "image"
    for name in ("srcset", *_LAZY_SETS):
        for reference in _candidates(attributes.get(name) or ""):
            yield reference, "image"
    if tag == "iframe" and (inside := attributes.get("srcdoc")):
        page = flattened(inside[:_LONGEST].encode("utf-8", "replace"), BOUNDS)
        for node in LexborHTMLParser(page).css("img[src],script[src],link[href]"):
            yield from _of_element(node)


def _candidates(srcset: str) -> Iterator[str]:
    """Yield the URLs of a srcset (HTML Standard §4.8.4.2.1): a comma may be part of one."""
    rest = srcset[:_LONGEST]
    for _ in range(_CANDIDATES):
        url, *after = rest.lstrip(_BETWEEN).split(None, 1) or [""]
        if not url:
            return
        yield url.rstrip(",")
        rest = after[0] if after else ""
        if url[-1] != ",":
            rest = rest.partition(",")[2]


def _of_link(attributes: dict[str, str | None]) -> Iterator[tuple[str, str]]:
    rels = (attributes.get("rel") or "")[:_RELS].lower().split()
    kind = next((_KIND_OF_REL[rel] for rel in rels if rel in _KIND_OF_REL), None)
    href = attributes.get("href")
    if kind is None and "alternate" in rels:
        media_type = (attributes.get("type") or "").strip().lower()
        kind = FEED if media_type in _FEEDS else None
    if kind is None or not href:
        return
    if kind == "preload":
        kind = _KIND_OF_PRELOAD.get((attributes.get("as") or "").lower(), "")
    if kind:
        yield href, kind
    if kind == "image" and (candidates := attributes.get("imagesrcset")):
        yield from ((reference, "image") for reference in _candidates(candidates))


def _of_own_script(
    node: LexborNode, attributes: dict[str, str | None]
) -> Iterator[tuple[str, str]]:
    """Yield what a script element names: itself, what it imports, what its import map says."""
    for name in ("src", *_LAZY):
        if reference := attributes.get(name):
            yield reference, "script"
    if attributes.get("type") == "importmap":
        for _, address in _import_map(node.text()[:_LONGEST]):
            if not address.endswith("/"):  # which maps a whole folder
                yield address, "script"
    elif not attributes.get("src"):
        yield from _of_imports(node.text()[:MAX_STYLE])


def _import_map(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names of an import map, and the address of each."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return
    imports = found.get("imports") if isinstance(found, dict) else None
    for name, address in islice(imports.items(), _IMPORTS) if isinstance(imports, dict) else ():
        if isinstance(address, str):
            yield name, address


def _of_imports(text: str) -> Iterator[tuple[str, str]]:
    if "import" not in text and "from" not in text:  # a search by the pattern takes far longer
        return
    for match in islice(_IMPORT.finditer(text), _IMPORTS):
        yield match[1] or match[2], "script"
