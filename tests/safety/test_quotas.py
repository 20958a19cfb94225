"""When enough is taken of a server or of a registered domain."""

from __future__ import annotations

import pytest

from lswc.outcomes import Outcome
from lswc.safety.quotas import Quota, Quotas, Taken, reached

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


def test_the_stricter_of_two_quotas() -> None:
    assert Quota(10, 0).stricter(Quota(0, 5)) == Quota(10, 5)
    assert Quota(10, 7).stricter(Quota(3, 9)) == Quota(3, 7)
    assert Quota().stricter(Quota()) == Quota()
