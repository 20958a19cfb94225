"""The simulated crawl, compiled: pages in exactly the order of the live frontier.

A tier's queue is a bitmap over sequence numbers, with two coarser bitmaps above it, so
that the oldest URL of a tier, and any promoted or dropped one, is found in constant time
while every URL keeps its number. Numbers are compacted when they run out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from lswc.strategy import DISCARD, MAX_DISTANCE, SEED, Locality, PageLanguage, Status
from lswc.strategy import status as _status
from lswc.trace.format import Fate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.simulator.lookup import Lookup

URL = np.dtype(
    [
        ("unit", "i4"),
        ("fate", "i1"),
        ("language", "i1"),
        ("oracle", "i1"),
        ("tier", "i1"),
        ("seq", "i4"),
        ("code", "i4"),
        ("inherited", "i1"),
    ]
)
"""A URL, in 17 bytes that one look into memory brings: what the trace says of it, then what the
frontier knows; ``tier`` is UNSEEN, FINISHED or that of a pending URL."""

UNIT = np.dtype(
    [
        ("server", "i4"),
        ("site", "i4"),
        ("downloaded", "i4"),
        ("relevant", "i4"),
        ("status", "i1"),
        ("tld", "i1"),
    ]
)
"""What the strategy counts by, a server or directory: where it is, and its counters."""

UNSEEN, FINISHED = -1, -2

COUNTS = (
    "pages",
    "relevant",
    "queue",
    "servers",
    "largest",
    "discarded",
    "dropped",
    "visits",
    "next",
)
PAGES, RELEVANT, QUEUE, SERVERS, LARGEST, DISCARDED, DROPPED, VISITS, NEXT = range(len(COUNTS))

_NEVER, _REDIRECT, _PAGE = int(Fate.NEVER), int(Fate.REDIRECT), int(Fate.PAGE)
_TARGET = int(PageLanguage.TARGET)
_UNDECIDED = int(Status.UNDECIDED)
_SAME_SERVER, _SAME_SITE, _ELSEWHERE = (int(locality) for locality in Locality)

# A product with this de Bruijn number tells the 64 powers of two apart by its upper 6 bits.
_DE_BRUIJN = 0x03F79D71B4CB0A89
_BIT = np.zeros(64, np.int64)
for _i in range(64):
    _BIT[((_DE_BRUIJN << _i) % 2**64) >> 58] = _i

status = njit()(_status)


class Web(NamedTuple):
    """A trace's links and seeds.

    The URLs of unit u are ``members[member_starts[u]:member_starts[u + 1]]``; an empty
    ``members`` stands for 0, 1, 2, ...
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    anchors: NDArray[np.int8]
    seeds: NDArray[np.int32]
    member_starts: NDArray[np.int64]
    members: NDArray[np.int32]


class Frontier(NamedTuple):
    """URLs by id, queues by tier, counters by unit. ``at`` is the URL of a sequence number.

    ``fine``, ``middle`` and ``coarse``, of shape (tiers, words): bit i of a fine word is a
    sequence number, bit i of the others says that word i below isn't zero. ``waiting`` counts
    a tier's URLs that can be downloaded; never downloaded ones are pending, but in no bitmap.
    """

    url: NDArray[Any]
    at: NDArray[np.int32]
    fine: NDArray[np.int64]
    middle: NDArray[np.int64]
    coarse: NDArray[np.int64]
    waiting: NDArray[np.int64]
    unit: NDArray[Any]
    tally: NDArray[np.int64]


class Record(NamedTuple):
    """What is written down. ``series`` of shape (rows, 5): the first five of COUNTS.

    ``by_distance`` of shape (2, MAX_DISTANCE + 1): pages by relevance and distance from the
    latest relevant referrer. ``visits``: the URLs taken from the queue, in order; may have no room.
    ``control``: pages so far, for a progress bar; stop if the second isn't 0.
    """

    series: NDArray[np.int64]
    every: int
    by_distance: NDArray[np.int64]
    visits: NDArray[np.int32]
    server_seen: NDArray[np.bool_]
    control: NDArray[np.int64]


@njit(nogil=True)
def _lowest(word: Any) -> Any:
    return _BIT[(((word & -word) * _DE_BRUIJN) >> 58) & 63]


@njit(nogil=True)
def _insert(f: Frontier, tier: int, seq: int) -> None:
    f.fine[tier, seq >> 6] |= np.int64(1) << (seq & 63)
    f.middle[tier, seq >> 12] |= np.int64(1) << ((seq >> 6) & 63)
    f.coarse[tier, seq >> 18] |= np.int64(1) << ((seq >> 12) & 63)
    f.waiting[tier] += 1


@njit(nogil=True)
def _remove(f: Frontier, tier: int, seq: int) -> None:
    f.waiting[tier] -= 1
    f.fine[tier, seq >> 6] &= ~(np.int64(1) << (seq & 63))
    if f.fine[tier, seq >> 6] == 0:
        f.middle[tier, seq >> 12] &= ~(np.int64(1) << ((seq >> 6) & 63))
        if f.middle[tier, seq >> 12] == 0:
            f.coarse[tier, seq >> 18] &= ~(np.int64(1) << ((seq >> 12) & 63))


@njit(nogil=True)
def _oldest(f: Frontier, tier: int) -> Any:
    word = 0
    while f.coarse[tier, word] == 0:
        word += 1
    word = (word << 6) + _lowest(f.coarse[tier, word])
    word = (word << 6) + _lowest(f.middle[tier, word])
    return (word << 6) + _lowest(f.fine[tier, word])


@njit(nogil=True)
def _best_tier(f: Frontier) -> int:
    for tier in range(len(f.waiting)):
        if f.waiting[tier] > 0:
            return tier
    return -1


@njit(nogil=True)
def _new_seq(f: Frontier, url: int) -> Any:
    if f.tally[NEXT] == len(f.at):
        _compact(f)
    seq = f.tally[NEXT]
    f.tally[NEXT] += 1
    f.at[seq] = url
    return seq


@njit(nogil=True)
def _compact(f: Frontier) -> None:
    """Number the waiting URLs anew, in the same order."""
    f.fine[:] = 0
    f.middle[:] = 0
    f.coarse[:] = 0
    f.waiting[:] = 0
    end = 0
    for seq in range(len(f.at)):
        url = f.at[seq]
        if f.url[url].tier >= 0 and f.url[url].seq == seq:
            f.url[url].seq = end
            f.at[end] = url
            _insert(f, f.url[url].tier, end)
            end += 1
    f.tally[NEXT] = end


@njit(nogil=True)
def _offer(f: Frontier, ask: Lookup, url: int, code: int, inherited: int) -> None:
    tier = ask.tier[code, f.unit[f.url[url].unit].status]
    if tier == DISCARD:
        f.tally[DISCARDED] += 1
        return
    known = f.url[url].tier
    waits = f.url[url].fate != _NEVER
    if known == UNSEEN:
        f.tally[QUEUE] += 1
        f.url[url].seq = _new_seq(f, url) if waits else -1
        if waits:
            _insert(f, tier, f.url[url].seq)
    elif known == FINISHED or not (
        tier < known or (tier == known and ask.distance[code] < ask.distance[f.url[url].code])
    ):
        return
    elif waits and tier != known:
        _remove(f, known, f.url[url].seq)
        _insert(f, tier, f.url[url].seq)
    f.url[url].tier = tier
    f.url[url].code = code
    f.url[url].inherited = inherited


@njit(nogil=True)
def _count_page(web: Web, f: Frontier, ask: Lookup, unit: int, relevant: bool) -> None:
    f.unit[unit].downloaded += 1
    f.unit[unit].relevant += relevant
    before = f.unit[unit].status
    f.unit[unit].status = status(f.unit[unit].downloaded, f.unit[unit].relevant, ask.tolerated)
    if ask.changes[before, f.unit[unit].status]:
        _ask_again(web, f, ask, unit)


@njit(nogil=True)
def _ask_again(web: Web, f: Frontier, ask: Lookup, unit: int) -> None:
    for i in range(web.member_starts[unit], web.member_starts[unit + 1]):
        url = web.members[i] if len(web.members) else i
        before = f.url[url].tier
        if before < 0:
            continue
        tier = ask.tier[f.url[url].code, f.unit[unit].status]
        if tier == before:
            continue
        if f.url[url].fate != _NEVER:
            _remove(f, before, f.url[url].seq)
            if tier != DISCARD:
                _insert(f, tier, f.url[url].seq)
        f.url[url].tier = UNSEEN if tier == DISCARD else tier
        if tier == DISCARD:
            f.tally[QUEUE] -= 1
            f.tally[DROPPED] += 1


@njit(nogil=True)
def _follow(web: Web, f: Frontier, ask: Lookup, page: int, effective: int) -> None:
    """Offer a page's links, with the facts as they are after counting it."""
    w = ask.weights
    own = f.url[page].code
    unit = f.url[page].unit
    server, site = f.unit[unit].server, f.unit[unit].site
    language = f.url[page].language
    d = ask.next_distance[np.int64(effective == _TARGET), ask.distance[own]]
    of_page = (
        w.referrer * effective
        + w.distance * (d - 1)
        + w.referrer_server * (f.unit[unit].status - _UNDECIDED)
        + w.in_site * ask.in_site[own]
    )
    begin, end = web.offsets[page], web.offsets[page + 1]
    # Fetch all targets before deciding on the first: their places in memory have nothing in
    # common, and so the processor waits for many of them at a time.
    touched = 0
    for link in range(begin, end):
        touched += f.unit[f.url[web.targets[link]].unit].server
    if touched < 0:
        return
    for link in range(begin, end):
        url = web.targets[link]
        there = f.url[url].unit
        if f.unit[there].server == server:
            locality = _SAME_SERVER
        else:
            locality = _SAME_SITE if f.unit[there].site == site else _ELSEWHERE
        code = (
            of_page
            + w.locality * locality
            + w.tld * f.unit[there].tld
            + w.anchor * web.anchors[link]
            + w.oracle * f.url[url].oracle
        )
        _offer(f, ask, url, code, language)


@njit(nogil=True)
def _note(f: Frontier, ask: Lookup, record: Record, page: int) -> None:
    relevant = np.int64(f.url[page].language == _TARGET)
    server = f.unit[f.url[page].unit].server
    f.tally[PAGES] += 1
    f.tally[RELEVANT] += relevant
    if not record.server_seen[server]:
        record.server_seen[server] = True
        f.tally[SERVERS] += 1
    record.by_distance[relevant, ask.distance[f.url[page].code]] += 1


@njit(nogil=True)
def crawl(web: Web, f: Frontier, ask: Lookup, record: Record) -> int:
    """Crawl until only URLs never downloaded remain; return the number of rows of the series."""
    rows = 0
    for url in web.seeds:
        _offer(f, ask, url, SEED, _TARGET)
    while record.control[1] == 0:
        tier = _best_tier(f)
        if tier < 0:
            break
        seq = _oldest(f, tier)
        url = f.at[seq]
        _remove(f, tier, seq)
        f.url[url].tier = FINISHED
        f.tally[QUEUE] -= 1
        if f.tally[VISITS] < len(record.visits):
            record.visits[f.tally[VISITS]] = url
        f.tally[VISITS] += 1
        inherited = f.url[url].inherited
        if f.url[url].fate == _REDIRECT:
            for link in range(web.offsets[url], web.offsets[url + 1]):
                _offer(f, ask, web.targets[link], f.url[url].code, inherited)
        elif f.url[url].fate == _PAGE:
            effective = ask.effective[f.url[url].language, inherited]
            _note(f, ask, record, url)
            _count_page(web, f, ask, f.url[url].unit, effective == _TARGET)
            _follow(web, f, ask, url, effective)
            f.tally[LARGEST] = max(f.tally[LARGEST], f.tally[QUEUE])
            if f.tally[PAGES] % record.every == 0:
                record.series[rows] = f.tally[:5]
                record.control[0] = f.tally[PAGES]
                rows += 1
    if rows == 0 or record.series[rows - 1, PAGES] != f.tally[PAGES]:
        record.series[rows] = f.tally[:5]
        rows += 1
    return rows


def frontier(url: NDArray[Any], unit: NDArray[Any], tiers: int, slots: int) -> Frontier:
    """Return a frontier with room for ``slots`` sequence numbers, of which nothing is used yet."""
    url["tier"] = UNSEEN
    unit["status"] = Status.UNVISITED
    words = [max(1, -(-slots // 64**level)) for level in (1, 2, 3)]
    fine, middle, coarse = (np.zeros((tiers, w), np.int64) for w in words)
    return Frontier(
        url,
        np.empty(slots, np.int32),
        fine,
        middle,
        coarse,
        np.zeros(tiers, np.int64),
        unit,
        np.zeros(len(COUNTS), np.int64),
    )


def blank_record(pages: int, servers: int, every: int, visits: int) -> Record:
    """Return an empty record of a crawl of at most ``pages`` pages."""
    return Record(
        np.zeros((pages // every + 2, 5), np.int64),
        every,
        np.zeros((2, MAX_DISTANCE + 1), np.int64),
        np.empty(visits, np.int32),
        np.zeros(servers, np.bool_),
        np.zeros(2, np.int64),
    )
