"""The official test cases of the WHATWG URL Standard, as httpx's source distribution has them.

``make test`` fetches them.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import can_ada
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.base_url import Base
from lswc.urls import parse

TABLE = Path(sys.prefix) / "whatwg.json"

if not TABLE.is_file():
    pytest.skip(f"{TABLE} is missing: make test fetches it", allow_module_level=True)

CASES: list[dict[str, Any]] = [
    case for case in json.loads(TABLE.read_text(encoding="utf-8")) if isinstance(case, dict)
]

SURROGATE = re.compile("[\ud800-\udfff]")

NO_NAMES = {"http://./", "http://../", "http://foo.09.."}
"""Hosts that the standard lets pass and no crawl can: their last label but the root's is empty."""

HREF = re.compile(
    r"(?P<scheme>https?)://(?:[^/@]*@)?(?P<host>\[[^]]*\]|[^:/]*?)\.?(?::(?P<port>\d+))?"
    r"(?P<path>/[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?"
)


def plain(text: str) -> str:
    """Return text with escapes as RFC 3986 has them (§2, §6.2.2)."""

    def escape(found: re.Match[str]) -> str:
        char = bytes.fromhex(found[0][1:]).decode("latin-1")
        return char if re.match(r"[A-Za-z0-9._~-]", char) else found[0].upper()

    return quote(re.sub(r"%[0-9A-Fa-f]{2}", escape, text), safe="%!$&'()*+,;=:@/?")


def expected(case: dict[str, Any]) -> object:
    """Return scheme, host, port, path and query of a canonical URL, or why there is none."""
    if case.get("failure") or case["input"] in NO_NAMES:
        return None
    href = HREF.fullmatch(case["href"])
    if href is None:
        return case["protocol"].removesuffix(":")
    scheme, host, port, path, query = href.groups(default="")
    usual = {"http": 80, "https": 443}[scheme]
    return scheme, host, int(port or usual), plain(path), plain(query)


def seen(base: str, href: str) -> object:
    """Return the same of what lswc makes of it."""
    url = parse(Base(base).join(href))
    if url is None or not url.href.startswith(("http:", "https:")):
        return url and url.scheme
    query = f"?{url.query}" if url.query else ""
    assert url.href == f"{url.scheme}://{url.server}{url.path}{query}"
    return url.scheme, url.hostname, url.port, url.path, url.query


def test_the_table_is_whole() -> None:
    assert len(CASES) == 835
    assert len([case for case in CASES if case.get("failure")]) == 272


def test_each_case() -> None:
    for case in CASES:
        assert seen(case["base"] or "", case["input"]) == expected(case), case


@given(st.sampled_from(CASES), st.sampled_from(CASES), st.data())
def test_parsing_again_changes_nothing(
    case: dict[str, Any], other: dict[str, Any], data: Any
) -> None:
    address, rest = case.get("href", case["input"]), other["input"]
    head = data.draw(st.integers(0, len(address)))
    tail = data.draw(st.integers(0, len(rest)))
    for changed in (address, address[:head] + rest[tail:]):
        url = parse(changed)
        assert url is None or parse(url.href) == url


@given(st.sampled_from(CASES), st.sampled_from(CASES))
def test_links_resolve_to_any_base_as_by_the_parser_alone(
    link: dict[str, Any], page: dict[str, Any]
) -> None:
    base = page.get("href", page["input"])
    try:
        joined = (can_ada.parse(base) + SURROGATE.sub("\ufffd", link["input"])).href
    except ValueError:
        joined = link["input"]
    assert parse(Base(base).join(link["input"])) == parse(joined)
