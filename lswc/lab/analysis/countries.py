"""Countries of servers: by IP address, or by top-level domain (Mon 2010 Fig. 3)."""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections import Counter, defaultdict
from ipaddress import ip_address
from typing import TYPE_CHECKING, NamedTuple

import maxminddb

from lswc.lab.analysis import figures
from lswc.lab.analysis.collection import AnalysisError
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table, share
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from lswc.lab.analysis.collection import Collection

    Locate = Callable[[str], str | None]

_RENAMED = {"UK": "GB"}
_NO_COUNTRY = frozenset(
    {"AC", "SU", "EU", "TP", "AN", "YU"}
)  # two letters, but no ISO 3166 country


def open_database(path: Path) -> Locate:
    """Open a country database: an ``.mmdb`` of MaxMind or DB-IP, or DB-IP's CSV.

    Returns a function from an IP address to an ISO 3166 code in upper case, None if unknown.
    The CSV has the columns first address, last address, code, sorted, without a head.
    Raises AnalysisError.
    """
    return _open_csv(path) if path.suffix == ".csv" else _open_mmdb(path)


def _open_mmdb(path: Path) -> Locate:
    try:
        database = maxminddb.open_database(path)
    except (OSError, maxminddb.InvalidDatabaseError) as error:
        raise AnalysisError(f"can't read the IP database {path}: {error}") from error

    def locate(address: str) -> str | None:
        try:
            entry = database.get(address)
        except (ValueError, maxminddb.InvalidDatabaseError):
            return None
        return _iso_code(entry)

    return locate


def _iso_code(entry: object) -> str | None:
    """Return the code of a database's entry; both makers write {"country": {"iso_code": ...}}."""
    country = entry.get("country") if isinstance(entry, dict) else None
    code = country.get("iso_code") if isinstance(country, dict) else None
    return code.upper() if isinstance(code, str) else None


def _open_csv(path: Path) -> Locate:
    starts: dict[int, list[int]] = {4: [], 6: []}
    ranges: dict[int, list[tuple[int, str]]] = {4: [], 6: []}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for first, last, code in _address_ranges(file):
                address = ip_address(first)
                starts[address.version].append(int(address))
                ranges[address.version].append((int(ip_address(last)), code.upper()))
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(f"can't read the IP database {path}: {error}") from error
    if not (starts[4] or starts[6]):
        raise AnalysisError(f"the IP database {path} is empty")
    if any(found != sorted(found) for found in starts.values()):
        raise AnalysisError(f"the IP database {path} isn't sorted by address")

    def locate(address: str) -> str | None:
        try:
            parsed = ip_address(address)
        except ValueError:
            return None
        place = bisect_right(starts[parsed.version], int(parsed)) - 1
        if place < 0:
            return None
        last, code = ranges[parsed.version][place]
        return code if int(parsed) <= last and code != "ZZ" else None

    return locate


def _address_ranges(file: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    for row in csv.reader(file):
        if len(row) < 3:
            raise ValueError(f"a row must be: first address, last address, code; found {row}")
        yield row[0], row[1], row[2]


def read_addresses(path: Path) -> dict[str, str]:
    """Read a CSV of server and IP address, without a head. Raises AnalysisError."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return {
                row[0].strip().lower(): row[1].strip() for row in csv.reader(file) if len(row) > 1
            }
    except (OSError, ValueError, csv.Error) as error:
        raise AnalysisError(f"can't read the addresses in {path}: {error}") from error


def country_of_tld(tld: str | None) -> str | None:
    """Return the ISO 3166 code that a top-level domain stands for; None for all but ccTLDs."""
    code = (tld or "").upper()
    if len(code) != 2 or not code.isascii() or not code.isalpha() or code in _NO_COUNTRY:
        return None
    return _RENAMED.get(code, code)


class _Server(NamedTuple):
    site: int
    tld: str | None
    host: str | None
    address: str | None
    pages: int


def _servers(collection: Collection) -> list[_Server]:
    query = (
        "SELECT any_value(site), any_value(tld), any_value(url), any_value(address), count(*)"
        " FROM urls WHERE page AND language = $target GROUP BY server"
    )
    return [
        _Server(site, tld, _server_name(url), address, pages)
        for site, tld, url, address, pages in collection.rows(query)
    ]


def _server_name(url: str | None) -> str | None:
    parsed = parse(url) if url else None
    return parsed.server if parsed else None


def section(collection: Collection, locate: Locate | None, addresses: Mapping[str, str]) -> Section:
    """Return countries of the servers with relevant pages.

    ``locate`` is an opened database. A server's address comes from the column ``address`` of
    the data, from ``addresses`` (server to address), or is its name.
    """
    purpose = (
        "In which countries the language is hosted: much of it far from where it is spoken "
        "(Mon 2010 Fig. 3, which counts domains)."
    )
    head = ("countries", "Where the servers are", purpose)
    servers = _servers(collection)
    if not servers:
        return Section(*head, (f"No page is in {collection.language}.",))
    if locate is None and "tld" not in collection.columns:
        return Section(*head, ("Not in this report: neither an IP database nor a column tld.",))
    sites: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    number, pages = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for server in servers:
        place = _place(server, locate, addresses)
        sites[place].add(server.site)
        number[place] += 1
        pages[place] += server.pages
    rows = [
        (*place, count, len(sites[place]), pages[place], share(count, len(servers)))
        for place, count in sorted(number.items(), key=lambda item: (-item[1], item[0]))
    ]
    heads = ("country", "found by", "servers", "sites", "relevant pages", "share of servers")
    table = Table("countries", "Servers with relevant pages by country", heads, rows, shown=15)
    top = rows[:12]
    by = "country of their address" if locate else "domain"
    title = f"{len(servers):,} servers with {collection.language} pages, by {by}"
    bars = {"servers": [row[2] for row in top]}
    names = [str(row[0]) for row in top]
    figure = figures.stacked(names, bars, title, "servers") if len(rows) > 1 else None
    return Section(*head, (_said(locate, number),), (table,), figure)


def located(
    host: str, address: str | None, locate: Locate | None, addresses: Mapping[str, str]
) -> str | None:
    """Return the country of a server (host and port) by its IP address; None if unknown.

    ``address`` is the one that the crawl saw; ``addresses`` goes before it.
    """
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    chosen = addresses.get(host) or addresses.get(name) or address or name.strip("[]")
    return locate(chosen) if locate and chosen else None


def _place(server: _Server, locate: Locate | None, addresses: Mapping[str, str]) -> tuple[str, str]:
    country = located(server.host or "", server.address, locate, addresses)
    if country:
        return country, "address"
    country = country_of_tld(server.tld)
    return (country, "domain") if country else (f".{server.tld or '?'}", "unknown")


def _said(locate: Locate | None, number: Counter[tuple[str, str]]) -> str:
    by_how = Counter[str]()
    for (_, how), servers in number.items():
        by_how[how] += servers
    if locate is None:
        start = "No IP database was given, so top-level domains alone tell the country"
    else:
        start = f"The IP database placed {by_how['address']:,} servers; domains tell the others"
    return (
        f"{start}: {by_how['domain']:,} servers are under a country's domain, "
        f"{by_how['unknown']:,} under one that stands for no country."
    )
