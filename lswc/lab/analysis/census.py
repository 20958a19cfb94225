"""Counts of pages and servers: languages, domains, distances, encodings."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING

from lswc.lab.analysis import figures
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.figure import Figure

    from lswc.lab.analysis.collection import Collection

_TOP = 10
"""Top-level domains that are shown one by one."""


def facts(collection: Collection) -> dict[str, float]:
    """Return the collection's size in a few named numbers."""
    names = ("URLs", "pages", "relevant pages", "servers with pages", "relevant servers")
    row = collection.rows(
        "SELECT count(*), count(*) FILTER (page),"
        " count(*) FILTER (page AND language = $target),"
        " count(DISTINCT server) FILTER (page),"
        " count(DISTINCT server) FILTER (page AND language = $target) FROM urls"
    )[0]
    found: dict[str, float] = dict(zip(names, row, strict=True))
    if collection.trace is not None:
        found["links"] = len(collection.trace.targets)
    found["irrelevant pages"] = row[1] - row[2]
    found["share of pages that are relevant"] = share(row[2], row[1]) or 0.0
    return found


def kinds(collection: Collection) -> tuple[str, ...]:
    """Return the kinds of language that the papers' tables tell apart, the target's first."""
    english = () if collection.about.language == "en" else ("English",)
    return (collection.language, *english, "other", "unknown")


def _kind(collection: Collection, language: str | None) -> str:
    if language is None:
        return "unknown"
    if language == collection.about.language:
        return collection.language
    return "English" if language == "en" else "other"


def languages(collection: Collection) -> Section:
    """Pages by language and top-level domain."""
    purpose = (
        "Where the language lives: a crawl that kept to its own top-level domain would miss the "
        "rest (Tamura 2007 Table 1; Somboonviwat 2006 Table 3; Mon 2010 Table 5)."
    )
    has_tld = "tld" in collection.columns
    found = collection.rows(
        "SELECT language, tld, count(*) FROM urls WHERE page GROUP BY ALL"
        " ORDER BY count(*) DESC, language, tld"
    )
    rows = [
        (language or "unknown", readable(_dotted(tld)), pages) for language, tld, pages in found
    ]
    per_language = Counter[str]()
    for language, _, pages in rows:
        per_language[language] += pages
    total = per_language.total()
    tables = [
        Table(
            "pages_by_language",
            "Pages by language",
            ("language", "pages", "share of pages"),
            [(name, n, share(n, total)) for name, n in per_language.most_common()],
            shown=12,
        )
    ]
    tables += _counted_by("kind", "Pages by kind", collection)
    tables += _counted_by("source", "Pages by what named them", collection)
    if not has_tld:
        lacks = "The data has no column tld, so nothing can be finding of domains."
        return Section("languages", "Languages and domains", purpose, (lacks,), tuple(tables))
    counts = _by_kind(collection, found)
    title = "Pages by top-level domain and kind of language"
    tables.insert(0, by_tld(collection, found, "pages_by_tld", title))
    tables.append(
        Table(
            "pages_by_language_and_tld",
            "Pages by language and top-level domain, in full",
            ("language", "tld", "pages"),
            rows,
            shown=0,
        )
    )
    own = {_dotted(tld) for tld in collection.about.tlds}
    return Section(
        "languages",
        "Languages and domains",
        purpose,
        tuple(_said_of_domains(collection, counts, own)),
        tuple(tables),
        domains_figure(collection, found, "pages", _seen_of_domains(collection, counts, own)),
    )


def _counted_by(column: str, title: str, collection: Collection) -> list[Table]:
    """Return how many pages are of which kind, or were named by what, if the data says it."""
    query = (
        "SELECT coalesce(COLUMN, 'not known') AS name, count(*),"
        " count(*) FILTER (language = $target)"
        " FROM urls WHERE page GROUP BY name ORDER BY count(*) DESC, name"
    )
    found = collection.rows(query.replace("COLUMN", column))
    if column not in collection.columns or all(name == "not known" for name, _, _ in found):
        return []
    rows = [(*row, share(row[2], row[1])) for row in found]
    heads = (column, "pages", f"{collection.language} pages", f"share of the {column}")
    return [Table(f"pages_by_{column}", title, heads, rows)]


def _dotted(tld: str | None) -> str:
    return f".{tld}" if tld else "(address)" if tld == "" else "(not known)"


def _by_kind(
    collection: Collection, found: Iterable[tuple[str | None, str | None, int]]
) -> dict[str, Counter[str]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for language, tld, number in found:
        counts[_dotted(tld)][_kind(collection, language)] += number
    return counts


def _top(counts: dict[str, Counter[str]]) -> list[str]:
    return sorted(counts, key=lambda tld: (-counts[tld].total(), tld))[:_TOP]


def by_tld(
    collection: Collection,
    found: Iterable[tuple[str | None, str | None, int]],
    name: str,
    title: str,
) -> Table:
    """Return a table of counts, given by language and top-level domain, by kind of language."""
    counts = _by_kind(collection, found)
    names, top = kinds(collection), _top(counts)
    lines = {tld: counts[tld] for tld in top}
    rest = sum((count for tld, count in counts.items() if tld not in lines), Counter[str]())
    if rest:
        lines[f"{len(counts) - len(top)} others"] = rest
    lines["total"] = sum(counts.values(), Counter[str]())
    rows = [
        (
            readable(tld),
            *(count[name] for name in names),
            count.total(),
            share(count[names[0]], count.total()),
        )
        for tld, count in lines.items()
    ]
    return Table(name, title, ("tld", *names, "total", f"share {names[0]}"), rows)


def _said_of_domains(
    collection: Collection, counts: dict[str, Counter[str]], own: set[str]
) -> Iterable[str]:
    name = collection.language
    all_relevant = sum(count[name] for count in counts.values())
    if not all_relevant:
        yield f"No page is in {name}."
    elif own:
        inside = sum(counts[tld][name] for tld in own & counts.keys())
        yield (
            f"{inside / all_relevant:.1%} of the {all_relevant:,} {name} pages are under "
            f"{', '.join(sorted(own))}; {1 - inside / all_relevant:.1%} are elsewhere."
        )


def _seen_of_domains(collection: Collection, counts: dict[str, Counter[str]], own: set[str]) -> str:
    """Return the title of the figure of domains: where the language's pages are."""
    name = collection.language
    relevant = Counter({tld: count[name] for tld, count in counts.items() if count[name]})
    if not relevant:
        return f"Pages by top-level domain: none is in {name}"
    if inside := sum(relevant[tld] for tld in own):
        part, place = inside, ", ".join(sorted(own & relevant.keys()))
    else:
        place, part = relevant.most_common(1)[0]
    return f"{part / relevant.total():.0%} of {relevant.total():,} {name} pages are under {place}"


def domains_figure(
    collection: Collection,
    found: Iterable[tuple[str | None, str | None, int]],
    counted: str,
    title: str,
) -> Figure | None:
    """Draw counts, given by language and top-level domain, a bar a domain.

    None if there is nothing to see: no bar, or all alike.
    """
    counts = _by_kind(collection, found)
    top = _top(counts)
    if len({frozenset(counts[tld].items()) for tld in top}) < 2:
        return None
    parts = {name: [counts[tld][name] for tld in top] for name in kinds(collection)}
    return figures.stacked(top, parts, title, counted)


def outcomes(collection: Collection) -> Section:
    """What became of every URL."""
    purpose = (
        "How much of a crawl's work brings pages, and how many of them are in the language "
        "(Kumar & Sharma Table 1). A redirect is an answer of 3xx; a page that refreshes itself "
        "to another one is a page, and that its link."
    )
    section = ("outcomes", "What became of the URLs", purpose)
    if collection.trace is None:
        finding = "Not in this report: a crawl's records are of pages alone. Make a trace of it."
        return Section(*section, (finding,))
    name = collection.language
    kinds = {
        "relevant": f"{name} pages",
        "other": "other pages",
        "file": "not HTML",
        "redirect": "redirects",
        "failed": "failed",
        "never": "no answer, or never asked",
    }
    found = dict(
        collection.rows(
            "SELECT CASE WHEN page AND language = $target THEN 'relevant' WHEN page THEN 'other'"
            " WHEN status = 0 THEN 'never' WHEN status BETWEEN 200 AND 299 THEN 'file'"
            " WHEN status BETWEEN 300 AND 399 THEN 'redirect' ELSE 'failed' END AS fate, count(*)"
            " FROM urls GROUP BY fate"
        )
    )
    total = sum(found.values())
    rows = [
        (finding, found.get(kind, 0), share(found.get(kind, 0), total))
        for kind, finding in kinds.items()
    ]
    rows.append(("total", total, share(total, total)))
    heads = ("URLs", "number", "share of URLs")
    return Section(*section, (), (Table("urls_by_outcome", "URLs by outcome", heads, rows),))


def distances(collection: Collection) -> Section:
    """Cumulative pages and relevant share within a distance from the seeds."""
    walked = "" if collection.trace else " Here: the links that the crawl walked, not the fewest."
    purpose = (
        "How far from the seeds the language goes on, and so how deep a crawl is worth its "
        f"downloads (Tamura 2007 Fig. 1; Somboonviwat 2006 Fig. 2).{walked}"
    )
    found = collection.rows(
        "SELECT distance, count(*), count(*) FILTER (language = $target) FROM urls"
        " WHERE page AND distance >= 0 GROUP BY distance ORDER BY distance"
    )
    unreached = collection.rows("SELECT count(*) FROM urls WHERE page AND distance < 0")[0][0]
    findings = [f"No path leads from the seeds to {unreached:,} pages."] if unreached else []
    if not found:
        findings.append("No page has a known distance from the seeds.")
        return Section("distances", "Distance from the seeds", purpose, tuple(findings))
    levels, pages, relevant = (list(column) for column in zip(*found, strict=True))
    within, relevant_within = list(accumulate(pages)), list(accumulate(relevant))
    at = [r / p for r, p in zip(relevant, pages, strict=True)]
    cumulated = [r / p for r, p in zip(relevant_within, within, strict=True)]
    table = Table(
        "distance_from_seeds",
        "Pages by distance from the seeds",
        ("distance", "pages", "relevant", "share relevant", "pages within", "relevant within",
         "share relevant within"),
        list(zip(levels, pages, relevant, at, within, relevant_within, cumulated, strict=True)),
        shown=16,
    )  # fmt: skip
    shares = {"within the distance": cumulated, "at the distance": at}
    figure = None
    if len(levels) > 1 and any(relevant):
        most = next(i for i, n in enumerate(relevant_within) if n >= 0.9 * relevant_within[-1])
        title = (
            f"{relevant_within[most] / relevant_within[-1]:.0%} of {relevant_within[-1]:,} "
            f"{collection.language} pages lie within {levels[most]} links of the seeds"
        )
        figure = figures.by_distance(levels, within, shares, title, collection.language)
    return Section(
        "distances", "Distance from the seeds", purpose, tuple(findings), (table,), figure
    )


def encodings(collection: Collection) -> Section:
    """Encodings of the relevant pages, by number of sites and by top-level domain."""
    purpose = (
        "Which encodings a collection in this language must read, counted by site so that one "
        "large site doesn't decide (Mon 2010 Fig. 4 and Table 6)."
    )
    section = ("encodings", "Encodings", purpose)
    if "encoding" not in collection.columns:
        return Section(*section, ("Not in this report: the data has no column encoding.",))
    found = collection.rows(
        "SELECT coalesce(encoding, 'unknown') AS name, count(DISTINCT site) AS sites, count(*)"
        " FROM urls WHERE page AND language = $target GROUP BY ALL ORDER BY sites DESC, name"
    )
    if not found:
        return Section(*section, (f"No page is in {collection.language}.",))
    heads = ("encoding", "sites", "pages")
    tables = [Table("encodings_by_sites", "Encodings of relevant pages", heads, found, shown=12)]
    if "tld" in collection.columns:
        per_tld = collection.rows(
            "SELECT coalesce(encoding, 'unknown') AS name, tld, count(DISTINCT site) AS sites,"
            " count(*) FROM urls WHERE page AND language = $target GROUP BY ALL"
            " ORDER BY sites DESC, name, tld"
        )
        of_tld = Counter[str]()
        for _, tld, _, pages in per_tld:
            of_tld[tld] += pages
        rows = [
            (name, readable(_dotted(tld)), sites, pages, share(pages, of_tld[tld]))
            for name, tld, sites, pages in per_tld
        ]
        title = "Encodings of relevant pages by top-level domain"
        tables.append(
            Table(
                "encodings_by_tld",
                title,
                (*heads[:1], "tld", *heads[1:], "share of the domain's pages"),
                rows,
                shown=15,
            )
        )
    names, sites = [row[0] for row in found[:12]], [row[1] for row in found[:12]]
    number = sum(row[1] for row in found)
    title = f"{sites[0]:,} of {number:,} {collection.language} sites are in {names[0]}"
    figure = figures.stacked(names, {"sites": sites}, title, "sites") if len(found) > 1 else None
    finding = "A site with pages in several encodings counts once for each."
    return Section(*section, (finding,), tuple(tables), figure)
