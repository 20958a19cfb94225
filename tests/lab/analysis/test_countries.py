"""Where the servers are, by databases made for the test."""

from __future__ import annotations

import struct
from ipaddress import ip_network
from typing import TYPE_CHECKING

import pytest

from lswc.lab.analysis import AnalysisError
from lswc.lab.analysis.countries import country_of_tld, open_database
from lswc.lab.analysis.questions import Questions
from tests.lab.analysis.webs import Report, Web

if TYPE_CHECKING:
    from pathlib import Path

NETWORKS = {"1.0.0.0/8": "th", "9.9.0.0/16": "us", "9.10.0.0/16": ""}


def _text(text: str) -> bytes:
    return bytes([0x40 | len(text)]) + text.encode()


def _number(value: int, kind: int) -> bytes:
    """Encode an unsigned integer of MaxMind's types 5 (16 bits), 6 (32) or 9 (64)."""
    raw = value.to_bytes(8).lstrip(b"\0")
    return bytes([kind << 5 | len(raw)] if kind < 8 else [len(raw), kind - 7]) + raw


def _map(*pairs: bytes) -> bytes:
    return bytes([0xE0 | len(pairs) // 2]) + b"".join(pairs)


def mmdb(path: Path, networks: dict[str, str]) -> Path:
    """Write a database of IPv4 countries in MaxMind's format 2.0."""
    data, places = b"", {}
    for code in networks.values():
        places[code] = len(data)
        country = _map(_text("iso_code"), _text(code)) if code else _map()
        data += _map(_text("country"), country)
    nodes: list[list[int | str | None]] = [[None, None]]
    for network, code in networks.items():
        parsed = ip_network(network)
        bits = f"{int(parsed.network_address):032b}"[: parsed.prefixlen]
        at = 0
        for bit in bits[:-1]:
            below = nodes[at][int(bit)]
            if not isinstance(below, int):
                nodes.append([None, None])
                below = nodes[at][int(bit)] = len(nodes) - 1
            at = below
        nodes[at][int(bits[-1])] = code
    tree = b""
    for node in nodes:
        for side in node:
            found = side if isinstance(side, int) else len(nodes)
            found = len(nodes) + 16 + places[side] if isinstance(side, str) else found
            tree += struct.pack(">I", found)[1:]
    about = _map(
        _text("node_count"), _number(len(nodes), 6), _text("record_size"), _number(24, 5),
        _text("ip_version"), _number(4, 5), _text("database_type"), _text("Test"),
        _text("binary_format_major_version"), _number(2, 5),
        _text("binary_format_minor_version"), _number(0, 5),
        _text("build_epoch"), _number(1, 9), _text("languages"), bytes([0x00, 0x04]),
        _text("description"), _map(),
    )  # fmt: skip
    path.write_bytes(tree + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + about)
    return path


@pytest.fixture(params=["mmdb", "csv"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "mmdb":
        return mmdb(tmp_path / "db.mmdb", NETWORKS)
    rows = [f"{ip_network(n)[0]},{ip_network(n)[-1]},{c.upper() or 'ZZ'}\n"
            for n, c in NETWORKS.items()]  # fmt: skip
    path = tmp_path / "db.csv"
    path.write_text("".join(rows) + "2001:db8::,2001:db8::ffff,LA\n")
    return path


def test_addresses_are_placed(database: Path) -> None:
    locate = open_database(database)
    assert [locate(a) for a in ("1.0.0.0", "1.255.255.255", "9.9.1.2")] == ["TH", "TH", "US"]
    for nowhere in ("0.9.9.9", "2.0.0.0", "9.10.0.1", "255.255.255.255", "no address", ""):
        assert locate(nowhere) is None
    if database.suffix == ".csv":
        assert locate("2001:db8::1") == "LA"


def small(folder: Path) -> Path:
    web = Web()
    for number, url in enumerate(
        ("http://www.a.co.th/", "http://www.b.com/", "http://1.2.3.4:8080/", "http://www.c.uk/")
    ):
        web.page(url, "th").page(f"{url}{number}", "th")
    return web.page("http://www.d.de/", "de").write(folder, "http://www.a.co.th/")


def test_servers_by_address_then_by_domain(database: Path, tmp_path: Path) -> None:
    addresses = tmp_path / "addresses.csv"
    addresses.write_text("www.a.co.th,9.9.9.9\nWWW.B.COM , 8.8.8.8\nodd\n")
    found = Report.of(small(tmp_path / "web"), Questions(countries=database, addresses=addresses))
    assert [row[:5] for row in found.rows("countries")] == [
        (".com", "unknown", 1, 1, 2),
        ("GB", "domain", 1, 1, 2),
        ("TH", "address", 1, 1, 2),
        ("US", "address", 1, 1, 2),
    ]
    assert "The IP database placed 2 servers" in found.text


def test_without_a_database_the_domain_decides_and_the_report_says_so(tmp_path: Path) -> None:
    found = Report.of(small(tmp_path / "web"))
    assert {row[0]: row[1] for row in found.rows("countries")} == {
        "TH": "domain", "GB": "domain", ".com": "unknown", ".?": "unknown",
    }  # fmt: skip
    assert "No IP database was given" in found.text


def test_domains_of_countries() -> None:
    assert [country_of_tld(t) for t in ("th", "uk", "eu", "com", "xn--o3cw4h", "", None)] == [
        "TH", "GB", None, None, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.mmdb", b"no database", "can't read the IP database"),
        ("a.csv", b"1.2.3.4,1.2.3.9\n", "a row must be"),
        ("a.csv", b"1.2.3.x,1.2.3.9,TH\n", "can't read the IP database"),
        ("a.csv", b"2.0.0.0,2.0.0.9,TH\n1.0.0.0,1.0.0.9,LA\n", "isn't sorted"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\xff\xfe", "can't read the IP database"),
        ("b.mmdb", None, "can't read the IP database"),
        ("b.csv", None, "can't read the IP database"),
    ],
)
def test_databases_that_can_not_be_read(
    tmp_path: Path, name: str, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AnalysisError, match=complaint):
        open_database(path)
