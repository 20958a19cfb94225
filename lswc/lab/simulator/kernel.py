"""Kernel of the simulator, compiled: pages in exactly the order of the live frontier.

A cell's queue is a list of URLs in the order of their first offer. A URL that comes into a cell
later than a younger one (its server's place changed, or a better link led to it) goes
into the cell's pairing heap, so the oldest URL of a cell is the first of the list or the
top of the heap. A tournament tree over the cells gives the best one that isn't empty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numba import njit

from lswc.lab.compiled import kept
from lswc.lab.trace.format import Fate
from lswc.strategy import (
    DISCARD,
    MAX_DISTANCE,
    SEED,
    Locality,
    PageLanguage,
    Status,
    Value,
    adaptive,
    families,
)
from lswc.strategy import better as _better
from lswc.strategy import redirected as _redirected
from lswc.strategy import share_of_text as _share_of_text
from lswc.strategy import status as _status
from lswc.strategy import yield_rate as _yield_rate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from lswc.lab.simulator.strategy_arrays import Decisions

URL = np.dtype(
    [
        ("unit", "i4"),
        ("code", "i4"),
        ("seq", "i4"),
        ("cell", "i2"),
        ("answer", "i1"),
        ("inherited", "i1"),
    ]
)
"""A URL, in 16 bytes that one look into memory brings: what the trace says of it, then what the
frontier knows. ``answer`` is its Fate, a page's plus its language; ``seq`` the number of its first
offer; ``cell`` is UNSEEN, FINISHED or that of a pending URL."""

NODE = np.dtype([("url", "i4"), ("next", "i4"), ("previous", "i4"), ("child", "i4")])
"""A place in a cell's queue, by sequence number, so that what is found together lies together.
``next`` and ``previous`` are its neighbours in the list, whose members have the ``child`` LISTED;
in the heap, its right sibling, its left one or parent, and its first child."""

UNIT = np.dtype(
    [
        ("server", "i4"),
        ("site", "i4"),
        ("downloaded", "i4"),
        ("relevant", "f8"),
        ("place", "i1"),
        ("tld", "i1"),
    ]
)
"""What the strategy counts by, a server or directory: where it is, its counters, its place."""

SITE = np.dtype([("downloaded", "i4"), ("relevant", "f8"), ("place", "i4")])
"""Counters of a site, and the place of its servers that have no downloaded page. When that changes,
all its servers' places do."""

LINKED = np.dtype([("level", "i4"), ("number", "i4")])
"""What links make of a site: its level (``lswc.strategy.families``), its number of supporters."""

CELL = np.dtype(
    [
        ("first", "i4"),
        ("last", "i4"),
        ("top", "i4"),
        ("known", "i4"),
        ("downloaded", "i8"),
        ("relevant", "f8"),
        ("share", "f8"),
        ("score", "f8"),
    ]
)
"""A cell: the ends of its list, the top of its heap; then what a learned order knows of it: whether
it has a score yet, its pages and relevant pages, the share that it should bring, and its score,
which it is ranked by. A fixed order has scores of 0."""

UNSEEN, FINISHED = -1, -2
_NONE, _LISTED = -1, -2

COUNTS = (
    "pages", "relevant", "queue", "servers", "largest", "discarded_links", "discarded_urls",
    "visits", "offered", "known", "scored_pages",
)  # fmt: skip
"""What is counted: ``offered`` first offers, ``known`` cells that have a score, ``scored_pages``
those when all cells were last scored. The others are described in ``Result``."""

(
    PAGES, RELEVANT, QUEUE, SERVERS, LARGEST, DISCARDED_LINKS, DISCARDED_URLS, VISITS, OFFERED,
    KNOWN, SCORED_PAGES,
) = range(len(COUNTS))  # fmt: skip
_BROUGHT, _SCORED = 0, 1

BINS = 64
"""Expected relevance is noted in so many bins, of a quarter in logits, from -8 to 8."""

_NEVER, _REDIRECT, _PAGE = int(Fate.NEVER), int(Fate.REDIRECT), int(Fate.PAGE)
_TARGET = int(PageLanguage.TARGET)
_UNDECIDED = int(Status.UNDECIDED)
_SAME_SERVER, _SAME_SITE, _ELSEWHERE = (int(locality) for locality in Locality)
_STATUSES = len(Status)
_UNPROVEN, _KNOWN, _OF_SEED = families.UNPROVEN, families.KNOWN, families.SEED
_SUPPORT = families.SUPPORT
_SEEDS = adaptive.SEEDS
_PLACES = adaptive.PLACES
_PAGES, _TEXT = int(Value.PAGES), int(Value.TEXT)

# No division here can be by zero.
compiled = njit(nogil=True, error_model="numpy")
_int: Any = np.int64  # one type of number throughout: each further one is compiled anew

# Any: what these take and give is a matter of arrays here, and of plain numbers elsewhere.
status: Any = compiled(_status)
better: Any = compiled(_better)
redirected: Any = compiled(_redirected)
place_of_server: Any = compiled(adaptive.place)
learn_effects: Any = compiled(adaptive.learn_effects)
share_of: Any = compiled(adaptive.share_of)
expected_of: Any = compiled(adaptive.expected_of)
worth_of: Any = compiled(adaptive.worth_of)
is_due: Any = compiled(adaptive.is_due)
share_of_text: Any = compiled(_share_of_text)
yield_rate: Any = compiled(_yield_rate)
level_with: Any = compiled(families.level_with)
support_of: Any = compiled(families.support_of)


class WebGraph(NamedTuple):
    """A trace's links and seeds, and what belongs together.

    ``folders`` and ``oracle``, by URL, may be empty: for a strategy that doesn't look at them. The
    URLs of unit u are ``members[member_starts[u]:member_starts[u + 1]]``; an empty ``members``
    stands for 0, 1, 2, ... So are the units of a site, by ``site_starts`` and ``site_units``. The
    last five are those of ``Texts``, empty unless text counts.
    """

    offsets: NDArray[np.int64]
    targets: NDArray[np.int32]
    anchors: NDArray[np.int8]
    named: NDArray[np.int8]
    folders: NDArray[np.int32]
    oracle: NDArray[np.bool_]
    seeds: NDArray[np.int32]
    member_starts: NDArray[np.int64]
    members: NDArray[np.int32]
    site_starts: NDArray[np.int64]
    site_units: NDArray[np.int32]
    sizes: NDArray[np.int32]
    texts: NDArray[np.int32]
    text_offsets: NDArray[np.int64]
    paragraphs: NDArray[np.int32]
    letters: NDArray[np.int32]


class CellQueues(NamedTuple):
    """URLs by id, counters by unit and site, cells by number.

    ``linked`` by site, and ``supporters`` of shape (sites, SUPPORT), have no rows unless the
    strategy looks at support. ``node`` has the queues themselves; URLs that the trace never
    downloaded are pending, but in no queue. ``best`` of shape (2 * leaves,): the better of each
    two cells that aren't empty, with all cells' best at 1.
    ``counts`` is described in COUNTS. ``known`` lists the cells that have a score; ``meanings``, of
    shape (PLACES + PLACES * VALUES,), are those of places and features (``learn_effects``).
    ``sums`` are what all pages brought, now and when all cells were last scored. ``heard`` says
    which paragraphs a page had already.
    """

    url: NDArray[Any]
    node: NDArray[Any]
    unit: NDArray[Any]
    site: NDArray[Any]
    linked: NDArray[Any]
    supporters: NDArray[np.int32]
    cell: NDArray[Any]
    best: NDArray[np.int32]
    counts: NDArray[np.int64]
    known: NDArray[np.int32]
    meanings: NDArray[np.float64]
    sums: NDArray[np.float64]
    heard: NDArray[np.bool_]


class Notes(NamedTuple):
    """What is written down. ``series`` of shape (rows, 5): the first five of COUNTS.

    ``by_distance`` of shape (2, MAX_DISTANCE + 1): pages by relevance and distance from the
    latest relevant referrer. ``reliability`` of shape (BINS, 4): visits, the sums of their expected
    relevance, of their relevance, and of the squares of the difference, by expected relevance.
    ``visits``: the URLs taken from the queue, in order; may have no room.
    ``control``: pages so far, for a progress bar; stop if the second isn't 0.
    """

    series: NDArray[np.int64]
    every: int
    by_distance: NDArray[np.int64]
    reliability: NDArray[np.float64]
    visits: NDArray[np.int32]
    server_seen: NDArray[np.bool_]
    control: NDArray[np.int64]


@compiled
def _meld(queues: CellQueues, one: int, other: int) -> int:
    """Join two heaps, by their tops; return the top of both."""
    if one == _NONE:
        return other
    if other == _NONE:
        return one
    if other < one:
        one, other = other, one
    first = queues.node[one].child
    queues.node[other].next = first
    queues.node[other].previous = one
    if first != _NONE:
        queues.node[first].previous = other
    queues.node[one].child = other
    queues.node[one].next = _NONE
    queues.node[one].previous = _NONE
    return one


@compiled
def _meld_all(queues: CellQueues, first: int) -> int:
    """Join a heap's children, once the heap's top is gone: in pairs, then all pairs."""
    pairs = _NONE
    while first != _NONE:
        second = queues.node[first].next
        rest = _NONE if second == _NONE else queues.node[second].next
        pair = _meld(queues, first, second)
        queues.node[pair].next = pairs
        pairs = pair
        first = rest
    top = _NONE
    while pairs != _NONE:
        rest = queues.node[pairs].next
        top = _meld(queues, top, pairs)
        pairs = rest
    if top != _NONE:
        queues.node[top].next = _NONE
        queues.node[top].previous = _NONE
    return top


@compiled
def _cut(queues: CellQueues, cell: int, seq: int) -> None:
    """Take a URL out of its cell's heap."""
    children = _meld_all(queues, queues.node[seq].child)
    if seq == queues.cell[cell].top:
        queues.cell[cell].top = children
        return
    left, right = queues.node[seq].previous, queues.node[seq].next
    if queues.node[left].child == seq:
        queues.node[left].child = right
    else:
        queues.node[left].next = right
    if right != _NONE:
        queues.node[right].previous = left
    queues.cell[cell].top = _meld(queues, queues.cell[cell].top, children)


@compiled
def _unlink(queues: CellQueues, cell: int, seq: int) -> None:
    """Take a URL out of its cell's list."""
    left, right = queues.node[seq].previous, queues.node[seq].next
    if left == _NONE:
        queues.cell[cell].first = right
    else:
        queues.node[left].next = right
    if right == _NONE:
        queues.cell[cell].last = left
    else:
        queues.node[right].previous = left


@compiled
def _is_empty(queues: CellQueues, cell: int) -> Any:
    return queues.cell[cell].first == _NONE and queues.cell[cell].top == _NONE


@compiled
def _remove(queues: CellQueues, cell: int, seq: int) -> None:
    if queues.node[seq].child == _LISTED:
        _unlink(queues, cell, seq)
    else:
        _cut(queues, cell, seq)
    if _is_empty(queues, cell):
        _enter(queues, cell, _int(-1))


@compiled
def _insert(queues: CellQueues, cell: int, seq: int) -> None:
    was_empty = _is_empty(queues, cell)
    last = queues.cell[cell].last
    queues.node[seq].next = _NONE
    if last < seq:
        queues.node[seq].child = _LISTED
        queues.node[seq].previous = last
        queues.cell[cell].last = seq
        if last == _NONE:
            queues.cell[cell].first = seq
        else:
            queues.node[last].next = seq
    else:
        queues.node[seq].child = _NONE
        queues.node[seq].previous = _NONE
        queues.cell[cell].top = _meld(queues, queues.cell[cell].top, seq)
    if was_empty:
        _enter(queues, cell, cell)


@compiled
def _oldest(queues: CellQueues, cell: int) -> Any:
    first, top = queues.cell[cell].first, queues.cell[cell].top
    if first == _NONE:
        return top
    return first if top == _NONE else min(first, top)


@compiled
def _winner(queues: CellQueues, node: int) -> Any:
    """Return the better of the two cells below a node; the left one is the smaller cell."""
    left, right = queues.best[2 * node], queues.best[2 * node + 1]
    if left < 0 or right < 0:
        return max(left, right)
    return right if queues.cell[right].score > queues.cell[left].score else left


@compiled
def _enter(queues: CellQueues, cell: int, winner: int) -> None:
    """Tell the tree that a cell isn't empty (``winner`` is the cell) or is so (-1)."""
    node = len(queues.best) // 2 + cell
    queues.best[node] = winner
    while node > 1:
        node //= 2
        queues.best[node] = _winner(queues, node)


@compiled
def _new_seq(queues: CellQueues, url: int) -> Any:
    if queues.counts[OFFERED] == len(queues.node):
        _compact(queues)
    seq = queues.counts[OFFERED]
    queues.counts[OFFERED] += 1
    queues.node[seq].url = url
    return seq


@compiled
def _compact(queues: CellQueues) -> None:
    """Number the waiting URLs anew, in the same order."""
    for cell in range(len(queues.cell)):
        queues.cell[cell].first = queues.cell[cell].last = queues.cell[cell].top = _NONE
    queues.best[:] = -1
    end = 0
    for seq in range(len(queues.node)):
        url = queues.node[seq].url
        if queues.url[url].cell >= 0 and queues.url[url].seq == seq:
            queues.url[url].seq = end
            queues.node[end].url = url
            _insert(queues, _int(queues.url[url].cell), end)
            end += 1
    queues.counts[OFFERED] = end


@compiled
def _level_of(levels: NDArray[np.int32], url: int) -> Any:
    """Return the level of a URL; 0 if nobody asks for it."""
    return _int(levels[url] if len(levels) else 0)


@compiled
def _offer(
    queues: CellQueues,
    decisions: Decisions,
    levels: NDArray[np.int32],
    url: int,
    code: int,
    inherited: int,
    level: int,
) -> None:
    place = queues.unit[queues.url[url].unit].place
    cell = _int(decisions.cell[decisions.code[code].kind, place])
    if cell == DISCARD:
        queues.counts[DISCARDED_LINKS] += 1
        return
    known = _int(queues.url[url].cell)
    if known == FINISHED:
        return
    if len(levels):
        levels[url] = level if known == UNSEEN else min(levels[url], level)
    waits = queues.url[url].answer != _NEVER
    if decisions.learns:
        _know(queues, cell)
    if known == UNSEEN:
        queues.counts[QUEUE] += 1
        if waits:
            queues.url[url].seq = _new_seq(queues, url)
            _insert(queues, cell, _int(queues.url[url].seq))
    elif not better(
        (-queues.cell[cell].score, cell),
        decisions.code[code].distance,
        (-queues.cell[known].score, known),
        decisions.code[queues.url[url].code].distance,
    ):
        return
    elif waits and cell != known:
        _remove(queues, known, _int(queues.url[url].seq))
        _insert(queues, cell, _int(queues.url[url].seq))
    queues.url[url].cell = cell
    queues.url[url].code = code
    queues.url[url].inherited = inherited


@compiled
def _score(queues: CellQueues, cell: int) -> None:
    if cell == _SEEDS:
        queues.cell[cell].score = -adaptive.FIRST
        return
    share = share_of(
        cell,
        queues.cell[cell].downloaded,
        queues.cell[cell].relevant,
        queues.meanings[:_PLACES],
        queues.meanings[_PLACES:],
    )
    queues.cell[cell].share = share
    queues.cell[cell].score = worth_of(
        cell, share, queues.counts[SCORED_PAGES], queues.sums[_SCORED]
    )


@compiled
def _know(queues: CellQueues, cell: int) -> None:
    """Give a cell its first score."""
    if not queues.cell[cell].known:
        queues.cell[cell].known = 1
        queues.known[queues.counts[KNOWN]] = cell
        queues.counts[KNOWN] += 1
        _score(queues, cell)


@compiled
def _teach(queues: CellQueues, cell: int, relevant: float) -> None:
    if cell == _SEEDS:
        return
    queues.cell[cell].downloaded += 1
    queues.cell[cell].relevant += relevant
    _score(queues, cell)
    if not _is_empty(queues, cell):
        _enter(queues, cell, cell)


@compiled
def _learn(queues: CellQueues, cell: int, relevant: float) -> None:
    """Learn from a page that was leased from a cell."""
    queues.sums[_BROUGHT] += relevant
    _teach(queues, cell, relevant)
    if is_due(queues.counts[PAGES], queues.counts[SCORED_PAGES]):
        _score_all(queues)


@compiled
def _begin(queues: CellQueues, cells: NDArray[np.int64]) -> None:
    """Give the cells that a crawl knows something of, before its first page, their scores."""
    for i in range(len(cells)):
        queues.cell[cells[i]].known = 1
        queues.known[i] = cells[i]
    queues.counts[KNOWN] = len(cells)
    _score_all(queues)


@compiled
def _score_all(queues: CellQueues) -> None:
    queues.counts[SCORED_PAGES] = queues.counts[PAGES]
    queues.sums[_SCORED] = queues.sums[_BROUGHT]
    known = queues.known[: queues.counts[KNOWN]]
    learn_effects(
        known,
        queues.cell["downloaded"],
        queues.cell["relevant"],
        queues.counts[SCORED_PAGES],
        queues.sums[_SCORED],
        queues.meanings[:_PLACES],
        queues.meanings[_PLACES:],
    )
    for cell in known:
        _score(queues, _int(cell))
    for node in range(len(queues.best) // 2 - 1, 0, -1):
        queues.best[node] = _winner(queues, node)


@compiled
def _count_page(
    graph: WebGraph, queues: CellQueues, decisions: Decisions, page: int, relevant: float
) -> None:
    """Count a page for its server and site, and move the URLs whose place it changes.

    So is a look that brought none, in a learned order.
    """
    number = _int(queues.url[page].unit)
    unit = queues.unit[number]
    queues.unit[number].downloaded += 1
    queues.unit[number].relevant += relevant
    if not decisions.learns:
        place = np.int64(status(unit.downloaded, unit.relevant, decisions.tolerated))
        # What is more than a status is the site's support.
        _move(graph, queues, decisions, number, unit.place - unit.place % _STATUSES + place)
        return
    queues.site[unit.site].downloaded += 1
    queues.site[unit.site].relevant += relevant
    site = queues.site[unit.site]
    place = place_of_server(unit.downloaded, unit.relevant, site.downloaded, site.relevant)
    _move(graph, queues, decisions, number, place)
    place = place_of_server(_int(0), 0.0, site.downloaded, site.relevant)
    if place == site.place:
        return
    queues.site[unit.site].place = place
    for i in range(graph.site_starts[unit.site], graph.site_starts[unit.site + 1]):
        neighbour = _int(graph.site_units[i] if len(graph.site_units) else i)
        if neighbour != number:
            other = queues.unit[neighbour]
            place = place_of_server(
                other.downloaded, other.relevant, site.downloaded, site.relevant
            )
            _move(graph, queues, decisions, neighbour, place)


@compiled
def _move(graph: WebGraph, queues: CellQueues, decisions: Decisions, unit: Any, place: Any) -> None:
    """Put a unit in a place: its pending URLs get other cells, or are discarded."""
    before = queues.unit[unit].place
    queues.unit[unit].place = place
    if not decisions.changes[before, place]:
        return
    for i in range(graph.member_starts[unit], graph.member_starts[unit + 1]):
        url = graph.members[i] if len(graph.members) else i
        old = _int(queues.url[url].cell)
        if old < 0:
            continue
        cell = _int(decisions.cell[decisions.code[queues.url[url].code].kind, place])
        if cell == old:
            continue
        if queues.url[url].answer != _NEVER:
            _remove(queues, old, _int(queues.url[url].seq))
            if cell != DISCARD:
                if decisions.learns:
                    _know(queues, cell)
                _insert(queues, cell, _int(queues.url[url].seq))
        queues.url[url].cell = UNSEEN if cell == DISCARD else cell
        if cell == DISCARD:
            queues.counts[QUEUE] -= 1
            queues.counts[DISCARDED_URLS] += 1


@compiled
def _level(queues: CellQueues, site: int, by: Any) -> Any:
    """Count a link of a page of the site ``by``, -1 of nobody's; return the level of the site."""
    level, number = _int(queues.linked[site].level), _int(queues.linked[site].number)
    if by < 0:
        return _int(_OF_SEED)
    if queues.linked[by].level == _UNPROVEN:
        return max(level, _UNPROVEN)
    for i in range(number):
        if queues.supporters[site, i] == by:
            return level
    queues.supporters[site, number] = by
    queues.linked[site].number = number + 1
    return level_with(max(level, _UNPROVEN), number + 1, _int(queues.linked[by].level))


@compiled
def _vouch(graph: WebGraph, queues: CellQueues, decisions: Decisions, by: Any, url: Any) -> None:
    """Count a link of a page of the site ``by``, -1 of nobody's, for the site of a URL."""
    site = _int(queues.unit[queues.url[url].unit].site)
    if site == by or queues.linked[site].level >= _KNOWN:
        return
    before = support_of(_int(queues.linked[site].level), _int(queues.linked[site].number))
    queues.linked[site].level = _level(queues, site, by)
    support = support_of(_int(queues.linked[site].level), _int(queues.linked[site].number))
    if support == before:
        return
    for i in range(graph.site_starts[site], graph.site_starts[site + 1]):
        unit = _int(graph.site_units[i] if len(graph.site_units) else i)
        place = queues.unit[unit].place % _STATUSES + _STATUSES * support
        _move(graph, queues, decisions, unit, _int(place))


@compiled
def _vouch_all(graph: WebGraph, queues: CellQueues, decisions: Decisions, page: int) -> None:
    """Count the links of a page, or a redirect, for the sites that they lead to."""
    by = _int(queues.unit[queues.url[page].unit].site)
    for link in range(graph.offsets[page], graph.offsets[page + 1]):
        _vouch(graph, queues, decisions, by, _int(graph.targets[link]))


@compiled
def _locality(queues: CellQueues, here: Any, there: Any) -> Any:
    """Return how far apart two units are."""
    if queues.unit[here].server == queues.unit[there].server:
        return _int(_SAME_SERVER)
    same_site = queues.unit[here].site == queues.unit[there].site
    return _int(_SAME_SITE if same_site else _ELSEWHERE)


@compiled
def _follow(
    graph: WebGraph,
    queues: CellQueues,
    decisions: Decisions,
    levels: NDArray[np.int32],
    page: int,
    effective: int,
) -> None:
    """Offer a page's links, with the facts as they are after counting it."""
    level = _level_of(levels, page) + 1
    if level > decisions.levels > 0:
        return
    weights = decisions.weights
    own = queues.url[page].code
    here = queues.url[page].unit
    unit = queues.unit[here]
    language = queues.url[page].answer - _PAGE
    distance = decisions.next_distance[np.int64(effective == _TARGET), decisions.code[own].distance]
    referrer_server = status(unit.downloaded, unit.relevant, decisions.tolerated)
    of_page = (
        weights.referrer * effective
        + weights.distance * (distance - 1)
        + weights.referrer_server * (np.int64(referrer_server) - _UNDECIDED)
        + weights.in_site * decisions.code[own].in_site
        + weights.from_seed * (own == SEED)
    )
    begin, end = graph.offsets[page], graph.offsets[page + 1]
    urls, units, codes, cells = queues.url, queues.unit, decisions.code, decisions.cell
    # Fetch all targets before deciding on the first: their places in memory have nothing in
    # common, and so the processor waits for many of them at a time.
    touched = 0
    for link in range(begin, end):
        touched += units[urls[graph.targets[link]].unit].server
    if touched < 0:
        return
    if decisions.weighs_support:
        _vouch_all(graph, queues, decisions, page)
    for link in range(begin, end):
        url = graph.targets[link]
        there = urls[url].unit
        locality = _locality(queues, here, there)
        same_folder = len(graph.folders) > 0 and graph.folders[url] == graph.folders[page]
        code = (
            of_page
            + weights.locality * locality
            + weights.tld * units[there].tld
            + weights.anchor * graph.anchors[link]
            + weights.named * graph.named[link]
            + weights.same_folder * same_folder
        )
        if len(graph.oracle):
            code += weights.oracle * graph.oracle[url]
        cell = cells[codes[code].kind, units[there].place]
        known = urls[url].cell
        # Most links lead to a page that was fetched, or are no better: a call would cost more.
        if cell != DISCARD and (
            known == FINISHED
            or (known == cell and codes[code].distance >= codes[urls[url].code].distance)
        ):
            if len(levels):
                levels[url] = min(levels[url], level)
            continue
        _offer(queues, decisions, levels, _int(url), _int(code), _int(language), level)


@compiled
def _note(queues: CellQueues, decisions: Decisions, notes: Notes, page: int) -> None:
    relevant = np.int64(queues.url[page].answer == _PAGE + _TARGET)
    server = queues.unit[queues.url[page].unit].server
    queues.counts[PAGES] += 1
    queues.counts[RELEVANT] += relevant
    if not notes.server_seen[server]:
        notes.server_seen[server] = True
        queues.counts[SERVERS] += 1
    notes.by_distance[relevant, decisions.code[queues.url[page].code].distance] += 1


@compiled
def _note_expected(queues: CellQueues, notes: Notes, cell: int, relevant: float) -> None:
    """Note what was expected of a page beside what it is."""
    expected = expected_of(queues.cell[cell].share)
    place = int(4 * (np.log(expected / (1 - expected)) + 8))
    of_bin = notes.reliability[max(0, min(place, BINS - 1))]
    of_bin[0] += 1
    of_bin[1] += expected
    of_bin[2] += relevant
    of_bin[3] += (expected - relevant) ** 2


@compiled
def _miss(queues: CellQueues, notes: Notes, cell: int) -> None:
    """Learn from a URL of a cell that was asked for in vain: it is no page of the crawl."""
    if cell != _SEEDS:
        _note_expected(queues, notes, cell, 0.0)
    _teach(queues, cell, 0.0)


@compiled
def _take(queues: CellQueues, notes: Notes, cell: Any) -> Any:
    """Take the oldest URL of a cell."""
    seq = _int(_oldest(queues, cell))
    _remove(queues, cell, seq)
    url = queues.node[seq].url
    queues.url[url].cell = FINISHED
    queues.counts[QUEUE] -= 1
    if queues.counts[VISITS] < len(notes.visits):
        notes.visits[queues.counts[VISITS]] = url
    queues.counts[VISITS] += 1
    return url


@compiled
def _brought(graph: WebGraph, queues: CellQueues, decisions: Decisions, page: int) -> Any:
    """Return what a page counts by its text."""
    if decisions.value != _TEXT:
        return yield_rate(_int(graph.texts[page]), _int(graph.sizes[page]))
    new = _int(0)
    for i in range(graph.text_offsets[page], graph.text_offsets[page + 1]):
        if not queues.heard[graph.paragraphs[i]]:
            queues.heard[graph.paragraphs[i]] = True
            new += graph.letters[i]
    return share_of_text(new)


@compiled
def _visit(
    graph: WebGraph,
    queues: CellQueues,
    decisions: Decisions,
    levels: NDArray[np.int32],
    notes: Notes,
    page: int,
    cell: Any,
) -> None:
    """Count a page, learn from it, follow its links."""
    effective = decisions.effective[queues.url[page].answer - _PAGE, queues.url[page].inherited]
    relevant = np.float64(effective == _TARGET)
    if decisions.value != _PAGES:
        relevant = _brought(graph, queues, decisions, page)
    _note(queues, decisions, notes, page)
    if decisions.learns:
        if cell != _SEEDS:
            _note_expected(queues, notes, cell, relevant)
        _learn(queues, cell, relevant)
    _count_page(graph, queues, decisions, page, relevant)
    _follow(graph, queues, decisions, levels, page, effective)
    queues.counts[LARGEST] = max(queues.counts[LARGEST], queues.counts[QUEUE])


@compiled
def _offer_seeds(
    graph: WebGraph, queues: CellQueues, decisions: Decisions, levels: NDArray[np.int32]
) -> None:
    if decisions.weighs_support:
        for seed in graph.seeds:
            _vouch(graph, queues, decisions, _int(-1), _int(seed))
    for seed in graph.seeds:
        _offer(queues, decisions, levels, _int(seed), _int(SEED), _int(_TARGET), _int(1))


@compiled
def _redirect(
    graph: WebGraph,
    queues: CellQueues,
    decisions: Decisions,
    levels: NDArray[np.int32],
    url: Any,
) -> None:
    """Offer a redirect's target with the facts of the link that led to it, but in its own place."""
    if decisions.weighs_support:
        _vouch_all(graph, queues, decisions, url)
    inherited, level = _int(queues.url[url].inherited), _level_of(levels, _int(url))
    for link in range(graph.offsets[url], graph.offsets[url + 1]):
        target = _int(graph.targets[link])
        hop = _locality(queues, _int(queues.url[url].unit), _int(queues.url[target].unit))
        same_folder = len(graph.folders) > 0 and graph.folders[target] == graph.folders[url]
        code = redirected(_int(queues.url[url].code), hop, same_folder)
        _offer(queues, decisions, levels, target, _int(code), inherited, level)


@kept
@compiled
def crawl(graph: WebGraph, queues: CellQueues, decisions: Decisions, notes: Notes) -> int:
    """Crawl until only URLs never downloaded remain; return the number of rows of the series."""
    rows = 0
    # By URL that on the shortest way so far, a seed's 1; only if the strategy looks at levels.
    levels = np.zeros(len(queues.url) if decisions.levels else 0, np.int32)
    if decisions.learns:
        _begin(queues, np.flatnonzero(queues.cell["downloaded"]))
    _offer_seeds(graph, queues, decisions, levels)
    while notes.control[1] == 0 and queues.best[1] >= 0:
        cell = _int(queues.best[1])
        url = _take(queues, notes, cell)
        if queues.url[url].answer == _REDIRECT:
            _redirect(graph, queues, decisions, levels, url)
        elif queues.url[url].answer >= _PAGE:
            _visit(graph, queues, decisions, levels, notes, url, cell)
            if queues.counts[PAGES] % notes.every == 0:
                notes.series[rows] = queues.counts[:5]
                notes.control[0] = queues.counts[PAGES]
                rows += 1
        elif decisions.learns:
            _miss(queues, notes, cell)
            _count_page(graph, queues, decisions, url, 0.0)
    if rows == 0 or notes.series[rows - 1, PAGES] != queues.counts[PAGES]:
        notes.series[rows] = queues.counts[:5]
        rows += 1
    return rows


def queues(
    url: NDArray[Any],
    unit: NDArray[Any],
    sites: int,
    decisions: Decisions,
    cells: int,
    slots: int,
    paragraphs: int = 0,
) -> CellQueues:
    """Return the queues of a crawl in which nothing is offered yet.

    ``slots`` is the room for sequence numbers: at least the URLs that may wait at a time.
    ``paragraphs`` is how many the web has.
    """
    url["cell"] = UNSEEN
    unit["place"] = decisions.place_unvisited
    linked = sites if decisions.weighs_support else 0
    site = np.zeros(sites, SITE)
    site["place"] = decisions.place_unvisited
    cell = np.zeros(cells, CELL)
    for name in ("first", "last", "top"):
        cell[name] = _NONE
    leaves = 1 << max(1, (cells - 1).bit_length())
    return CellQueues(
        url,
        np.empty(slots, NODE),
        unit,
        site,
        np.zeros(linked, LINKED),
        np.zeros((linked, _SUPPORT), np.int32),
        cell,
        np.full(2 * leaves, -1, np.int32),
        np.zeros(len(COUNTS), np.int64),
        np.empty(cells, np.int32),
        np.zeros(adaptive.PLACES * (1 + adaptive.VALUES), np.float64),
        np.zeros(2, np.float64),
        np.zeros(paragraphs, np.bool_),
    )


def blank_notes(pages: int, servers: int, every: int, visits: int) -> Notes:
    """Return the empty notes of a crawl of at most ``pages`` pages."""
    return Notes(
        np.zeros((pages // every + 2, 5), np.int64),
        every,
        np.zeros((2, MAX_DISTANCE + 1), np.int64),
        np.zeros((BINS, 4), np.float64),
        np.empty(visits, np.int32),
        np.zeros(servers, np.bool_),
        np.zeros(2, np.int64),
    )
