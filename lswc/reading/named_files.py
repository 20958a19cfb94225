"""Files named in scripts: string literals that end like files, webpack's chunks, values of data.

What a script names it may never ask for, and where to is known only when it runs. So all of this
is a guess. Each pattern's parts are bounded, so a search takes time by the length of a script.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from functools import cached_property
from html import unescape
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED_FILES = 100
"""Files that a script, or a page's own scripts and attributes, may name."""

_LOOKED_AT = 5_000  # ends of literals
_LONGEST = 500  # characters of a name
_EXTENSION = (
    r"\.(?:png|PNG|jpe?g|JPE?G|gif|GIF|webp|avif|svg|ico|json|css|m?js|woff2?|ttf|otf|eot|wasm"
    r"|bmp|mp3|mp4|m4a|m4v|mov|wav|webm|og[gva]|opus|flac|aac|mid|m3u8|mpd|vtt|srt|webmanifest"
    r"|glb|gltf|obj|mtl|stl|ply|fbx|dae|hdr|exr|ktx2?|basis|drc|patt|fset3?|iset"  # of space
    r"|geojson|topojson|kml|gpx|pbf|xml|csv|tsv|md"  # of maps, tables and slides
    r"|dat|bin|data|tmx|tsx|fnt|atlas|glsl|wgsl|vert|frag|shader|hbs|mustache)"  # of games
)
_QUERY = r"(?:\?[\w.~%&=+-]{1,100})?"
_END = re.compile(rf"{_EXTENSION}{_QUERY}(?=[\"'`#])")
_ENDS_AS_FILE = re.compile(rf"{_EXTENSION}{_QUERY}\Z")
# Of what a name may be made; one that has the signs of a pattern or of other code is none.
_NAME = re.compile(r"(?:https?:)?[\w./~@%!&=?+,-]+")
_STEM = re.compile(r"[^.].*\.\w+\Z")
_CLASS = re.compile(r"[A-Z][A-Za-z]*\.js")  # "Node.js", "Vue.js": software in a message
_BEFORE = 20  # characters beside a literal that say what it is for
_FAR = 60  # characters before one that say what it is added to
_NOT_ASKED_FOR = re.compile(
    r"(?:==|\bcase|\brequire\(|\bdefine\(|\bevent[\"']?:|\b(?:from|import)\s*\(?)\s*\Z"
)
_INDEX = re.compile(r"[\w$)]\[\Z")
# What is asked for at once, whatever its name ends with.
_ASKED_FOR = re.compile(
    r"\(\s{0,9}[\"'`](?=[^\"'`]{0,500}[./])([^\"'`\s\\<>${}]{1,500})[\"'`]\s{0,9}[,)]"
)
_ASKS = re.compile(r"(?:\bfetch|\.getJSON|\$\.get|\baxios(?:\.get)?|\.load|\bimportScripts)\Z")
_MODULE = re.compile(r"\s*,\s*\[")
_USED = re.compile(
    r"(?:\b(?:\w*[sS]rc|href|\w*[uU]rl|URL|Worker|register|\w*[lL]oad\w*)[\"']?\s*[=:(]|\burl\()\s*\Z"
)
_PUBLIC_PATH = re.compile(r"\w\.p\s*\+\s*\Z")
# The names of the files that GWT's selection scripts choose from.
_PERMUTATION = re.compile(r"[\"']([0-9A-F]{32})[\"']")
_SLASHES = re.compile(r"\\(?:/|u002[fF])")

# webpack's names of chunks: `p + "js/" + ({1: "a"}[e] || e) + "." + {1: "f00"}[e] + ".js"`.
_CHUNK_END = re.compile(r"\+\s*\"([\w.-]{0,50}\.(?:m?js|css))\"")
_CHUNKS = 10  # ends that are looked at
_TERMS = 8
_MAP = 40_000  # characters before a term that may be its map
_CHOICE = re.compile(r"\{([^{}]*)\}\[\w{1,20}\](\|\|\w{1,20}\))?")
_VARIABLE = re.compile(r"(?<![\w$.])\w{1,20}(\.p)?\Z")
_PAIR = re.compile(r"\"?([\w~-]{1,100})\"?\s*:\s*\"([\w.~/-]{1,100})\"")
_CODE = (".js", ".mjs", ".css")
# What a script may put before names: folders of a path.
_FOLDER = re.compile(r"[\"'](\.{0,2}/(?:[\w-]{1,50}/){1,5})[\"']")
_FOLDERLESS = 50  # names
_NEAR = 50_000  # characters between a folder and the names in it
_PLUS = re.compile(r"\+\s*\Z")
_CALLED = re.compile(r"[\w$]\(\s{0,9}\Z")
_BESIDE = (".wasm", ".data")  # what compilers put beside the script that they make

# What stands before a name, and is a folder: `BASE + "x.png"` and `${BASE}x.png`, BASE = "img/".
_CONSTANT = re.compile(
    r"(?<![\w$.])([A-Za-z_$][\w$]{0,40}+)\s{0,3}[=:]\s{0,3}[\"']([\w.~:@/-]{1,200})[\"']"
)
_ADDED = re.compile(r"(?:[=(,:\[?]|\breturn)\s{0,9}([A-Za-z_$][\w$]{0,40}+)\s{0,3}\+\s{0,9}\Z")
_FILLED = re.compile(r"\$\{([A-Za-z_$][\w$]{0,40})\}(.+)")
_SET_PATH = re.compile(r"\.p\s*=\s*\"([^\"\\]{0,200})\"")

_DATA = re.compile(rb"data-([\w.:-]{1,60}+)\s*=\s*(?:\"([^\"]{1,4000})\"|'([^']{1,4000})')")
_OF_WORKERS = ("importScripts(", "skipWaiting(", "precacheAndRoute(", "caches.open(")


class Named(NamedTuple):
    """A file that is named: as it stands there, and whether it is relative to the script.

    That is, to webpack's public path if the script sets one.
    """

    reference: str
    of_script: bool = False


def is_worker(text: str) -> bool:
    """Tell whether a script is a worker's, whose names are relative to itself."""
    return any(word in text for word in _OF_WORKERS)


def public_path(text: str) -> str | None:
    """Return webpack's public path, if the script sets it."""
    found = _SET_PATH.search(text)
    return found[1] if found else None


def in_script(text: str) -> Iterator[Named]:
    """Yield what a script names, each once, the surest first: chunks, then literals."""
    if "." not in text:
        return
    slashed = _SLASHES.sub("/", text) if "\\" in text else text
    found = (
        _chunks(text),
        _permutations(text) if ".cache." in text else (),
        _asked_for(slashed),
        _literals(slashed),
    )
    yield from dict.fromkeys(chain.from_iterable(islice(names, NAMED_FILES) for names in found))


def in_attributes(markup: bytes) -> Iterator[Named]:
    """Yield what attributes of data name, whatever script uses them: a file, several, or JSON."""
    for found in islice(_DATA.finditer(markup), _LOOKED_AT):
        value = unescape((found[2] or found[3]).decode("utf-8", "replace")).strip()
        if value[:1] in ("[", "{"):
            yield from in_script(value)
        elif _ENDS_AS_FILE.search(value) and _is_name(value):
            yield Named(value)


def in_manifest(text: str) -> Iterator[str]:
    """Yield the images of a web app's manifest (W3C Web Application Manifest, §1.5, §1.9)."""
    try:
        said: Any = json.loads(text)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    lists = [said, *_dicts(said.get("shortcuts"))]
    for one in lists:
        for image in (*_dicts(one.get("icons")), *_dicts(one.get("screenshots"))):
            if isinstance(src := image.get("src"), str):
                yield src


def _dicts(value: object) -> list[dict[str, Any]]:
    found = value[:NAMED_FILES] if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _permutations(text: str) -> Iterator[Named]:
    """Yield what GWT's selection script chooses from, beside it."""
    for name in dict.fromkeys(_PERMUTATION.findall(text)):
        yield Named(f"./{name}.cache.js", True)


def _asked_for(text: str) -> Iterator[Named]:
    """Yield what a script asks for in so many words, whatever the names end with."""
    for asked in islice(_ASKED_FOR.finditer(text), _LOOKED_AT):
        if _ASKS.search(text, max(0, asked.start() - _BEFORE), asked.start()):
            yield Named(asked[1].partition("#")[0])


def _literals(text: str) -> Iterator[Named]:
    """Yield what string literals name.

    But those that are compared, required or parts of names, and those that are keys, as modules'
    names are, unless a call has them too. A name without a folder counts where it is used, there
    and in the nearest folder. A worker's keys are its files.
    """
    found: dict[str, bool] = {}
    folderless: dict[str, int] = {}
    keys, called, works = set(), set(), is_worker(text)
    for one in _standing(text):
        if one.is_key:
            keys.add(one.name)
        if one.is_called:
            called.add(one.name)
        is_used = works or one.is_used  # by the page: relative to it
        is_bare = "/" not in one.name and not one.of_path
        if is_bare and not (one.is_other or one.name.endswith((*_CODE, ".json"))):
            folderless.setdefault(one.name, one.start)
        if not (one.is_other or (is_bare and not is_used)):
            is_beside = one.name[0] == "." and one.name.endswith(_CODE) and not is_used
            found.setdefault(one.name, one.of_path or is_beside)
    keys = set() if works else keys - called
    yield from (Named(name, of_script) for name, of_script in found.items() if name not in keys)
    rest = {name: start for name, start in folderless.items() if name not in keys}
    yield from (Named(name, True) for name in rest if name.endswith(_BESIDE))
    yield from _in_folders(text, rest)


class _Standing(NamedTuple):
    """A name, where its literal begins, and what it is there.

    A key, what a call has, what is used as an address, what is added to webpack's public path;
    or another thing: a part of a name, a module.
    """

    name: str
    start: int
    is_key: bool = False
    is_called: bool = False
    is_used: bool = True
    of_path: bool = False
    is_other: bool = False


def _standing(text: str) -> Iterator[_Standing]:
    constants = _Constants(text)
    for end in islice(_END.finditer(text), _LOOKED_AT):
        start = _start(text, end.start(), text[end.end()])
        name = text[start : end.end()]
        if whole := constants.whole(name, start):
            yield _Standing(whole, start)
        if not start or not _is_name(name):
            continue
        before = text[max(0, start - 1 - _BEFORE) : start - 1]
        after = text[end.end() + 1 : end.end() + _BEFORE].lstrip()[:1]
        is_key = after == ":" and before.rstrip()[-1:] in ("{", ",")
        of_path = _PUBLIC_PATH.search(before) is not None
        is_part = _PLUS.search(before) is not None and not of_path
        is_module = _NOT_ASKED_FOR.search(before) or _MODULE.match(text, end.end() + 1)
        yield _Standing(
            name,
            start,
            is_key or _INDEX.search(before) is not None,
            _CALLED.search(before) is not None and not is_module,
            _USED.search(before) is not None,
            of_path,
            is_part or is_module is not None,
        )


def _in_folders(text: str, names: dict[str, int]) -> Iterator[Named]:
    """Yield names without a folder, which stand at these places, in the folder that is nearest.

    Of a script that has no folder, they are beside the page. One that has too many such names isn't
    about files.
    """
    if not 0 < len(names) <= _FOLDERLESS:
        return
    folders = {found.start(): found[1] for found in islice(_FOLDER.finditer(text), _LOOKED_AT)}
    places = sorted(folders)
    for name, at in names.items():
        after = bisect(places, at)
        beside = places[max(0, after - 1) : after + 1]
        near = [(abs(place - at), place) for place in beside if abs(place - at) <= _NEAR]
        if near:
            yield Named(folders[min(near)[1]] + name)
        elif not places:
            yield Named(name)


class _Constants:
    """The folders that a script has names for, read once one is asked for.

    A name that has several values has none.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _values(self) -> dict[str, str]:
        values: dict[str, str] = {}
        for name, value in islice(_CONSTANT.findall(self._text), _LOOKED_AT):
            values[name] = value if values.get(name, value) == value else ""
        return values

    def whole(self, name: str, start: int) -> str | None:
        """Return a name that begins at a place with the folder before it; None if there is none."""
        if filled := _FILLED.fullmatch(name):
            constant, name = filled[1], filled[2]
        elif added := _ADDED.search(self._text, max(0, start - 1 - _FAR), max(0, start - 1)):
            constant = added[1]
        else:
            return None
        folder = self._values.get(constant, "")
        if not folder or folder.endswith("/") == name.startswith("/"):
            return None
        return folder + name if _is_name(folder + name) else None


def _start(text: str, end: int, quote: str) -> int:
    """Return where the literal begins that has a file's name before this place, 0 if nowhere."""
    first = max(0, end - _LONGEST)
    if quote != "#":
        return text.rfind(quote, first, end) + 1
    return max(text.rfind(sign, first, end) for sign in "\"'`") + 1


def _is_name(name: str) -> bool:
    return (
        len(name) <= _LONGEST
        and _NAME.fullmatch(name) is not None
        and _STEM.match(name.partition("?")[0].rpartition("/")[2]) is not None
        and _CLASS.fullmatch(name) is None
    )


def _chunks(text: str) -> Iterator[Named]:
    """Yield the names that webpack's runtime can make."""
    for end in islice(_CHUNK_END.finditer(text), _CHUNKS):
        terms, left = [_Term(end.start(), end[1])], end.start()
        while len(terms) < _TERMS and not terms[-1].is_path:
            term = _term_before(text, left)
            if term is None:
                break
            terms.append(term)
            before = text[max(0, term.start - _BEFORE) : term.start].rstrip()
            if not before.endswith("+"):
                break
            left = text.rindex("+", 0, term.start)
        yield from _made(terms[::-1])


class _Term(NamedTuple):
    """A part of a name: its place, its text; else what it is for a chunk, None for the chunk's own.

    ``has_default`` says that a chunk which isn't among the ``choices`` is named as itself.
    """

    start: int
    text: str | None = None
    choices: dict[str, str] | None = None
    has_default: bool = False
    is_path: bool = False


def _term_before(text: str, end: int) -> _Term | None:
    """Return the term that ends at a place, read from its last sign."""
    end = len(text[:end].rstrip()) if text[end - 1 : end].isspace() else end
    if text[end - 1 : end] == '"':
        start = text.rfind('"', max(0, end - _LONGEST), end - 1)
        return _Term(start, text[start + 1 : end - 1]) if start >= 0 else None
    if text[end - 1 : end] in ("]", ")"):
        start = text.rfind("{", max(0, end - _MAP), end)
        choice = _CHOICE.fullmatch(text, start, end) if start >= 0 else None
        if choice is None:
            return None
        start -= choice[2] is not None and text[start - 1 : start] == "("
        return _Term(start, None, dict(_PAIR.findall(choice[1])), choice[2] is not None)
    name = _VARIABLE.search(text, max(0, end - 2 * _BEFORE), end)
    return name and _Term(name.start(), is_path=name[1] is not None)


def _made(terms: list[_Term]) -> Iterator[Named]:
    """Yield a name for each chunk that terms choose for."""
    terms = terms[terms[0].is_path :]
    sure = [term.choices for term in terms if term.choices is not None and not term.has_default]
    some = [term.choices for term in terms if term.choices is not None]
    chunks = dict.fromkeys(chunk for choices in sure or some for chunk in choices)
    for chunk in islice(chunks, NAMED_FILES):
        parts = []
        for term in terms:
            default = chunk if term.choices is None or term.has_default else None
            part = term.text if term.choices is None else term.choices.get(chunk, default)
            parts.append(default if part is None else part)
        if None not in parts:
            yield Named("".join(map(str, parts)), True)
