"""Twins: servers that show one site by two names, and parameters that name who visits a page.

``www.`` and the bare host, a mirror by another name, a session in each link: what is one page is
asked for once. All is told by evidence, and what only one of the names has is still had.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any
from zlib import crc32

from lswc.guest.canonicals import Canonicals, forget_half
from lswc.safety.near_duplicates import DISTANCE, simhash
from lswc.urls import fingerprint, parse, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lswc.guest.learned import Key, Learned
    from lswc.urls import Url

SAME_SITE, OTHERS = 2, 3
"""Pages that two servers have to show alike, under the same paths, if they are of one registered
domain, and if they aren't: as many that are unlike each other."""

SAYINGS = 2
"""Pages of a server whose canonical URL is the same path of another, or that redirect there."""

CONFIRMED = 6
"""Samples of a twin that are alike, after which links to it are by the name that counts. They are
its first URL since it is known as one, and the second, fourth, eighth ...: twins may part."""

ONE_OF = 16
"""Of so many links to a twin one keeps its name all the same, so that there are samples."""

PARTED = 2
"""Samples that aren't alike any more, after which two servers are twins no more."""

VALUES = 3
"""Pages whose links all have one parameter, with another value on each, that make it a session."""

ALIKE = 5
"""URLs that show the same with two values of a parameter, each another text, after which it changes
nothing: the time, the page that led there. Once one didn't it does."""

_FEW_LINKS, _MOST_LINKS, _SHARE = 5, 200, 0.9
_FEW_PARAMETERS = 6  # of a URL that is compared with those that have other values
_CHANGES = 3  # of the value that a server puts back, one after the other
_TOKEN = 8  # characters of a value that names a visitor, at least
_TIME = 10  # digits of the time in seconds
_LONGEST = 64  # characters of a value
_NAMES = 20  # parameters of a server, of which anything is remembered

PAIRS = 10_000
"""Pairs of servers, and servers with parameters, of which is remembered what is too little yet."""

SERVERS_COMPARED = 200_000
"""Servers that may have another name; further ones are asked for what they have."""

_PATH_PARAMETER = re.compile(r"(;[^;/=]{1,64})=([^;/]*)")
# Where ASP.NET has the session of who sends no cookies: /(S(lit3py55t21z5v55vlm25s55))/page
_PATH_SESSION = re.compile(r"(/\()((?:[A-Z]\([^()/]{1,200}\)){1,4})\)(?=/)")
_TWIN, _PARAMETERS = "twin", "parameters that change nothing"
_PAIR, _SAMPLES, _VALUES = "seen alike", "asked of a twin", "values"
_EMPTY = simhash("")


class Twins:
    """What is known of servers' other names. ``servers`` has the name that counts for each other.

    ``parameters`` are those of servers that change nothing, each with the value by which it counts,
    "" if it is left out. ``places`` says by a hash of path,
    query and text which server showed that there last, ``missing`` which URLs weren't had: of both
    only the latest are remembered. ``canonicals`` has what pages themselves say. ``owed`` are URLs
    that were asked for by another name, in vain. What was ``learned``
    outlasts a restart, and so does what was seen and is too little yet. Raises LswcError.
    """

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self.servers: dict[str, str] = {}
        self._twin_of: dict[str, str] = {}
        self.parameters: dict[str, dict[str, str]] = {}
        self.places: OrderedDict[int, str] = OrderedDict()
        self.missing: OrderedDict[int, None] = OrderedDict()
        self._by_value: OrderedDict[int, tuple[int, int]] = OrderedDict()
        self._changes = Counter[str]()
        self.owed: set[str] = set()
        self._asked_instead = Counter[str](
            {
                server: learned.get(server, _SAMPLES).get("asked", 0)
                for server in learned.keys(_SAMPLES)
            }
        )
        self._doubted: set[str] = set()
        self.parted: Callable[[], None] = lambda: None
        self.canonicals = Canonicals(learned, self._compared)
        self._numbers = Counter({s: len(learned.keys(s)) for s in (_PAIR, _SAMPLES, _VALUES)})
        for subject in (_TWIN, _PARAMETERS):
            for server in learned.keys(subject):
                self._heard((server, subject))
        learned.heard.append(self._heard)

    def load(self, pages: Iterable[tuple[str, int]]) -> None:
        """Remember what an earlier run recorded: URLs, and their texts' simhashes."""
        for address, shape in pages:
            if (url := parse(address)) is not None:
                self.places[hash((url.path, url.query, shape))] = url.server
        self.canonicals.load(pages)

    def sync(self) -> None:
        """Return once what waits for other URLs would outlast a power cut."""
        self._learned.sync()

    def _seen(self, key: str, subject: str) -> dict[str, Any]:
        """Return what was seen so far of a server, or a pair of them."""
        return self._learned.get(key, subject) or {}

    def _note(self, key: str, subject: str, seen: dict[str, Any]) -> None:
        """Keep what was seen so far. Of too many all is forgotten."""
        if self._learned.get(key, subject) is None:
            self._numbers[subject] += 1
            if self._numbers[subject] > PAIRS:
                for known in self._learned.keys(subject):
                    self._learned.put(known, subject, None)
                self._numbers[subject] = 1
        self._learned.put(key, subject, seen)

    def _heard(self, key: Key) -> None:
        server, subject = key
        found: Any = self._learned.get(server, subject)
        if subject == _TWIN:
            before = self.servers.pop(server, None)
            if before is not None and self._twin_of.get(before) == server:
                del self._twin_of[before]
            if found:
                self.servers[server] = found
                self._twin_of[found] = server
        elif subject == _PARAMETERS:
            self.parameters.pop(server, None)
            if found:
                self.parameters[server] = found

    @property
    def is_empty(self) -> bool:
        """Whether each URL is its own."""
        return not (self.servers or self.parameters)

    def main(self, server: str) -> str:
        """Return the name of a server that counts."""
        for _ in range(len(self.servers) + 1):
            if server not in self.servers:
                break
            server = self.servers[server]
        return server

    def canonical(self, url: Url) -> Url:
        """Return a URL by the name of its server that counts, without what changes nothing."""
        server, path, query = self.main(url.server), url.path, url.query
        if names := self.parameters.get(url.server) or self.parameters.get(server):
            counts = [_counting(part, part.partition("=")[0], names) for part in query.split("&")]
            query = "&".join(filter(None, counts))
            if ";" in path:
                path = _PATH_PARAMETER.sub(lambda part: _counting(part[0], part[1], names), path)
            if "/(" in names:
                value = names["/("]
                path = _PATH_SESSION.sub(f"/({value})" if value else "", path)
        if (server, path, query) == (url.server, url.path, url.query):
            return url
        found = parse(f"{url.scheme}://{server}{path}{'?' if query else ''}{query}")
        return url if found is None else found

    def instead(self, url: Url, source: str | None) -> Url | None:
        """Return the URL that is asked for instead of one; None if it is to be asked for itself.

        ``source`` is the page that led to it: if that is the other URL, that one wasn't had.
        """
        found = self.canonical(url)
        if found == url:
            return None
        if not self._may_differ(url, found):
            return found
        key = fingerprint(found.href)
        was_led = found.server != url.server and source is not None and fingerprint(source) == key
        if was_led or key in self.missing or self._is_sample(url.server):
            return None
        return found

    def _is_sample(self, server: str) -> bool:
        """Tell whether a twin's URL is asked for all the same, to see whether it is one."""
        number = self._asked_instead[server] + 1
        self._asked_instead[server] = number
        is_sample = number & (number - 1) == 0 or server in self._doubted
        if is_sample:
            self._note(server, _SAMPLES, {**self._seen(server, _SAMPLES), "asked": number})
        return is_sample

    def link(self, url: Url) -> Url:
        """Return what a link to a URL leads to, as far as that is sure."""
        is_twin = url.server in self.servers
        if is_twin and self._seen(url.server, _SAMPLES).get("alike", 0) < CONFIRMED:
            return url
        found = self.canonical(url)
        is_sample = crc32(url.path.encode()) % ONE_OF == 0 and self._may_differ(url, found)
        return url if is_sample else found

    def _may_differ(self, url: Url, found: Url) -> bool:
        """Tell whether a URL may show something else than the one that counts.

        Not what has another session.
        """
        if url.server != found.server or url.server in self.servers:
            return True
        alike = self._seen(url.server, _VALUES).get("alike", {})
        return bool(alike) and not alike.keys().isdisjoint(self.parameters.get(url.server, ()))

    def of_missing(self, url: Url) -> Url | None:
        """Take notice that a URL wasn't had; return where a twin of its server may have it."""
        self.missing[fingerprint(url.href)] = None
        forget_half(self.missing)
        twin = self._twin_of.get(url.server)
        if twin is None or (found := parse(url.href.replace(url.server, twin, 1))) is None:
            return None
        self.owed.add(found.href)
        return found

    def shown(self, url: Url, shape: int, other: str) -> None:
        """Take notice that a URL shows the text that another server showed under the same path."""
        if shape == _EMPTY or self.main(url.server) == self.main(other):
            return
        pair, seen = self._pair(url.server, other)
        alike = {**seen.get("alike", {}), _key(url): shape}
        wanted = SAME_SITE if _are_of_one_site(url.server, other) else OTHERS
        told = seen.get("told", {})
        if told:
            wanted = 1
        if _unlike(list(alike.values())) < wanted:
            self._note(pair, _PAIR, {**seen, "alike": alike})
        elif seen.get("parted", 0) < PARTED:
            self._bind(*((other, url.server) if other in told else (url.server, other)))

    def _pair(self, one: str, other: str) -> tuple[str, dict[str, Any]]:
        """Return the key of a pair of servers, and what was seen of them."""
        pair = " ".join(sorted((one, other)))
        return pair, self._seen(pair, _PAIR)

    def _compared(self, copy: Url, main: Url, is_same: bool) -> None:
        """Take notice of whether a page shows what the URL does that counts for it."""
        if self.servers.get(copy.server) == main.server or (
            copy.server in self.parameters and self.canonical(copy) == main
        ):
            self._sampled(copy, main, is_same=is_same)
        if is_same:
            self._copied(copy, main)

    def _sampled(self, url: Url, main: Url, *, is_same: bool) -> None:
        if is_same:
            self._doubted.discard(url.server)
            seen = self._seen(url.server, _SAMPLES)
            if (alike := seen.get("alike", 0)) < CONFIRMED:
                self._note(url.server, _SAMPLES, {**seen, "alike": alike + 1})
            return
        self._doubted.add(url.server)  # the next is asked for, too
        pair, seen = self._pair(url.server, main.server)
        parted = seen.get("parted", 0) + 1
        self._note(pair, _PAIR, {**seen, "parted": parted})
        if parted >= PARTED:
            if url.server == main.server:
                self._learned.put(url.server, _PARAMETERS, {})
            self._learned.put(url.server, _TWIN, None)
            self.parted()

    def named(self, url: Url, to: Url, *, redirects: bool) -> None:
        """Take notice that a page's canonical URL, or its redirect, is the same path elsewhere.

        Redirects of several paths are enough, or that of the front page between a name and the
        same with www; a canonical URL has to show the same. Another path says nothing.
        """
        if url.server == to.server and redirects and url.server in self.parameters:
            self._wants(url, to)
        if url.server == to.server or (url.path, url.query) != (to.path, to.query):
            return
        pair, seen = self._pair(url.server, to.server)
        told = seen.get("told", {})
        paths = {*told.get(url.server, ()), _key(url)}
        if len(paths) <= SAYINGS:
            self._note(pair, _PAIR, {**seen, "told": {**told, url.server: sorted(paths)}})
        if self.servers.get(to.server) == url.server:
            self._learned.put(to.server, _TWIN, None)
        is_root = url.path == "/" and _bare(url.server) == _bare(to.server)
        if redirects and (is_root or len(paths) >= SAYINGS):
            self._bind(url.server, to.server)

    def _wants(self, url: Url, to: Url) -> None:
        """Let the value count that a server's redirect puts back; none if it is another each time.

        Then no parameter is left out any more.
        """
        if to.href == url.href or self.canonical(to).href != url.href:
            return
        values = dict(pair.split("=", 1) for pair in _pairs(to) if "=" in pair)
        self._changes[url.server] += 1
        if self._changes[url.server] <= _CHANGES:
            known = self.parameters[url.server]
            now = {name: values.get(name, value) for name, value in known.items()}
            self._learned.put(url.server, _PARAMETERS, now)
        else:
            self._learned.put(url.server, _PARAMETERS, {})
            self.parted()

    def visited(self, url: Url, links: Sequence[Url]) -> None:
        """Look for a parameter that all links to a page's own server have, with one value."""
        if self._changes:
            del self._changes[url.server]
        own = [link for link in links if link.server == url.server][:_MOST_LINKS]
        if len(own) < _FEW_LINKS:
            return
        pairs = Counter(pair for link in own for pair in _pairs(link))
        for pair, number in pairs.items():
            name, _, value = pair.partition("=")
            if number < _SHARE * len(own) or not _may_be_token(value):
                continue
            self._take_value(url.server, name, value)

    def _take_value(self, server: str, name: str, value: str, of: str = "tokens") -> None:
        """Count a parameter's values, or its copies: of so many it changes nothing."""
        seen = self._seen(server, _VALUES)
        kind: dict[str, list[str]] = seen.get(of, {})
        values = sorted({*kind.get(name, ()), value[:_LONGEST]})
        if len(values) >= VALUES:
            self._ignore(server, name)
        elif name in kind or len(kind) < _NAMES:
            self._note(server, _VALUES, {**seen, of: {**kind, name: values}})

    def values(self, url: Url, shape: int) -> None:
        """Look for a parameter that changes nothing: a URL shows the text that it does with another
        value of it."""
        parts = url.query.split("&")
        if len(parts) > _FEW_PARAMETERS or shape == _EMPTY:
            return
        for part in parts:
            name, _, value = part.partition("=")
            rest = "&".join(other for other in parts if other is not part)
            place = f"{url.server} {url.path} {rest} {name}"
            before = self._by_value.get(key := hash(place))
            self._by_value[key] = hash(value), shape
            if before is not None and before[0] != hash(value):
                self._two_values(url.server, name, place, (before[1], shape))
        forget_half(self._by_value)

    def _two_values(self, server: str, name: str, place: str, shapes: tuple[int, int]) -> None:
        seen = self._seen(server, _VALUES)
        alike: dict[str, dict[str, int]] = seen.get("alike", {})
        if name in seen.get("matters", ()) or (name not in alike and len(alike) >= _NAMES):
            return
        if _unlike([*shapes]) > 1:
            kept = {other: texts for other, texts in alike.items() if other != name}
            matters = [*seen.get("matters", ()), name][-_NAMES:]
            self._note(server, _VALUES, {**seen, "alike": kept, "matters": matters})
            return
        texts = {**alike.get(name, {}), f"{fingerprint(f'://{place}'):x}": shapes[1]}
        if _unlike([*texts.values()]) >= ALIKE:
            self._ignore(server, name)
        elif len(texts) <= ALIKE * ALIKE:
            self._note(server, _VALUES, {**seen, "alike": {**alike, name: texts}})

    def _bind(self, server: str, other: str) -> None:
        """Let a server count as another, by the name which that counts by."""
        main = self.main(other)
        if self.main(server) != main and len(self.servers) < SERVERS_COMPARED:
            self._learned.put(self.main(server), _TWIN, main)

    def bound(self) -> None:
        """Forget the older half of what there is too much of."""
        forget_half(self.places)
        forget_half(self.canonicals.texts)

    def own(self, url: Url, canonical: Url | None) -> Url | None:
        """Return the URL that counts for a page, if it is another: ``canonical`` is what it says.

        That is to be of its site. Else it is the URL by the name of its server that counts.
        """
        found = None
        if canonical is not None and site(canonical.hostname) == site(url.hostname):
            found = self.canonical(canonical)
        elif url.server in self.servers or url.server in self.parameters:
            found = self.canonical(url)
        if found is None or fingerprint(found.href) in self.missing:
            return None
        return None if fingerprint(found.href) == fingerprint(url.href) else found

    def _copied(self, url: Url, canonical: Url) -> None:
        """Count the parameters that a copy has, and its canonical URL hasn't."""
        if (url.server, url.path) != (canonical.server, canonical.path):
            return
        kept = set(canonical.query.split("&"))
        names = {part.partition("=")[0] for part in url.query.split("&") if part not in kept}
        if names & {part.partition("=")[0] for part in kept}:
            return  # it says something else there
        for name in names:
            self._take_value(url.server, name, _key(url), "copies")

    def _ignore(self, server: str, name: str) -> None:
        known = self._learned.get(server, _PARAMETERS)
        if known != {}:  # else it wants them
            self._learned.put(server, _PARAMETERS, {name: "", **(known or {})})


def _counting(part: str, name: str, values: dict[str, str]) -> str:
    """Return a parameter by the value that counts, "" if it is left out."""
    value = values.get(name)
    return part if value is None else value and f"{name}={value}"


def _pairs(link: Url) -> set[str]:
    """Return the parameters of a URL with their values; those of its path begin with ";" or "/"."""
    pairs = set(link.query.split("&"))
    if ";" in link.path:
        pairs |= {part[0] for part in _PATH_PARAMETER.finditer(link.path)}
    if "/(" in link.path:
        pairs |= {f"{part[1]}={part[2]}" for part in _PATH_SESSION.finditer(link.path)}
    return pairs


def _key(url: Url) -> str:
    """Return a short name of a URL's path and query."""
    return f"{fingerprint(f'://{url.path}?{url.query}') & (1 << 32) - 1:08x}"


def _are_of_one_site(one: str, other: str) -> bool:
    return site(one.partition(":")[0]) == site(other.partition(":")[0])


def _bare(server: str) -> str:
    return server.removeprefix("www.")


def _unlike(shapes: list[int]) -> int:
    """Return how many of some texts are unlike all before."""
    found: list[int] = []
    for shape in shapes:
        if all((shape ^ one).bit_count() > DISTANCE for one in found):
            found.append(shape)
    return len(found)


def _may_be_token(value: str) -> bool:
    """Tell whether a value is made by a machine: long, with digits, as no word or number is."""
    plain = value.replace("-", "").replace("_", "")
    if "%" in plain:
        return False
    has_digits, has_letters = any(map(str.isdecimal, plain)), any(map(str.isalpha, plain))
    if has_digits and has_letters:
        return len(plain) >= _TOKEN
    return len(plain) >= (2 * _TOKEN if has_letters else _TIME)
