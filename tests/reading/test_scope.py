from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.scope import Scope, TrapShape
from lswc.safety.address import Networks
from lswc.urls import Url

OPEN = Scope(0, 0)
WEB = Scope(0, 0, (), Networks.of(["10.0.0.0/8"], [80, 443, 8080]), TrapShape(repeats=3))


@pytest.mark.parametrize(
    ("address", "depth", "reason"),
    [
        ("http://www.example.th/", 2, None),
        ("https://a.www.example.th/x", 2, None),
        ("http://example.th/", 0, "domain not allowed"),
        ("http://notwww.example.th/", 0, "domain not allowed"),
        ("http://www.example.th/", 3, "depth"),
        ("http://www.example.th/".ljust(60, "x"), 0, None),
        ("http://www.example.th/".ljust(61, "x"), 0, "URL too long"),
        ("http://www.example.th/?utm_source=" + "x" * 100, 0, None),
        ("http://www.example.th/?utm_source=" + "x" * 300, 0, "URL too long"),
        ("http://" + "一" * 100 + ".example.th/", 0, "URL too long"),
        ("ftp://www.example.th/", 0, "scheme"),
        ("mailto:a@www.example.th", 0, "scheme"),
        ("javascript:void(0)", 0, "scheme"),
        ("file:///etc/passwd", 0, "scheme"),
        ("http://", 0, "invalid URL"),
        ("/relative", 0, "invalid URL"),
    ],
)
def test_reason_why_a_link_is_out_of_scope(address: str, depth: int, reason: str | None) -> None:
    found = Scope(2, 60, ("www.example.th",)).check(address, depth)
    assert isinstance(found, Url) if reason is None else found == reason


def test_limits_are_off_at_zero() -> None:
    assert isinstance(OPEN.check("http://a.example/" + "x" * 100_000, 1_000_000), Url)


@given(st.text(), st.integers(0, 20))
def test_any_text_gets_an_answer(address: str, depth: int) -> None:
    found = OPEN.check(address, depth)
    assert isinstance(found, (Url, str))
    assert isinstance(found, str) or found.href.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://a.example:8080/", None),
        ("https://a.example/", None),
        ("http://10.1.1.1/", None),
        ("http://8.8.8.8/", None),
        ("http://a.example:8081/", "port"),
        ("http://192.168.0.1/", "address not public"),
        ("http://[::1]/", "address not public"),
        ("http://a.example/x/x/x/x", "repeated path segment"),
    ],
)
def test_ports_addresses_and_traps(address: str, reason: str | None) -> None:
    found = WEB.check(address, 0)
    assert isinstance(found, Url) if reason is None else found == reason
