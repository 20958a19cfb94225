from __future__ import annotations

import pytest

from lswc.reading.opt_outs import robots_words


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
def test_what_a_header_says_to_this_robot(value: str, told: set[str]) -> None:
    assert robots_words([value]) == told


def test_a_robots_name_counts_for_its_own_header_only() -> None:
    assert robots_words(["otherbot: noindex", "nofollow"]) == {"nofollow"}
