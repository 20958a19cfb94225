"""The report's section of servers that answered and gave no page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lswc.lab.analysis.pageless import section

if TYPE_CHECKING:
    from pathlib import Path


def test_servers_stand_in_the_order_of_the_summary(tmp_path: Path) -> None:
    first = [
        {"name": "wall.th", "reasons": {"cookie wall": 3}, "linked": 2, "in_tld": True},
        {"name": "a.com", "reasons": {"not HTML": 1, "status 404": 2}, "linked": 0, "in_tld": 0},
    ]  # fmt: skip
    told = {"without_page": {"servers": 7, "reasons": {}, "first": first}}
    (tmp_path / "summary.json").write_text(json.dumps(told))
    found = section([tmp_path])
    (table,) = found.tables
    assert table.rows == [
        ("wall.th", "cookie wall 3", 3, 2, "yes"),
        ("a.com", "not HTML 1, status 404 2", 3, 0, ""),
    ]
    assert "7 servers" in found.findings[0]


def test_without_a_summary_there_are_none(tmp_path: Path) -> None:
    assert section([tmp_path]).findings == ("There are none.",)
    assert section([]).tables == ()
    (tmp_path / "summary.json").write_text("{")
    assert section([tmp_path]).tables == ()
