"""Twins: servers that show one site by two names, and parameters that name who visits a page.

``www.`` and the bare host, a mirror by another name, a session in each link: what is one page is
asked for once. All is told by evidence, and what only one of the names has is still had.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from typing import TYPE_CHECKING, Any

from lswc.safety.near_duplicates import DISTANCE, simhash
from lswc.urls import fingerprint, parse, site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.guest.learned import Key, Learned
    from lswc.urls import Url

REMEMBERED = 100_000
"""Paths, and URLs that weren't there, that are remembered; the latest half stays."""

SAME_SITE, OTHERS = 2, 3
"""Pages that two servers have to show alike, under the same paths, if they are of one registered
domain, and if they aren't: as many that are unlike each other."""

SAYINGS = 2
"""Pages of a server whose canonical URL is the same path of another, or that redirect there."""

CONFIRMED = 6
"""Samples of a twin that are alike, after which links to it are by the name that counts. They are
its first URL since it is known as one, and the second, fourth, eighth ...: twins may part."""

PARTED = 2
"""Samples that aren't alike any more, after which two servers are twins no more."""

VALUES = 3
"""Pages whose links all have one parameter, with another value on each, that make it a session."""

_FEW_LINKS, _MOST_LINKS, _SHARE = 5, 200, 0.9
_TOKEN = 8  # characters of a value that names a visitor, at least
_PAIRS = 10_000

MOST = 200_000
"""Servers that may have another name; further ones are asked for what they have."""

_TWIN, _PARAMETERS = "twin", "parameters"
_EMPTY = simhash("")


class Twins:
    """What is known of servers' other names. ``servers`` has the name that counts for each other.

    ``parameters`` are those of servers that change nothing. ``places`` says by a path and a text
    which server showed that there last, ``texts`` what URLs showed, ``said`` by a URL which other
    one should show the same; ``missing`` are URLs that weren't had. All are by hashes, and only the
    latest are kept. ``owed`` are URLs that were asked for by another name, in vain. Raises
    LswcError.
    """

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self.servers: dict[str, str] = {}
        self._twin_of: dict[str, str] = {}
        self.parameters: dict[str, frozenset[str]] = {}
        self.places: OrderedDict[int, str] = OrderedDict()
        self.texts: OrderedDict[int, int] = OrderedDict()
        self.missing: OrderedDict[int, None] = OrderedDict()
        self.owed: set[str] = set()
        self.parted: Callable[[], None] = lambda: None
        self._alike: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
        self._told: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self._parted = Counter[tuple[str, str]]()
        self._asked_instead = Counter[str]()
        self._samples = Counter[str]()
        self.said: OrderedDict[int, str] = OrderedDict()
        self._values: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for subject in (_TWIN, _PARAMETERS):
            for server in learned.keys(subject):
                self._heard((server, subject))
        learned.heard.append(self._heard)

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
                self.parameters[server] = frozenset(found)

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
        server, query = self.main(url.server), url.query
        if names := self.parameters.get(url.server) or self.parameters.get(server):
            kept = (part for part in query.split("&") if part.partition("=")[0] not in names)
            query = "&".join(kept)
        if server == url.server and query == url.query:
            return url
        found = parse(f"{url.scheme}://{server}{url.path}{'?' if query else ''}{query}")
        return url if found is None else found

    def instead(self, url: Url, source: str | None) -> Url | None:
        """Return the URL that is asked for instead of one; None if it is to be asked for itself.

        ``source`` is the page that led to it: if that is the other URL, that one wasn't had.
        """
        if self.is_empty or (found := self.canonical(url)) == url:
            return None
        if found.server != url.server:
            key = fingerprint(found.href)
            was_led = source is not None and fingerprint(source) == key
            if was_led or key in self.missing or self._is_sample(url.server):
                return None
        return found

    def _is_sample(self, server: str) -> bool:
        """Tell whether a twin's URL is asked for all the same, to see whether it is one."""
        self._asked_instead[server] += 1
        number = self._asked_instead[server]
        return number & (number - 1) == 0

    def link(self, url: Url) -> Url:
        """Return what a link to a URL leads to, as far as that is sure."""
        if url.server in self.servers and self._samples[url.server] < CONFIRMED:
            return url
        return self.canonical(url)

    def of_missing(self, url: Url) -> Url | None:
        """Take notice that a URL wasn't had; return where a twin of its server may have it."""
        self.missing[fingerprint(url.href)] = None
        self.bound()
        twin = self._twin_of.get(url.server)
        if twin is None or (found := parse(url.href.replace(url.server, twin, 1))) is None:
            return None
        self.owed.add(found.href)
        return found

    def shown(self, url: Url, shape: int, other: str) -> None:
        """Take notice that a URL shows the text that another server showed under the same path."""
        if shape == _EMPTY or self.main(url.server) == self.main(other):
            return
        one, two = sorted((url.server, other))
        alike = self._alike[one, two]
        alike[url.path] = shape
        wanted = SAME_SITE if _are_of_one_site(url.server, other) else OTHERS
        if self._told.get((url.server, other)) or self._told.get((other, url.server)):
            wanted = 1
        if _unlike(list(alike.values())) >= wanted and self._parted[one, two] < PARTED:
            is_told = bool(self._told.get((other, url.server)))
            self._bind(*((other, url.server) if is_told else (url.server, other)))
        elif len(self._alike) > _PAIRS:
            self._alike.clear()

    def _sampled(self, url: Url, *, is_same: bool) -> None:
        """Take notice of what a twin's URL shows, and its other name shows something there, too."""
        self._samples[url.server] += is_same
        if is_same:
            return
        one, two = sorted((url.server, self.main(url.server)))
        self._parted[one, two] += 1
        if self._parted[one, two] >= PARTED:
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
        told = self._told[url.server, to.server]
        told.add(url.path)
        if self.servers.get(to.server) == url.server:
            self._learned.put(to.server, _TWIN, None)
        is_root = url.path == "/" and _bare(url.server) == _bare(to.server)
        if redirects and (is_root or len(told) >= SAYINGS):
            self._bind(url.server, to.server)
        if len(self._told) > _PAIRS:
            self._told.clear()

    def _wants(self, url: Url, to: Url) -> None:
        """Leave no parameter out any more, if a server's redirect puts one back."""
        if to.href != url.href and self.canonical(to).href == url.href:
            self._learned.put(url.server, _PARAMETERS, [])
            self.parted()

    def visited(self, url: Url, links: Sequence[Url]) -> None:
        """Look for a parameter that all links to a page's own server have, with one value."""
        own = [link for link in links if link.server == url.server][:_MOST_LINKS]
        if len(own) < _FEW_LINKS:
            return
        pairs = Counter(pair for link in own for pair in set(link.query.split("&")))
        for pair, number in pairs.items():
            name, _, value = pair.partition("=")
            if number < _SHARE * len(own) or not _may_be_token(value):
                continue
            values = self._values[url.server, name]
            values.add(value)
            if len(values) >= VALUES:
                self._ignore(url.server, name)
        if len(self._values) > _PAIRS:
            self._values.clear()

    def _bind(self, server: str, other: str) -> None:
        """Let a server count as another, by the name which that counts by."""
        main = self.main(other)
        if self.main(server) != main and len(self.servers) < MOST:
            self._learned.put(self.main(server), _TWIN, main)

    def is_copy(self, url: Url, shape: int, canonical: Url | None) -> bool:
        """Tell whether a URL shows what its canonical one does, or what a twin showed there.

        A parameter that only copies have is left out of URLs, in time.
        """
        if shape == _EMPTY:
            return False
        if self._is_of_copy(url, shape):
            return True
        if canonical is not None and site(canonical.hostname) == site(url.hostname):
            return self._is_like(url, shape, canonical)
        if url.server in self.servers:
            return self._is_like(url, shape, self.canonical(url))
        return False

    def _is_of_copy(self, url: Url, shape: int) -> bool:
        """Tell whether a URL shows what another did that named it, and was recorded."""
        source = self.said.pop(hash(url.href), None)
        known = self.texts.get(hash(source)) if source is not None else None
        copy = parse(source) if source is not None else None
        if known is None or copy is None:
            return False
        return self._compared(copy, url, is_same=(known ^ shape).bit_count() <= DISTANCE)

    def _is_like(self, url: Url, shape: int, main: Url) -> bool:
        """Tell whether a URL shows what the one did that counts; that may come yet."""
        known = self.texts.get(hash(main.href))
        if known is None:
            self.said[hash(main.href)] = url.href
            return False
        return self._compared(url, main, is_same=(known ^ shape).bit_count() <= DISTANCE)

    def _compared(self, copy: Url, main: Url, *, is_same: bool) -> bool:
        if self.servers.get(copy.server) == main.server:
            self._sampled(copy, is_same=is_same)
        if is_same:
            self._copied(copy, main)
        return is_same

    def _copied(self, url: Url, canonical: Url) -> None:
        """Count the parameters that a copy has, and its canonical URL hasn't."""
        if (url.server, url.path) != (canonical.server, canonical.path):
            return
        kept = set(canonical.query.split("&"))
        names = {part.partition("=")[0] for part in url.query.split("&") if part not in kept}
        if names & {part.partition("=")[0] for part in kept}:
            return  # it says something else there
        for name in names:
            copies = self._values[url.server, f"{name}="]
            copies.add(url.href)
            if len(copies) >= VALUES:
                self._ignore(url.server, name)

    def _ignore(self, server: str, name: str) -> None:
        known = self._learned.get(server, _PARAMETERS)
        if known != []:  # else it wants them
            self._learned.put(server, _PARAMETERS, sorted({*(known or ()), name}))

    def bound(self) -> None:
        """Forget the older half of what there is too much of."""
        for kept in (self.places, self.texts, self.said, self.missing):
            if len(kept) > REMEMBERED:
                for _ in range(REMEMBERED // 2):
                    kept.popitem(last=False)


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
    has_both = any(map(str.isdecimal, plain)) and any(map(str.isalpha, plain))
    return len(plain) >= _TOKEN and (has_both or len(plain) >= 2 * _TOKEN)
