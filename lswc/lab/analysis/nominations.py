"""Sites with relevant pages outside the country's own domain, to nominate for a legal deposit.

A national library collects its country's domain; what is in the language and lies elsewhere
must be named site by site. None of the evidence is proof: people decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lswc.frontier.rules.harvest import wilson
from lswc.lab.analysis.countries import country_of_tld, located
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.language.names import NOBODY, codes, names
from lswc.urls import parse, readable, site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lswc.lab.analysis.collection import Collection
    from lswc.lab.analysis.countries import Locate
    from lswc.lab.trace.format import Trace

CONTACT = "[/_.-](?:contact|kontakt|contatt|contato|impressum|imprint|about)"
"""In the address of a page that says who is behind a site, as a regular expression."""

MOSTLY = 0.5
"""Share of a site's pages: surely (Wilson, 95 %) more of them are relevant."""

_CHUNK = 1 << 22  # links looked at together: 100 MB

_PURPOSE = (
    "For libraries that collect the web of a country by law: its domain they know, and what lies "
    "elsewhere must be nominated site by site. The surest come first, by how many kinds of "
    "evidence there are. A site is a registered domain; each blog of a blog host is one."
)
_HEADS = (
    "site", "kinds of evidence", "evidence", "relevant pages", "pages", "share of relevant pages",
    "language of the front page", "relevant contact pages", "sites inside that link to it",
    "country of the server", "address of the server", "first seen", "last seen", "example page",
)  # fmt: skip
_ON_PAGE = (
    "site", "evidence", "relevant pages", "pages", "sites inside that link to it", "example page",
)  # fmt: skip


class _Server(NamedTuple):
    """What the crawl saw of one server. Times in ms since 1970; ``front``: languages."""

    site: int
    url: str
    address: str | None
    pages: int
    relevant: int
    first: int | None
    last: int | None
    front: list[str]
    contact: int
    example: str | None


@dataclass(frozen=True)
class _Site:
    """A site outside the country's domain: its servers, and how many sites inside link to it."""

    name: str
    servers: Sequence[_Server]
    linking: int | None
    country: str | None
    language: str
    own: frozenset[str]

    @property
    def pages(self) -> int:
        return sum(server.pages for server in self.servers)

    @property
    def relevant(self) -> int:
        return sum(server.relevant for server in self.servers)

    @property
    def contact(self) -> int:
        return sum(server.contact for server in self.servers)

    @property
    def front(self) -> str | None:
        """The language of its front pages, the target's if one of them has it."""
        found = [language for server in self.servers for language in server.front]
        return self.language if self.language in found else min(found, default=None)

    @property
    def largest(self) -> _Server:
        """Its server with most relevant pages."""
        return max(self.servers, key=attrgetter("relevant", "pages"))

    @property
    def names_language(self) -> bool:
        """Whether a server's name, or the folder of an example page, is the language's."""
        code = self.language.partition("-")[0]
        return any(
            code in codes().get(word, NOBODY) | names().get(word, NOBODY)
            for server in self.servers
            if server.example is not None
            for word in _words(server.example)
        )

    @property
    def surely(self) -> float:
        """The share of its pages that is relevant, at least (Wilson, 95 %)."""
        return wilson(self.relevant, self.pages)[0]

    def evidence(self, name: str) -> list[str]:
        """Return in words what says that it belongs to the country, or to the language."""
        linking = self.linking or 0
        sites = "site inside links" if linking == 1 else "sites inside link"
        found = {
            f"server in {self.country}": self.country in self.own,
            f"{linking:,} known {sites} to it": linking > 0,
            f"front page in {name}": self.front == self.language,
            f"contact page in {name}": self.contact > 0,
            f"address that names {name}": self.names_language,
            f"mostly in {name}": self.surely > MOSTLY,
        }
        return [kind for kind, holds in found.items() if holds]


def section(collection: Collection, locate: Locate | None, addresses: Mapping[str, str]) -> Section:
    """Return the sites with relevant pages outside the language's own top-level domains.

    ``locate`` and ``addresses`` as in ``countries.section``.
    """
    name, own = collection.language, collection.about.tlds
    dotted = ", ".join(readable(f".{tld}") for tld in own)
    where = f"outside {dotted}" if own else "of any domain"
    head = ("nominations", f"{name} sites {where}", _PURPOSE)
    if not {"tld", "url"} <= collection.columns:
        return Section(*head, ("Not in this report: the data has no column tld, or url.",))
    sites = list(_sites(collection, locate, addresses))
    rows = sorted((_row(found, name) for found in sites), key=_rank)
    title = f"{name} sites {where}, the surest first"
    table = Table("nominations", title, _HEADS, rows, columns=_ON_PAGE)
    return Section(*head, tuple(_said(collection, sites, locate)), (table,) if rows else ())


def _said(collection: Collection, sites: Sequence[_Site], locate: Locate | None) -> Iterator[str]:
    name = collection.language
    if not collection.about.tlds:
        yield f"No top-level domain is known as {name}'s own, so the sites of all are here."
    if not sites:
        yield f"No {name} page is there."
        return
    relevant = sum(found.relevant for found in sites)
    yield f"{relevant:,} {name} pages of {len(sites):,} sites, all in tables/nominations.csv."
    if locate is None:
        yield "Without an IP database (--countries) the country of a server isn't known."
    if collection.trace is None:
        yield "Without the crawl's log it isn't known which sites link to them."


def _row(found: _Site, name: str) -> tuple[Any, ...]:
    evidence, largest = found.evidence(name), found.largest
    return (
        found.name,
        len(evidence),
        "; ".join(evidence),
        found.relevant,
        found.pages,
        share(found.relevant, found.pages),
        found.front,
        found.contact,
        found.linking,
        found.country,
        largest.address,
        _day(min((s.first for s in found.servers if s.first is not None), default=None)),
        _day(max((s.last for s in found.servers if s.last is not None), default=None)),
        largest.example,
    )


def _words(url: str) -> list[str]:
    """Return the parts of a server's name below its site, and the first folder."""
    parsed = parse(url)
    if parsed is None:
        return []
    below = parsed.hostname.removesuffix(site(parsed.hostname))
    return [*below.split("."), parsed.path.split("/")[1].lower()]


def _rank(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Order rows: most kinds of evidence first, then what is surely most in the language."""
    name, kinds, _, relevant, pages, *_ = row
    return -kinds, -wilson(relevant, pages)[0], -relevant, name


def _day(time: int | None) -> str | None:
    return None if time is None else f"{datetime.fromtimestamp(time / 1000, UTC):%Y-%m-%d}"


def _sites(
    collection: Collection, locate: Locate | None, addresses: Mapping[str, str]
) -> Iterator[_Site]:
    target = collection.about.language
    own = frozenset(code for tld in collection.about.tlds if (code := country_of_tld(tld)))
    linking = _linking(collection.trace) if collection.trace is not None else None
    for number, found in groupby(_servers(collection), key=itemgetter(0)):
        servers = list(found)
        largest = max(servers, key=attrgetter("relevant", "pages"))
        parsed = parse(largest.url)
        if parsed is None:
            continue
        links = None if linking is None else linking.get(number, 0)
        country = located(parsed.server, largest.address, locate, addresses)
        yield _Site(site(parsed.hostname), servers, links, country, target, own)


_SERVERS = """
    SELECT site, any_value(url), mode(address) FILTER (page), count(*) FILTER (page),
      count(*) FILTER (page AND language = $target),
      min(time) FILTER (page AND language = $target),
      max(time) FILTER (page AND language = $target),
      coalesce(list(DISTINCT language ORDER BY language)
        FILTER (page AND language IS NOT NULL AND regexp_full_match(url, 'https?://[^/?#]+/')), []),
      count(*) FILTER (page AND language = $target AND regexp_matches(
        lower(regexp_extract(url, '^https?://[^/]+(.*)', 1)), $contact)),
      arg_min(url, (length(url), url)) FILTER (page AND language = $target)
    FROM urls WHERE site IN (
      SELECT site FROM urls
      WHERE page AND language = $target AND NOT list_contains($own, coalesce(tld, '')))
    GROUP BY site, server ORDER BY site, server
"""


def _servers(collection: Collection) -> Iterable[_Server]:
    """Return the servers of all sites outside that have a relevant page, site by site."""
    about = collection.about
    asked = {"target": about.language, "own": list(about.tlds), "contact": CONTACT}
    return map(_Server._make, collection.db.execute(_SERVERS, asked).fetchall())


def _linking(trace: Trace) -> dict[int, int]:
    """Return by site how many sites inside link to it, of those that have a relevant page."""
    if trace.tld is None:
        return {}
    relevant = np.zeros(len(trace.site), bool)
    relevant[trace.server[trace.relevant]] = True
    known = np.unique(trace.site[relevant & trace.tld])
    inside = np.isin(trace.site, known)[trace.server]
    pairs = [np.empty(0, np.int64)]
    for first in range(0, len(trace.targets), _CHUNK):
        targets = trace.targets[first : first + _CHUNK]
        places = np.arange(first, first + len(targets))
        sources = np.searchsorted(trace.offsets, places, side="right") - 1
        wanted = inside[sources] & ~trace.tld[trace.server[targets]]
        one = trace.site[trace.server[sources[wanted]]].astype(np.int64)
        other = trace.site[trace.server[targets[wanted]]]
        pairs.append(np.unique(one << 32 | other))
    distinct = np.unique(np.concatenate(pairs))
    numbers, counts = np.unique(distinct & 0xFFFFFFFF, return_counts=True)
    return dict(zip(numbers.tolist(), counts.tolist(), strict=True))
