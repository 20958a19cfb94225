"""The page index: what is found in it, and that no fault of it is a crawl's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lswc.archive import page_index
from lswc.archive.page_index import (
    FILE,
    Collected,
    PageIndex,
    Writer,
    row,
)
from lswc.archive.page_search import COMPARED, Asked, PageSearch, opened
from lswc.archive.page_terms import normal, pieces, words
from lswc.errors import ConfigError, DamageError, StorageError
from tests.scenarios.site import BRAKE

AT = 1_700_000_000.0
NOTHING = words("")
ANY = st.text(st.characters(), max_size=60)


def record(url: str = "http://a.co.th/", title: str = "", **more: Any) -> dict[str, Any]:
    at = "2026-11-28T10:00:00.000+00:00"
    known = {"kind": "html", "language": "th", "relevant": True, "status": 200, "visit": 1}
    return {"url": url, "title": title, "time": at, **known, **more}


def page(text: str, url: str = "http://a.co.th/", title: str = "", **more: Any) -> Collected:
    return Collected(record(url, title, **more), text, len(text), archived=True)


def index(*pages: Collected, at: float = AT) -> tuple[Writer, PageSearch]:
    writer = Writer(Path(":memory:"))
    for number, one in enumerate(pages):
        writer.put([row(one)], None, at=at + number)
    return writer, PageSearch([writer._db])


def urls(search: PageSearch, text: str = "", **more: Any) -> list[str]:
    return [one.url for one in search.find(Asked(words(text), **more), 100).pages]


@given(ANY, ANY)
@example("\ud800\0", "a\0b")
def test_any_title_and_text_are_kept_as_they_are_and_found(title: str, text: str) -> None:
    _, search = index(page(text, title=title))
    (found,) = search.find(Asked(NOTHING), 9).pages
    as_kept = text.strip().encode("utf-8", "replace").decode()
    assert (found.title, found.text) == (title.encode("utf-8", "replace").decode(), as_kept)
    for piece in pieces(normal(f"{title} {text}")):
        assert urls(search, piece)


@given(ANY)
@example("\" OR word:* NEAR(a b, 2) ^x {terms}: -y'; DROP TABLE page; --")
@example('"' * 999)
@example("ก" * 10_000)
@example(" ".join(map(str, range(2_000))))
def test_no_words_that_are_looked_for_are_a_fault(text: str) -> None:
    _, search = index(page("a b"))
    search.find(Asked(words(text), site=text[:99], language=text[:99], kind=text[:99]), 9)
    search.count(Asked(words(text)))


@pytest.mark.parametrize(
    ("text", "found", "others"),
    [
        ("ภาษาไทยเป็นภาษาที่มีผู้พูดมากที่สุด", ("ภาษา", "ไทย", "ผู้พูด", "ก"), ("พูดไทย", "ข่าว")),
        ("ພາສາລາວເປັນພາສາທີ່ໃຊ້", ("ລາວ", "ພາສາລາວ"), ("ໄທ", "ລາວພາສາ")),
        ("ភាសាខ្មែរ\u200bជាភាសា", ("ខ្មែរ", "ខ្មែរជា", "ភាសា\u200bខ្មែរ"), ("ថៃ", "ជាខ្មែរ")),
        ("မြန်မာဘာသာစကားသည်", ("ဘာသာ", "မြန်မာ"), ("ထိုင်း", "စကားဘာသာ")),
        ("吾輩は猫である。名前はまだ無い", ("猫", "名前", "である"), ("犬", "猫は")),
        ("中文分词很难", ("分词", "很难"), ("难分",)),
        ("한국어를 배운다", ("한국어", "배운다"), ("일본어",)),
        ("Tiếng Việt rất đẹp", ("việt", "RẤT đẹp", '"tiếng việt"'), ("viet", '"việt tiếng"')),
        ("हिन्दी भाषा", ("हिन्दी",), ("हिन्द",)),
        ("ﬁne Ｗｉｄｅ Straße", ("fine", "wide", "STRASSE"), ("ﬁ", "str")),
        ("example.co.th foo-bar", ("co.th", "foo-bar"), ("th.co", "bar-foo")),
    ],
)
def test_words_are_found_in_running_text(
    text: str, found: tuple[str, ...], others: tuple[str, ...]
) -> None:
    _, search = index(page(text))
    assert [one for one in found if not urls(search, one)] == []
    assert [one for one in others if urls(search, one)] == []


def test_a_phrase_is_of_the_title_or_of_the_text() -> None:
    _, search = index(page("silk is sold", title="Thai"))
    assert urls(search, "thai silk")
    assert not urls(search, '"thai silk"')
    assert urls(search, '"silk is"')
    assert not urls(search, "thai wool")


def test_a_page_that_is_visited_again_takes_the_place_of_what_it_was() -> None:
    writer, search = index(page("old ข่าวเก่า", url="http://a.co.th/x"), page("b", "http://b.co.th/"))
    writer.put([row(page("new ข่าวใหม่", "http://a.co.th/x", visit=2, language="lo"))], 7, at=AT)
    assert urls(search) == ["http://a.co.th/x", "http://b.co.th/"]
    assert (
        urls(search, "new")
        == urls(search, "ใหม่")
        == urls(search, language="lo")
        == urls(search)[:1]
    )
    assert not urls(search, "old")
    assert not urls(search, "เก่า")
    assert search.tallies()["l", "th"] == 1
    late = row(page("late", "http://a.co.th/x", visit=1))
    writer.put([late], 9)
    assert not urls(search, "late"), "the record tells it again, without its text"
    terms = writer._db.execute("SELECT count(*) FROM word WHERE word MATCH 'old'").fetchone()
    assert terms == (0,), "nothing of it is left in the index of words"


def test_pages_are_found_by_what_they_are_and_when_they_came() -> None:
    _, search = index(
        page("a", "http://www.a.co.th/"),
        page("a", "http://b.a.co.th/x.pdf", kind="pdf", relevant=False),
        page("a", "http://c.example/", language=None, relevant=None, reason="linked"),
    )
    a, b, c = "http://www.a.co.th/", "http://b.a.co.th/x.pdf", "http://c.example/"
    assert urls(search, site="a.co.th") == [b, a]
    assert urls(search, site="b.a.co.th", kind="pdf") == [b]
    assert urls(search, "a", judged="relevant") == [a]
    assert urls(search, judged="linked", language="und") == [c]
    assert urls(search, since=int(1000 * AT) + 1000) == [c, b]
    assert urls(search, "a", until=int(1000 * AT) + 1000) == [a]
    assert search.count(Asked(words("a"))) == 3


def test_a_list_goes_on_both_ways_over_the_folders_of_all_workers() -> None:
    one = index(*(page("a", f"http://a.example/{n}") for n in range(20)))[0]
    two = index(*(page("a", f"http://b.example/{n}") for n in range(20)), at=AT + 0.5)[0]
    search = PageSearch([one._db, two._db])
    for asked in (Asked(NOTHING), Asked(words("a"))):
        seen, before = [], 0
        while True:
            found = search.find(asked, 7, before=before)
            seen += [one.id for one in found.pages]
            before = found.pages[-1].id
            if not found.has_older:
                break
        assert len(seen) == 40
        assert seen == sorted(seen, reverse=True)
        up = search.find(asked, 7, after=seen[20])
        assert [one.id for one in up.pages] == seen[13:20]
        assert up.has_newer
        assert not search.find(asked, 13, after=seen[13]).has_newer


def test_a_search_that_compares_many_texts_says_how_far_it_came() -> None:
    writer, search = index(page("b a", "http://a.example/first"))
    rows = [row(page("a b", f"http://a.example/{n}")) for n in range(COMPARED + 5)]
    writer.put(rows, None, at=AT + 9)
    found = search.find(Asked(words('"b a"')), 9)
    assert not found.pages
    assert found.reached is not None
    assert urls(search, '"b a"', until=found.reached) == ["http://a.example/first"]


class Counts(dict[str, int]):
    def __call__(self, name: str, number: int) -> None:
        self[name] = self.get(name, 0) + number


def closed(crawl: Path, *pages: Collected) -> Counts:
    """Index pages as a crawl does; return what it counts."""
    counts = Counts()
    running = PageIndex(crawl, counts)
    running.waiting.extend(pages)
    running.close()
    return counts


def listed(crawl: Path, text: str = "") -> list[tuple[str, str]]:
    with opened([crawl]) as search:
        return [(one.url, one.text) for one in search.find(Asked(words(text)), 99).pages]


def test_what_a_kill_kept_out_of_the_index_comes_from_the_record(tmp_path: Path) -> None:
    lines = [json.dumps(record(f"http://a.example/{n}", "ข่าว")) + "\n" for n in range(5)]
    (tmp_path / "pages.jsonl").write_text("".join(lines[:2]))
    first = page("a", "http://a.example/0")._replace(until=len(lines[0].encode()))
    assert not closed(tmp_path, first)
    (tmp_path / "pages.jsonl").write_text("".join(lines[:4]) + "{torn\n" + lines[4][:9])
    assert not closed(tmp_path)
    found = sorted(listed(tmp_path))
    assert found == [(f"http://a.example/{n}", "a" if n == 0 else "") for n in range(4)]
    assert len(listed(tmp_path, "ข่าว")) == 3


@pytest.mark.parametrize("fault", ["damaged", "folder", "another version"])
def test_an_index_that_cant_be_written_is_told_once_and_counted(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    if fault == "damaged":
        (tmp_path / FILE).write_bytes(b"no database" * 999)
    elif fault == "folder":
        (tmp_path / FILE).mkdir()
    else:
        Writer(tmp_path / FILE).close()
        with sqlite3.connect(tmp_path / FILE) as db:
            db.execute("UPDATE about SET value = 99")
    assert closed(tmp_path, page("a"), page("b")) == {"lswc/page index/left out": 2}
    assert len([one for one in caplog.messages if "the crawl goes on" in one]) == 1
    assert f"lswc index {tmp_path}" in caplog.text
    with pytest.raises((DamageError, StorageError, ConfigError), match=FILE):
        listed(tmp_path)


def test_pages_wait_while_another_process_writes_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(page_index, "TURN", 0.01)
    monkeypatch.setattr(page_index, "_BUSY", 0.01)
    counts = Counts()
    running = PageIndex(tmp_path, counts)
    running.waiting.append(page("a"))
    end = monotonic() + BRAKE
    while running.waiting and monotonic() < end:
        sleep(0.01)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        running.waiting.append(page("b", "http://b.example/"))
        while "the crawl goes on" not in caplog.text and monotonic() < end:
            sleep(0.01)
        db.execute("ROLLBACK")
    running.close()
    assert "locked" in caplog.text
    assert not counts
    assert len(listed(tmp_path)) == 2


def test_only_what_cant_have_a_row_is_left_out(tmp_path: Path) -> None:
    wrong = Collected({"url": "http://b.example/", "time": "yesterday"})
    assert closed(tmp_path, wrong, page("a")) == {"lswc/page index/left out": 1}
    assert listed(tmp_path) == [("http://a.co.th/", "a")]
