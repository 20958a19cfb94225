"""What responses ask for; how it is obeyed is in tests/hostile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Response

from lswc.politeness import retry_after, robots_tag


def response(**headers: str) -> Response:
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("http://a.example/", headers=fields)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), (" 7 ", 7), ("Fri, 31 Dec 1999 23:59:59 GMT", 0), ("soon", None),
     ("-5", None), ("1.5", None), ("", None), ("99999-99-99", None)],
)  # fmt: skip
def test_retry_after(value: str, seconds: float | None) -> None:
    assert retry_after(response(Retry_After=value)) == seconds


def test_retry_after_a_date_to_come() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    asked = retry_after(response(Retry_After=later))
    assert asked is not None
    assert 3000 < asked <= 3600


def test_no_retry_after() -> None:
    assert retry_after(response()) is None


@given(st.text())
def test_any_value_gets_an_answer(value: str) -> None:
    answer = retry_after(response(Retry_After=value))
    assert answer is None or answer >= 0


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("noindex, NoFollow", {"noindex", "nofollow"}),
        ("lswc: noarchive", {"noarchive"}),
        ("LSWC : noarchive, nofollow", {"noarchive", "nofollow"}),
        ("otherbot: noindex", set()),
        ("otherbot: noindex, nofollow", set()),
        ("nofollow, otherbot: noindex, lswc: noarchive", {"nofollow", "noarchive"}),
        ("max-snippet: 20, noindex", {"max-snippet: 20", "noindex"}),
        (
            "unavailable_after: Wed, 25 Jun 2110 15:00:00 PST, none",
            {"unavailable_after: wed", "25 jun 2110 15:00:00 pst", "none"},
        ),
        ("", {""}),
    ],
)
def test_robots_tag(value: str, told: set[str]) -> None:
    assert robots_tag(response(X_Robots_Tag=value)) == told
