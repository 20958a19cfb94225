"""The compiled passes over links beside plain Python, on random webs."""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given

from lswc.lab.trace import links
from lswc.lab.trace.format import About, Fate, Trace
from lswc.lab.trace.graph import breadth_first_tree
from lswc.lab.trace.links import End, Step
from lswc.strategy import Locality, PageLanguage
from tests.lab.trace.webs import webs

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_relevant(trace: Trace, url: int) -> bool:
    return bool(trace.fate[url] == Fate.PAGE and trace.language[url] == PageLanguage.TARGET)


def targets(trace: Trace, url: int) -> list[int]:
    found: list[int] = trace.targets[trace.offsets[url] : trace.offsets[url + 1]].tolist()
    return found


def end(trace: Trace, url: int) -> End:
    home = [u for u in range(trace.urls) if trace.server[u] == trace.server[url]]
    relevant = any(is_relevant(trace, u) for u in home)
    if trace.fate[url] == Fate.PAGE:
        if is_relevant(trace, url):
            return End.RELEVANT
        return End.ON_RELEVANT if relevant else End.ON_IRRELEVANT
    if relevant:
        return End.UNSEEN_ON_RELEVANT
    has_page = any(trace.fate[u] == Fate.PAGE for u in home)
    return End.UNSEEN_ON_IRRELEVANT if has_page else End.UNSEEN_ELSEWHERE


def every_link(trace: Trace) -> Iterator[tuple[int, int, int, int]]:
    assert trace.anchors is not None
    for url in range(trace.urls):
        if trace.fate[url] != Fate.PAGE:
            continue
        seen = {url}
        for link in range(trace.offsets[url], trace.offsets[url + 1]):
            target = int(trace.targets[link])
            if target in seen:
                continue
            seen.add(target)
            mine, its = int(trace.server[url]), int(trace.server[target])
            same_site = trace.site[mine] == trace.site[its]
            place = Locality.SAME_SITE if same_site else Locality.ELSEWHERE
            place = Locality.SAME_SERVER if mine == its else place
            yield end(trace, url), end(trace, target), place, int(trace.anchors[link])


@given(webs())
def test_census_counts_a_page_s_first_link_to_each_other_in_its_cell(trace: Trace) -> None:
    expected = Counter(every_link(trace))
    found = {cell: n for cell, n in np.ndenumerate(links.census(trace)) if n}
    assert found == expected


@given(webs())
def test_links_by_domain_are_those_of_the_census(trace: Trace) -> None:
    domain = (np.arange(len(trace.site)) % 3).astype(np.int32)
    assert trace.anchors is not None
    expected = Counter[tuple[int, int, int]]()
    for url in range(trace.urls):
        first = dict[int, int]()
        for link in range(trace.offsets[url], trace.offsets[url + 1]):
            if trace.targets[link] != url and trace.fate[url] == Fate.PAGE:
                first.setdefault(int(trace.targets[link]), int(trace.anchors[link]))
        for target, anchor in first.items():
            what = int(trace.fate[target] == Fate.PAGE) + int(is_relevant(trace, target))
            expected[int(domain[trace.server[target]]), anchor, what] += 1
    counts = links.by_domain(trace, domain, 3)
    assert {cell: n for cell, n in np.ndenumerate(counts) if n} == expected
    assert counts.sum() == links.census(trace).sum()


def distance_from_others(trace: Trace, url: int) -> int:
    """Return the shortest path from another relevant page, 0 if there is none."""
    sources = [u for u in range(trace.urls) if u != url and is_relevant(trace, u)]
    queue, level = deque(sources), dict.fromkeys(sources, 0)
    while queue:
        at = queue.popleft()
        for target in targets(trace, at):
            if target not in level:
                level[target] = level[at] + 1
                queue.append(target)
    return level.get(url, 0)


@given(webs())
def test_nearest_relevant_pages_are_as_far_as_separate_searches_find(trace: Trace) -> None:
    relevant = [url for url in range(trace.urls) if is_relevant(trace, url)]
    expected = np.bincount([distance_from_others(trace, url) for url in relevant], minlength=1)
    assert links.nearest_relevant(trace).tolist() == expected.tolist()


@given(webs())
def test_walk_sums_up_the_path_in_the_tree(trace: Trace) -> None:
    parent, order = breadth_first_tree(trace.offsets, trace.targets, trace.seeds)
    step = links.steps(trace)
    shapes, longest = links.walk(parent, order, step)
    for url in order.tolist():
        path = [url]
        while parent[path[-1]] >= 0:
            path.append(int(parent[path[-1]]))
        kinds = [Step(int(step[u])) for u in reversed(path)]
        turns = [k for i, k in enumerate(kinds) if i == 0 or kinds[i - 1] != k]
        assert links.unfold(int(shapes[url])) == turns[:24]
        runs = "".join("r" if kind is Step.TARGET else "i" for kind in kinds).split("r")
        assert longest[url] == max(map(len, runs))


def chain(languages: list[PageLanguage], links_to: list[list[int]]) -> Trace:
    """Return a web of one server with the given pages and links, seed 0."""
    n = len(languages)
    offsets = np.cumsum([0, *map(len, links_to)])
    flat = np.array([t for listed in links_to for t in listed], np.int32)
    zeros = np.zeros(n, np.int32)
    return Trace(
        About("th", ("th",), "by hand"), zeros, zeros, zeros[:1], np.zeros(1, np.bool_),
        np.array(languages, np.int8), np.full(n, Fate.PAGE, np.int8), np.zeros(n, np.int16),
        offsets, flat, None, np.zeros(1, np.int32),
    )  # fmt: skip


def test_two_pages_between_make_a_distance_of_three() -> None:
    target, other = PageLanguage.TARGET, PageLanguage.OTHER
    trace = chain([target, other, other, target, target], [[1], [2], [3], [4], []])
    # Page 0 is reached from none, 3 from 0 by three links, 4 straight from 3.
    assert links.nearest_relevant(trace).tolist() == [1, 1, 0, 1]


def test_a_page_is_not_its_own_neighbour() -> None:
    target, other = PageLanguage.TARGET, PageLanguage.OTHER
    trace = chain([target, other], [[1], [0]])
    assert links.nearest_relevant(trace).tolist() == [1]


def test_a_very_long_zigzag_keeps_its_first_turns() -> None:
    languages = [PageLanguage.TARGET, PageLanguage.ENGLISH] * 30
    trace = chain(languages, [[i + 1] for i in range(59)] + [[]])
    parent, order = breadth_first_tree(trace.offsets, trace.targets, trace.seeds)
    shapes, longest = links.walk(parent, order, links.steps(trace))
    assert links.unfold(int(shapes[59])) == [Step.TARGET, Step.ENGLISH] * 12
    assert longest[59] == 1
