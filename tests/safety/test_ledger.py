"""Near-duplicates and page counts."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.safety import duplicates
from lswc.safety.duplicates import DISTANCE, EXAMINED, Seen, similarity_hash
from lswc.safety.ledger import Ledger, pattern
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from pathlib import Path

NEWS = "".join(random.Random(1).choices("กขคงจฉชซญดตถทนบปผพฟมยรลวสหอาเแโใไ", k=2000))


def url(address: str) -> Url:
    parsed = parse(address)
    assert parsed is not None
    return parsed


@given(st.text())
def test_any_text_has_a_hash_of_64_bits(text: str) -> None:
    assert 0 <= similarity_hash(text) < 2**64
    assert similarity_hash(text) == similarity_hash(text)


def test_a_date_makes_no_other_page_and_other_words_do() -> None:
    seen = Seen(100)
    assert not seen.add(f"{NEWS} 1 มกราคม 2569")
    assert seen.add(f"{NEWS} 31 มกราคม 2570")
    assert seen.add(f"{NEWS} 31 มกราคม 2570 หน้าแรก")
    assert not seen.add("The weather of today is nothing like that of last year, says the office.")


def test_distance_counts_differing_bits() -> None:
    first, second = similarity_hash(NEWS), similarity_hash(NEWS[:1000] + "ข่าว" + NEWS[1001:])
    assert (first ^ second).bit_count() <= DISTANCE
    assert (first ^ similarity_hash("entirely different words")).bit_count() > DISTANCE


@pytest.mark.parametrize(("bits", "is_found"), [(DISTANCE, True), (DISTANCE + 1, False)])
def test_near_duplicates_differ_in_three_bits_at_most(
    bits: int, is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duplicates, "similarity_hash", lambda text: int(text, 2))
    seen = Seen(10)
    seen.add("0" * 64)
    assert seen.add("1" * bits) is is_found


def test_only_the_beginning_of_a_text_is_examined() -> None:
    text = ("x" * 5 + "y" * 5) * (EXAMINED // 10)
    assert similarity_hash(text) == similarity_hash(text + NEWS)
    assert similarity_hash(NEWS + text) != similarity_hash(text)


def test_the_oldest_hashes_are_forgotten() -> None:
    seen = Seen(2)
    texts = ["first page of all " * 9, "another, about rice " * 9, "a third, on rain " * 9]
    assert [seen.add(text) for text in texts] == [False] * 3
    assert not seen.add(texts[0])
    assert seen.add(texts[2])


def test_a_directory_is_closed_by_near_duplicates_in_a_row() -> None:
    ledger = Ledger(duplicates=3)
    assert not ledger.add(url("http://a.example/cal/2026/1/"), NEWS)
    for month in (2, 3):
        assert ledger.add(url(f"http://a.example/cal/2026/{month}/"), f"{NEWS}{month}")
    assert ledger.closed(url("http://a.example/cal/2027/1/")) is None
    ledger.add(url("http://a.example/cal/2026/4/"), NEWS)
    assert ledger.closed(url("http://a.example/cal/2027/1/")) == "near-duplicates in directory"
    assert ledger.closed(url("http://a.example/news/1.html")) is None
    assert ledger.closed(url("http://b.example/cal/2027/1/")) is None


def test_a_new_page_ends_the_row() -> None:
    ledger = Ledger(duplicates=2)
    for n in range(20):
        ledger.add(url(f"http://a.example/{n}"), NEWS if n % 2 else "new words " * n + chr(97 + n))
    assert ledger.closed(url("http://a.example/")) is None


def test_a_mirror_is_closed_whatever_its_directories() -> None:
    ledger = Ledger(duplicates=2)
    for n in range(5):
        assert ledger.closed(url("http://a.example/other/")) is None
        ledger.add(url(f"http://a.example/{chr(97 + n)}/"), NEWS)
    assert ledger.closed(url("http://a.example/other/")) == "near-duplicates on server"


def test_wildcard_hosts_are_closed_together() -> None:
    ledger = Ledger(duplicates=1)
    for n in range(5):
        assert ledger.closed(url("http://other.farm.co.th/")) is None
        ledger.add(url(f"http://n{n}.farm.co.th/"), NEWS)
    assert ledger.closed(url("http://other.farm.co.th/")) == "near-duplicates on site"
    assert ledger.closed(url("http://www.news.co.th/")) is None


@pytest.mark.parametrize(
    ("limits", "reason"),
    [((3, 0), "server's page limit"), ((0, 3), "directory's page limit")],
)
def test_page_limits(limits: tuple[int, int], reason: str) -> None:
    ledger = Ledger(*limits)
    for n in range(3):
        assert ledger.closed(url("http://a.example/d/x")) is None
        ledger.add(url(f"http://a.example/d/{n}"), "")
    assert ledger.closed(url("http://a.example/d/x")) == reason
    assert (ledger.closed(url("http://a.example/e/x")) is None) == (limits[0] == 0)


def test_earlier_runs_count(tmp_path: Path) -> None:
    records = tmp_path / "pages.jsonl"
    lines = [json.dumps({"url": f"http://a.example/{n}"}) for n in range(3)]
    records.write_text("\n".join([*lines, '{"url": "http://to']))
    ledger = Ledger(server_pages=3)
    ledger.load(records)
    assert ledger.closed(url("http://a.example/")) == "server's page limit"


def test_numbers_make_no_other_directory() -> None:
    first = pattern(url("http://a.example/2026/11/?day=1&view=list"))
    assert first == pattern(url("http://a.example/1999/1/?day=30&view=week"))
    assert first != pattern(url("http://a.example/2026/11/?day=1"))
