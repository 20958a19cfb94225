"""Locality of links: tables by kind of page, of server, of place and of anchor text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lswc.lab.analysis import figures
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.lab.trace import links
from lswc.lab.trace.links import PAGES, End
from lswc.strategy import Anchor, Locality

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from lswc.lab.analysis.collection import Collection
    from lswc.lab.trace.format import Trace

NEEDS_LINKS = (
    "Not in this report: it needs links, and the records of a crawl have none. "
    "Make a trace of the crawl and analyse that."
)

_ALL = list(Locality)
_INTER_SERVER = [Locality.SAME_SITE, Locality.ELSEWHERE]
_PLACES = {
    "all links": _ALL,
    "same site": [Locality.SAME_SERVER, Locality.SAME_SITE],
    "other site": [Locality.ELSEWHERE],
    "same server": [Locality.SAME_SERVER],
    "other server": _INTER_SERVER,
}
_ON_RELEVANT = [End.RELEVANT, End.ON_RELEVANT]
_OF_RELEVANT_SERVER = [*_ON_RELEVANT, End.UNSEEN_ON_RELEVANT]
_OF_IRRELEVANT_SERVER = [End.ON_IRRELEVANT, End.UNSEEN_ON_IRRELEVANT]


def sections(collection: Collection) -> list[Section]:
    """Return the sections on links between pages, servers and languages of anchors."""
    if collection.trace is None:
        return [
            Section("locality", "Language locality of links", _PURPOSE, (NEEDS_LINKS,)),
            Section("anchors", "Anchor texts", _ANCHORS, (NEEDS_LINKS,)),
            Section("domains_of_links", "Domains of links", _DOMAINS, (NEEDS_LINKS,)),
        ]
    counts = links.census(collection.trace)
    return [
        _locality(collection, counts),
        _anchors(collection, counts),
        _domains(collection, collection.trace),
    ]


def total(
    counts: NDArray[np.int64],
    sources: list[End],
    targets: list[End],
    places: list[Locality] = _ALL,
    anchors: tuple[Anchor, ...] = tuple(Anchor),
) -> int:
    """Add up the cells of a census (``links.census``)."""
    return int(counts[np.ix_(sources, targets, places, anchors)].sum())


_PURPOSE = (
    "Why a focused crawl can work: pages in the language link to each other. The more the shares "
    "differ by kind of source, the more a strategy can tell from where it found a link "
    "(Tamura 2007 Tables 4 and 5; Somboonviwat 2006 Table 4)."
)


def _locality(collection: Collection, counts: NDArray[np.int64]) -> Section:
    name = collection.language
    by_place = _by_place(counts, name)
    outside = total(counts, list(PAGES), [End.UNSEEN_ELSEWHERE])
    whole = int(counts.sum())
    findings = [
        f"{whole:,} links of pages; {outside:,} of them lead to servers without a downloaded page "
        "and are in none of these tables but the last.",
    ]
    figure = None
    if whole:
        figure = _figure(by_place, name)
    tables = (by_place, _by_page(counts, name), _by_server(counts, name), _in_full(counts))
    return Section(
        "locality", "Language locality of links", _PURPOSE, tuple(findings), tables, figure
    )


def _figure(by_place: Table, name: str) -> Figure:
    """Draw the shares of each place; those of sites only where a site has several servers."""
    shares = {str(row[0]): list(row[2::2]) for row in by_place.rows}
    places = list(_PLACES)
    drawn = {
        tuple(values[i] for values in shares.values()): i for i in reversed(range(len(places)))
    }
    kept = sorted(drawn.values())
    parts = {source: [values[i] for i in kept] for source, values in shares.items()}
    own, other = (next(iter(values), None) or 0.0 for values in shares.values())
    title = (
        f"{own:.0%} of links on {name} pages lead to {name} pages, {other:.0%} of those on others"
    )
    return figures.grouped([places[i] for i in kept], parts, title)


def _sources(name: str) -> dict[str, list[End]]:
    return {
        f"{name} page": [End.RELEVANT],
        f"other page on a {name} server": [End.ON_RELEVANT],
        "other page on another server": [End.ON_IRRELEVANT],
    }


def _by_page(counts: NDArray[np.int64], name: str) -> Table:
    targets = {
        f"{name} page": [End.RELEVANT],
        "other page": [End.ON_RELEVANT, End.ON_IRRELEVANT],
    }
    title = f"Links between downloaded pages (a {name} server has at least one {name} page)"
    heads, rows = _between(counts, _sources(name), targets, f"share to {name}")
    return Table("links_by_page_kind", title, heads, rows)


def _by_server(counts: NDArray[np.int64], name: str) -> Table:
    own, other = f"{name} server", "other server"
    sources = {own: _ON_RELEVANT, other: [End.ON_IRRELEVANT]}
    targets = {own: _OF_RELEVANT_SERVER, other: _OF_IRRELEVANT_SERVER}
    title = "Links between servers with downloaded pages, to URLs never downloaded too"
    heads, rows = _between(counts, sources, targets, f"share to {own}")
    return Table("links_by_server_kind", title, heads, rows)


def _between(
    counts: NDArray[np.int64],
    sources: dict[str, list[End]],
    targets: dict[str, list[End]],
    shared: str,
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Return heads and rows of the links to two kinds of target, all and those between servers."""
    rows = []
    for source, ends in sources.items():
        row: list[object] = [source]
        for places in (_ALL, _INTER_SERVER):
            to, other = (total(counts, ends, there, places) for there in targets.values())
            row += [to, other, share(to, to + other)]
        rows.append(tuple(row))
    to_each = [f"to {target}" for target in targets]
    between = [f"between servers, {head}" for head in to_each]
    return ("link from", *to_each, shared, *between, f"{shared} between servers"), rows


def _by_place(counts: NDArray[np.int64], name: str) -> Table:
    rows = []
    for source, ends in (
        (f"{name} page", [End.RELEVANT]),
        ("other page", [End.ON_RELEVANT, End.ON_IRRELEVANT]),
    ):
        row: list[object] = [source]
        for places in _PLACES.values():
            whole = total(counts, ends, list(PAGES), places)
            row += [whole, share(total(counts, ends, [End.RELEVANT], places), whole)]
        rows.append(tuple(row))
    heads = [head for place in _PLACES for head in (place, f"share to {name}, {place}")]
    title = f"Links to {name} pages, by place of the target"
    return Table("links_by_place", title, ("link from", *heads), rows)


def _in_full(counts: NDArray[np.int64]) -> Table:
    rows = [
        (
            End(source).name.lower(),
            End(target).name.lower(),
            Locality(place).name.lower(),
            Anchor(anchor).name.lower(),
            int(number),
        )
        for (source, target, place, anchor), number in np.ndenumerate(counts)
        if number
    ]
    heads = ("source", "destination", "place", "anchor", "links")
    return Table("links_in_full", "All links, by every kind", heads, rows, shown=0)


_ANCHORS = (
    "Whether the text of a link tells the language of the page behind it, before that is fetched "
    "(Somboonviwat 2006 Table 5; Chan & Yamana 2010 filter by it)."
)


def _anchors(collection: Collection, counts: NDArray[np.int64]) -> Section:
    name = collection.language
    section = ("anchors", "Anchor texts", _ANCHORS)
    if collection.trace is None or collection.trace.anchors is None:
        return Section(*section, ("Not in this report: the trace has no column anchors.",))
    texts = {
        f"{name} text": (Anchor.TARGET,),
        "other text": (Anchor.OTHER,),
        "no text": (Anchor.NONE,),
    }
    sources = {f"{name} page": [End.RELEVANT], "other page": [End.ON_RELEVANT, End.ON_IRRELEVANT]}
    rows = []
    for source, ends in sources.items():
        of_source = total(counts, ends, list(PAGES))
        for text, anchors in texts.items():
            whole = total(counts, ends, list(PAGES), anchors=anchors)
            to = total(counts, ends, [End.RELEVANT], anchors=anchors)
            rows.append((source, text, whole, share(whole, of_source), to, share(to, whole)))
    heads = ("link from", "anchor", "links", "share of the source's links",
             f"to {name} page", f"share to {name}")  # fmt: skip
    title = "Links between downloaded pages by language of the anchor text"
    shares = {source: [row[5] for row in rows if row[0] == source] for source in sources}
    whole = total(counts, list(PAGES), list(PAGES), anchors=(Anchor.TARGET,))
    right = total(counts, list(PAGES), [End.RELEVANT], anchors=(Anchor.TARGET,))
    seen = f"{right / whole:.0%} of {whole:,}" if whole else "no"
    figure = figures.grouped(
        list(texts), shares, f"{seen} links with {name} text lead to {name} pages"
    )
    return Section(*section, (), (Table("anchors", title, heads, rows),), figure)


_DOMAINS = (
    "What the top-level domain of a link tells of the page behind it, and the anchor text where "
    "the domain tells nothing: what `tld_anchor` keeps (Chan & Yamana 2010 §3, Tables 2 and 3)."
)
_MOST_DOMAINS = 15
_NO_PAGE, _OTHER_PAGE, _RELEVANT_PAGE = range(3)


def _domains(collection: Collection, trace: Trace) -> Section:
    name = collection.language
    section = ("domains_of_links", "Domains of links", _DOMAINS)
    if "tld" not in collection.columns:
        return Section(*section, ("Not in this report: the trace has no column tld.",))
    known = dict(collection.rows("SELECT DISTINCT server, tld FROM urls"))
    words = sorted(set(known.values()))
    numbers = {word: number for number, word in enumerate(words)}
    domain = np.array([numbers[known[server]] for server in range(len(trace.site))], np.int32)
    counts = links.by_domain(trace, domain, len(words))
    whole = int(counts.sum())
    by_size = sorted(range(len(words)), key=lambda i: (-counts[i].sum(), words[i]))
    top, rest = by_size[:_MOST_DOMAINS], by_size[_MOST_DOMAINS:]
    rows = [_of_links(f".{words[i]}" if words[i] else "(none)", counts[i], whole) for i in top]
    if rest:
        rows.append(_of_links("others", counts[rest].sum(axis=0), whole))
    heads = ("links", "number", "share", "of them to pages", f"to {name} pages", "share of pages")
    tables = [Table("links_by_tld", "Links by top-level domain of the target", heads, rows)]
    own = [numbers[one] for one in trace.about.tlds if one in numbers]
    if trace.anchors is not None:
        tables.append(_by_filter(counts, own, name, heads))
    return Section(*section, (), tuple(tables))


def _of_links(kind: str, counts: NDArray[np.int64], whole: int) -> tuple[object, ...]:
    """Return the row of links of a kind, by anchor and what their targets are."""
    none, other, relevant = counts.reshape(-1, 3).sum(axis=0).tolist()
    number, pages = none + other + relevant, other + relevant
    return kind, number, share(number, whole), pages, relevant, share(relevant, pages)


def _by_filter(
    counts: NDArray[np.int64], own: list[int], name: str, heads: tuple[str, ...]
) -> Table:
    """Return what the filters by domain and by anchor text keep, and what that leads to."""
    whole, within = int(counts.sum()), counts[own].sum(axis=0)
    outside = counts.sum(axis=0) - within
    target = [int(Anchor.TARGET)]
    others = [int(Anchor.OTHER)], [int(Anchor.NONE)]
    kept = np.concatenate([within, outside[target]])
    rows = [
        _of_links(f"to the domains of {name}", within, whole),
        _of_links(f"to others, {name} text", outside[target], whole),
        _of_links("to others, other text", outside[others[0]], whole),
        _of_links("to others, no text", outside[others[1]], whole),
        _of_links("kept by tld", within, whole),
        _of_links("kept by anchor", counts[:, target], whole),
        _of_links("kept by tld_anchor", kept, whole),
        _of_links("all", counts, whole),
    ]
    return Table("links_by_filter", "Links by what the filters look at", heads, rows)


def nearest(collection: Collection) -> Section:
    """Distances between nearest relevant pages."""
    purpose = (
        "How many irrelevant pages in a row a crawler must walk through to get from one relevant "
        "page to the next: what the tolerance of limited_distance and lswc is for (Tamura 2007 "
        "Fig. 2; Somboonviwat 2006 Fig. 3). Distance k leaves k - 1 pages between."
    )
    section = ("nearest", "From one relevant page to the next", purpose)
    if collection.trace is None:
        return Section(*section, (NEEDS_LINKS,))
    counts = links.nearest_relevant(collection.trace).tolist()
    whole, reached = sum(counts), sum(counts[1:])
    if not reached:
        return Section(*section, ("No path leads from one relevant page to another.",))
    rows, so_far = [], 0
    for distance, pages in enumerate(counts[1:], 1):
        so_far += pages
        rows.append((distance, pages, share(pages, reached), share(so_far, reached)))
    heads = ("distance", "relevant pages", "share", "share within")
    title = "Relevant pages by distance from the nearest other relevant page"
    findings = [
        f"{rows[0][2]:.1%} of them are linked straight from another relevant page; "
        f"the farthest is {len(rows)} links away."
    ]
    if whole > reached:
        findings.append(f"No other relevant page leads to {whole - reached:,} of {whole:,}.")
    drawn = {row[0]: row[1] for row in rows}
    name = (
        f"{rows[0][2]:.0%} of {reached:,} {collection.language} pages are linked from another one"
    )
    figure = figures.histogram(drawn, name, "links from the nearest other one")
    table = Table("nearest_relevant", title, heads, rows)
    return Section(*section, tuple(findings), (table,), figure)
