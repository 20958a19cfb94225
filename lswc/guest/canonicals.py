"""Canonical URLs: pages that name another URL of their site as their own, and which is asked first.

What a page says (RFC 6596) is believed as far as that URL shows the same text.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, TypeVar

from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import DISTANCE, simhash
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from lswc.guest.learned import Learned

REMEMBERED = 100_000
"""Pages whose texts are remembered; the latest half stays."""

WAITING = 10_000
"""Pages that wait for their canonical URLs, at most."""

ALIKE = 20
"""Pages that wait for one URL, at most: they show the same."""

SERVERS = 100_000
"""Servers of which it is known that canonical URLs were wrong, at most."""

WRONG = 2
"""Canonical URLs of a server that were wrong, in a row, after which none is asked for first."""

UNTRIED = 8
"""Canonical URLs of a server that are waited for, at most, before one was right."""

_Value = TypeVar("_Value")

_STEPS = 5  # from one canonical URL to the next
_ASKED_IN_CHAIN = 3  # canonical URLs, each of which names the next
_ENDLESS = 1_000  # how often a server counts as wrong that names another URL each time
_COPIES, _WRONG = "copies", "wrong canonical URLs"
_EMPTY = simhash("")


class Canonicals:
    """What pages showed, and which of them gave way to others.

    A page that names another URL, which wasn't asked for, waits without a record: it stays out if
    that URL shows the same, else it is ``owed``. ``waiting`` has, by what they wait for (a URL
    without its scheme), the copies and their texts. ``texts`` has what recorded pages showed, by
    ``key_of`` their URLs, ``named`` which of these named a URL that wasn't shown. What waits is
    ``kept`` for a restart; so is how often a server was wrong. ``compared`` is called with a page,
    the URL that counts, and whether both show the same. Raises LswcError.
    """

    def __init__(self, kept: Learned, compared: Callable[[Url, Url, bool], None]) -> None:
        self._kept, self._compared = kept, compared
        self.texts: OrderedDict[int, int] = OrderedDict()
        self._gave_way: OrderedDict[int, str] = OrderedDict()
        self.named: OrderedDict[int, str] = OrderedDict()
        self._right: set[str] = set()
        self._untried = Counter[str]()
        self._in_chain: OrderedDict[int, int] = OrderedDict()
        self.waiting: dict[str, dict[str, int]] = {}
        self.owed: dict[str, str] = {}
        self._wrong = Counter[str](
            {server: kept.get(server, _WRONG) for server in kept.keys(_WRONG)}
        )
        for main in kept.keys(_COPIES):
            self.waiting[main] = kept.get(main, _COPIES)
            for copy in self.waiting[main]:
                self._gave_way[key_of(copy)] = f"http://{main}"

    def load(self, pages: Iterable[tuple[str, int]]) -> None:
        """Remember what an earlier run recorded: URLs, and their texts' simhashes."""
        self.texts.update((key_of(url), shape) for url, shape in pages)

    def knows(self, url: Url, shape: int) -> bool:
        """Tell whether a URL was recorded, and showed a text of this simhash, or nearly."""
        known = self.texts.get(key_of(url.href))
        return known is not None and not _unlike(known, shape)

    def has_shown(self, url: Url) -> bool:
        """Tell whether the URL to which one gave way was recorded."""
        root = self._root(url, 0)
        return root is not None and key_of(root.href) in self.texts

    def shown(
        self, url: Url, shape: int, main: Url | None, may_come: Callable[[Url], bool]
    ) -> tuple[Outcome, Url] | None:
        """Take notice of what a page shows, whose own URL is ``main``, if that is another.

        Return why it isn't recorded, and the URL that counts; None if it is to be. ``may_come``
        tells of a URL whether it may still be asked for.
        """
        key = key_of(url.href)
        if self.waiting:
            self._arrived(url, shape)
        if (copy := self._copied_by(url, shape, key)) is not None:
            self._named(main, copy)
            return self._gives_way(key, Outcome.COPY, copy)
        found = None if main is None or shape == _EMPTY else self._root(main, key)
        verdict = None if found is None else self._judged(url, shape, found, may_come)
        if verdict is not None and found is not None:
            return self._gives_way(key, verdict, found)
        self._named(found, url)
        return None

    def _named(self, main: Url | None, by: Url) -> None:
        """Take notice that a page names a URL, which shows the same if that page counts for it."""
        if main is not None and (own := key_of(main.href)) not in self.texts:
            self.named[own] = by.href
            forget_half(self.named)

    def _copied_by(self, url: Url, shape: int, key: int) -> Url | None:
        """Return the page that named this URL, and was recorded, if it shows the same."""
        copy = parse(self.named.pop(key, ""))
        known = None if copy is None else self.texts.get(key_of(copy.href))
        if copy is None or known is None:
            return None
        return copy if self._is_same(copy, known, url, shape) else None

    def _gives_way(self, key: int, verdict: Outcome, to: Url) -> tuple[Outcome, Url]:
        self.texts.pop(key, None)
        self._gave_way[key] = to.href
        forget_half(self._gave_way)
        return verdict, to

    def _root(self, main: Url, key: int) -> Url | None:
        """Return the URL that a canonical one gave way to; None if that is the page itself."""
        for _ in range(_STEPS):
            at = key_of(main.href)
            if at == key:
                return None
            further = parse(self._gave_way.get(at, ""))
            if further is None:
                return main
            main = further
        return None

    def _judged(
        self, url: Url, shape: int, main: Url, may_come: Callable[[Url], bool]
    ) -> Outcome | None:
        known = self.texts.get(key_of(main.href))
        if known is not None:
            return Outcome.COPY if self._is_same(url, shape, main, known) else None
        name = _name(main)
        there = self.waiting.get(name, {})
        if any(_unlike(shape, other) for other in there.values()):
            self._was_wrong(url.server)  # at least one of them is
            return None
        has_room = len(self.waiting) < WAITING and len(there) < ALIKE
        server = url.server
        is_tried = server in self._right or self._untried[server] < UNTRIED
        if not (has_room and is_tried) or self._wrong[server] >= WRONG:
            return None
        if not (main.href in self.owed or may_come(main)):
            return None
        if self._has_no_end(url, main):
            return None
        self._untried[server] += server not in self._right
        self.waiting[name] = {**there, url.href: shape}
        self._kept.put(name, _COPIES, self.waiting[name])
        return Outcome.CANONICAL

    def is_endless(self, server: str) -> bool:
        """Tell whether pages of a server each name one URL more."""
        return self._wrong.get(server, 0) >= _ENDLESS

    def _has_no_end(self, url: Url, main: Url) -> bool:
        """Tell whether a URL is the end of a chain as long as may be: some pages have no other end.

        Each names a number more, or the time, or itself with another slash.
        """
        steps = self._in_chain.pop(key_of(url.href), 0) + 1
        if steps > _ASKED_IN_CHAIN:
            self._kept.put(url.server, _WRONG, _ENDLESS)
            self._wrong[url.server] = _ENDLESS
            return True
        self._in_chain[key_of(main.href)] = steps
        forget_half(self._in_chain)
        return False

    def _arrived(self, url: Url, shape: int) -> None:
        """Compare what a URL shows with the pages that waited for it."""
        name = _name(url)
        there = self.waiting.get(name, {})
        copies = [(parse(address), known) for address, known in there.items()]
        same = [c for c, known in copies if c is not None and self._is_same(c, known, url, shape)]
        if len(same) < len(copies):
            self._owe(name, there.keys() - {copy.href for copy in same})
        elif copies:
            del self.waiting[name]
            self._kept.put(name, _COPIES, None)

    def _is_same(self, copy: Url, shape: int, main: Url, known: int) -> bool:
        is_same = not _unlike(known, shape)
        self._compared(copy, main, is_same)
        if not is_same:
            self._was_wrong(copy.server)
            return False
        if len(self._right) < SERVERS:
            self._right.add(copy.server)
        self._untried.pop(copy.server, None)
        if self._wrong[copy.server] < _ENDLESS and self._wrong.pop(copy.server, 0):
            self._kept.put(copy.server, _WRONG, None)
        return True

    def _was_wrong(self, server: str) -> None:
        self._right.discard(server)
        if self._wrong[server] < WRONG and len(self._wrong) < SERVERS:
            self._wrong[server] += 1
            self._kept.put(server, _WRONG, self._wrong[server])

    def ended(self, main: Url) -> None:
        """Take notice that a URL isn't had: what still waits for it is owed."""
        name = _name(main)
        there = self.waiting.get(name)
        if there is None:
            return
        for server in {copy.server for copy in map(parse, there) if copy is not None}:
            self._was_wrong(server)
        self._owe(name, there)

    def release(self) -> None:
        """Let all that waits be owed: nothing else is left to be asked for."""
        for name in list(self.waiting):
            self._owe(name, self.waiting[name])

    def _owe(self, main: str, copies: Iterable[str]) -> None:
        del self.waiting[main]
        for copy in copies:
            self._gave_way.pop(key_of(copy), None)
            self.owed[copy] = main

    def paid(self) -> None:
        """Take notice that what was owed waits to be asked for again."""
        for main in set(self.owed.values()):
            if main not in self.waiting:
                self._kept.put(main, _COPIES, None)
        self.owed.clear()


def key_of(href: str) -> int:
    """Return what a URL is remembered by, as long as this process runs; http and https are one.

    ``Pages`` has the same where a page passes.
    """
    return hash(href.partition("://")[2])


def _name(url: Url) -> str:
    return url.href.partition("://")[2]


def _unlike(one: int, other: int) -> bool:
    return (one ^ other).bit_count() > DISTANCE


def forget_half(kept: OrderedDict[int, _Value]) -> None:
    """Forget the older half of what there is too much of."""
    if len(kept) > REMEMBERED:
        for _ in range(REMEMBERED // 2):
            kept.popitem(last=False)
