"""When enough is taken of a server or of a registered domain."""

from __future__ import annotations

import pytest

from lswc.outcomes import Outcome
from lswc.safety.server_limits import Quota, Quotas, Taken, reached

QUOTAS = Quotas(Quota(10, 1000), Quota(30, 2000))


@pytest.mark.parametrize(
    ("server", "domain", "expected"),
    [
        (Taken(9, 999), Taken(29, 1999), None),
        (Taken(10, 0), Taken(10, 0), Outcome.SERVER_PAGES),
        (Taken(0, 1000), Taken(0, 1000), Outcome.SERVER_BYTES),
        (Taken(1, 1), Taken(30, 1), Outcome.SITE_PAGES),
        (Taken(1, 1), Taken(1, 2000), Outcome.SITE_BYTES),
    ],
)
def test_a_quota_is_reached(server: Taken, domain: Taken, expected: Outcome | None) -> None:
    assert reached(QUOTAS, server, domain) == expected
    assert reached(Quotas(), server, domain) is None


def test_one_page_or_one_byte_may_be_enough() -> None:
    assert reached(Quotas(Quota(1, 0)), Taken(1, 9), Taken(1, 9)) == Outcome.SERVER_PAGES
    assert reached(Quotas(Quota(0, 1)), Taken(1, 1), Taken(1, 1)) == Outcome.SERVER_BYTES
    assert reached(Quotas(Quota(1, 0)), Taken(0, 9), Taken(9, 9)) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (Quotas(), Quotas(Quota(10, 100), Quota(50, 0))),
        (Quotas(Quota(20), Quota()), Quotas(Quota(20, 100), Quota(50, 0))),
        (Quotas(Quota(70, 7), Quota()), Quotas(Quota(70, 7), Quota(70, 0))),
        (Quotas(Quota(), Quota(30, 300)), Quotas(Quota(30, 300), Quota(30, 300))),
        (Quotas(Quota(5), Quota(30)), Quotas(Quota(5, 100), Quota(30, 0))),
    ],
)
def test_what_is_said_holds_instead(said: Quotas, expected: Quotas) -> None:
    assert Quotas(Quota(10, 100), Quota(50, 0)).unless(said) == expected


def test_what_is_said_of_a_server_has_room_in_its_domain() -> None:
    quotas = Quotas(Quota(10, 100), Quota(50, 500))
    assert quotas.unless(Quotas(Quota(70, 700))).domain == Quota(70, 700)
    assert quotas.unless(Quotas(Quota(20, 700))).domain == Quota(50, 700)
    assert quotas.unless(Quotas(Quota(20, 200))).domain == Quota(50, 500)
