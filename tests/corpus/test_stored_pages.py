"""Every page that a crawl kept is in its corpus, or counted: whatever shape it came in."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.cdxj import DOM
from lswc.archive.run_settings import SETTINGS
from lswc.archive.warc_writer import IDENTICAL, NOT_MODIFIED
from lswc.corpus.documents import COPY, EMPTY, OTHER_LANGUAGE
from lswc.corpus.quality import MEASURES, SCORE
from lswc.corpus.writing import OPTED_OUT, Counts, write
from lswc.crawl.web.recorded import WarcWeb
from lswc.lab.methods.page_sources import pages as sources
from lswc.seeds.candidates import Asked
from lswc.seeds.formats.warc_pages import read as read_seeds
from tests.archive.wire import record, response, shapes
from tests.scenarios.site import ENGLISH, THAI

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://a.example/"
BODY = f"<title>ข่าว</title><p>{THAI * 3}</p>".encode()
SHAPES = {name: block for name, block in shapes(BODY).items() if not name.startswith("unknown")}


def page(
    name: str,
    block: bytes,
    kind: str = "response",
    about: str = "",
    host: str = "a.example",
    **headers: str,
) -> list[bytes]:
    """Return the records of a page that a crawl kept."""
    url = f"http://{host}/{name}"
    fields = f"outcome: html\r\nkind: html\r\nencoding: utf-8\r\n{about}".encode()
    return [record(url, block, kind, **headers), record(url, fields, "metadata")]


def crawl(folder: Path, pages: list[list[bytes]], indexed: int | None = None) -> Path:
    """Make a crawl folder with the records of pages, and an index of so many."""
    (folder / "warc").mkdir(parents=True)
    members = [gzip.compress(one) for records in pages for one in records]
    (folder / "warc" / "th-1.warc.gz").write_bytes(b"".join(members))
    number = len(pages) if indexed is None else indexed
    lines = (b'k 20260101000000 {"url": "%d", "offset": "0"}\n' % n for n in range(number))
    (folder / "warc" / "th-1.cdxj").write_bytes(b"".join(lines))
    about = {"language": "th", "LSWC_OPT_OUT": "skip-corpus", "LSWC_RECRAWL": []}
    (folder / SETTINGS).write_text(json.dumps(about))
    return folder


def counted(folder: Path) -> Counts:
    """Write a corpus; return what became of the pages, of which none is left without a word.

    Each that was read is a row, or left out for one reason: in all, of each host, and so it is in
    the manifest.
    """
    total, hosts, *_ = write([folder], folder / "out")
    sums = Counts()
    for counts in (total, *hosts.values()):
        assert counts.read == counts.rows + counts.left_out.total()
        assert counts.duplicates.total() <= counts.rows
        if counts is not total:
            sums.add(counts)
    assert total == sums
    rows = pq.read_table(folder / "out" / "corpus-00000.parquet").to_pylist()
    by_host = Counter(urlsplit(row["url"]).hostname for row in rows)
    assert by_host == Counter({host: counts.rows for host, counts in hosts.items()})
    about = json.loads((folder / "out" / "manifest.json").read_text("utf-8"))
    assert about.pop("hosts") == {host: vars(counts) for host, counts in hosts.items()}
    assert about.pop("versions") == "latest"
    assert about.pop("programs") == []
    assert about.pop("without") == {}
    assert about.pop("limits").keys() <= {*MEASURES, SCORE}
    assert about.pop("generated_sites") == {}
    for one in about.pop("files"):
        path = folder / "out" / one["name"]
        assert one["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (one["bytes"], one["rows"]) == (path.stat().st_size, total.rows)
    assert about == vars(total)
    return replace(total, letters=Counter())


def test_a_page_of_any_shape_is_in_the_corpus(tmp_path: Path) -> None:
    pages = [page(f"{n}", block) for n, block in enumerate(SHAPES.values())]
    written = counted(crawl(tmp_path, pages))
    rows = pq.read_table(tmp_path / "out" / "corpus-00000.parquet").to_pylist()
    assert [row["url"] for row in rows] == [f"{URL}{n}" for n in range(len(SHAPES))]
    assert {row["text"] for row in rows if row["duplicate"] is None} == {(THAI * 3).strip()}
    assert written == Counts(len(rows), len(rows), Counter(exact=len(rows) - 1))


def test_a_crawl_of_two_workers_has_one_corpus(tmp_path: Path) -> None:
    """The same text is a duplicate, whoever fetched it; a worker may have archived nothing."""
    folders = [crawl(tmp_path / name, [page(name, response(BODY))]) for name in ("one", "two")]
    idle = crawl(tmp_path / "idle", [])
    (idle / "warc" / "th-1.warc.gz").unlink()
    total = write([*folders, idle], tmp_path / "out").total
    assert replace(total, letters=Counter()) == Counts(2, 2, Counter(exact=1))


def test_a_page_is_what_a_browser_showed_of_it_and_of_no_other(tmp_path: Path) -> None:
    other = "หน้าที่เบราว์เซอร์แสดงหลังจากสคริปต์ทำงานแล้วมีข้อความอื่น " * 3
    shown = f"<p>{other}</p>".encode()
    pages = []
    for name, of in (("1", "1"), ("2", "1")):
        stored, about = page(name, response(BODY))
        pages.append([stored, record(f"{DOM}{URL}{of}", shown, "resource"), about])
    counted(crawl(tmp_path, pages))
    rows = pq.read_table(tmp_path / "out" / "corpus-00000.parquet").to_pylist()
    assert [row["text"] for row in rows] == [other.strip(), (THAI * 3).strip()]


def test_each_line_of_a_document_is_a_paragraph(tmp_path: Path) -> None:
    text = f"{THAI * 3}\n\n  {ENGLISH * 3}\n{THAI * 2}\n".encode()
    url, block = f"{URL}a.txt", response(text).replace(b"text/html", b"text/plain")
    fields = b"outcome: document\r\nkind: text\r\nencoding: utf-8\r\n"
    stored = [record(url, block), record(url, fields, "metadata")]
    assert counted(crawl(tmp_path, [stored])) == Counts(1, 1)
    (row,) = pq.read_table(tmp_path / "out" / "corpus-00000.parquet").to_pylist()
    lines = [(THAI * 3).strip(), (ENGLISH * 3).strip(), (THAI * 2).strip()]
    assert (row["kind"], row["text"].split("\n")) == ("text", lines)
    assert [one["language"] for one in row["segments"]] == ["tha", "eng", "tha"]


def test_every_page_is_a_row_or_counted_once(tmp_path: Path) -> None:
    same = {"WARC_Profile": IDENTICAL}
    unchanged = {"WARC_Profile": NOT_MODIFIED, "WARC_Refers_To_Target_URI": f"{URL}gone"}
    head = response(b"")
    pages = [
        page("1", response(BODY)),
        page("2", response(BODY + b"<!-- -->")),
        page("3", response(BODY), about="opt-out: noai (META)\r\n"),
        page("4", head, "revisit", WARC_Refers_To_Target_URI=f"{URL}1", **same),
        page("5", head, "revisit", WARC_Refers_To_Target_URI=f"{URL}3", **same),
        page("6", response(f"<p>{ENGLISH * 9}</p>".encode())),
        page("7", response(b"")),
        page("8", head, "revisit", WARC_Refers_To_Target_URI=f"{URL}6", **same),
        page("9", head, "revisit", **unchanged),
        page("10", response(f"<p>{THAI * 9}</p>".encode())),
        page("11", response(b""), host="b.example"),
        page("12", response(f"<p>{THAI * 12}</p>".encode()), host="b.example"),
    ]
    broken = gzip.compress(page("13", response(BODY))[0])
    folder = crawl(tmp_path, pages, indexed=len(pages) + 1)
    with (folder / "warc" / "th-1.warc.gz").open("ab") as file:
        file.write(broken[:-8] + b"\0\0\0\0" + broken[-4:])
    left_out = Counter({OPTED_OUT: 2, OTHER_LANGUAGE: 1, EMPTY: 2, COPY: 1})
    found = counted(folder)
    assert found.opt_outs.total() == 2
    duplicates = Counter(exact=2, near=2)
    assert found == Counts(11, 5, duplicates, left_out, found.opt_outs, unreadable=2)
    about = json.loads((folder / "out" / "manifest.json").read_text("utf-8"))
    assert list(about["hosts"]) == ["a.example", "b.example", ""]
    rows = pq.read_table(folder / "out" / "corpus-00000.parquet").to_pylist()
    (copy,) = (row for row in rows if row["url"] == f"{URL}4")
    assert copy["date"] == datetime(2026, 1, 1, tzinfo=UTC)
    of_record = ("id", "date", "file", "offset")
    assert {name: value for name, value in copy.items() if value and name not in of_record} == {
        "url": f"{URL}4", "kind": "html", "language": "tha", "encoding": "utf-8",
        "duplicate": "exact", "duplicate_of": f"{URL}1", "minhash_cluster_size": 5, "visit": 1,
        "cluster_id": next(row["id"] for row in rows if row["url"] == f"{URL}1"),
    }  # fmt: skip


@pytest.mark.parametrize("at", [0, 1, 3])
@pytest.mark.parametrize("which", [[0], [1], [1, 2]])
def test_a_damaged_page_is_not_the_end(tmp_path: Path, at: int, which: list[int]) -> None:
    pages = [page(f"{n}", response(f"<p>{THAI * (n + 3)}</p>".encode())) for n in range(4)]
    folder = crawl(tmp_path, pages)
    members = [gzip.compress(one) for records in pages for one in records]
    damaged = [2 * at + one for one in which if 2 * at + one < len(members)]
    for one in damaged:
        members[one] = members[one][:-8] + b"\0\0\0\0" + members[one][-4:]
    (folder / "warc" / "th-1.warc.gz").write_bytes(b"".join(members))
    written = counted(folder)
    lost = {f"{URL}{one // 2}" for one in damaged}
    rows = pq.read_table(tmp_path / "out" / "corpus-00000.parquet").to_pylist()
    assert not lost & {row["url"] for row in rows}
    assert (written.read, written.unreadable) == (4 - len(lost), len(damaged))


def test_what_is_lost_has_its_host_if_anything_says_it(tmp_path: Path) -> None:
    unchanged = {"WARC_Profile": NOT_MODIFIED, "WARC_Refers_To_Target_URI": f"{URL}gone"}
    pages = [
        page("0", response(BODY)),
        page("1", response(b""), "revisit", **unchanged),
        page("2", response(BODY + b"<p>")),
    ]
    folder = crawl(tmp_path, pages)
    members = [gzip.compress(one) for records in pages for one in records]
    for damaged in (0, 5):  # of the first page what it holds, of the last what is said of it
        members[damaged] = members[damaged][:-8] + b"\0\0\0\0" + members[damaged][-4:]
    (folder / "warc" / "th-1.warc.gz").write_bytes(b"".join(members))
    hosts = write([folder], tmp_path / "out").hosts
    assert hosts == {"a.example": Counts(unreadable=2), "": Counts(unreadable=1)}


def test_records_that_only_the_index_knows_are_an_error(tmp_path: Path) -> None:
    folder = crawl(tmp_path, [page("1", response(BODY))], indexed=2)
    with pytest.raises(ArchiveError, match=r"1 record, but 2 in its index: .*--repair") as told:
        write([folder], tmp_path / "out")
    assert str(folder) in str(told.value).partition("its index: ")[2]
    assert not list((tmp_path / "out").glob("corpus.*"))


def test_all_that_read_warc_files_read_every_shape(tmp_path: Path) -> None:
    blocks = {f"{URL}{n}": block for n, block in enumerate(SHAPES.values())}
    file = tmp_path / "th.warc.gz"
    file.write_bytes(b"".join(gzip.compress(record(*item)) for item in blocks.items()))

    found = {source.url: source.body for source in sources(str(file), "")}
    assert found == dict.fromkeys(blocks, BODY)

    asked = Asked(("th",), tell=lambda body, header, url: "th" if body == BODY else None)
    assert [one.url for one in read_seeds(file, asked)] == list(blocks)

    web = WarcWeb([file])
    for number, (name, block) in enumerate(SHAPES.items()):
        answer = web.answer("a.example", f"/{number}")
        assert answer.status == 200, (name, block)
        assert isinstance(answer.body, bytes)
        assert b"\r\n0\r\n" not in answer.body


def test_all_that_read_warc_files_count_what_is_damaged(tmp_path: Path) -> None:
    good = [gzip.compress(record(f"{URL}{n}", response(BODY))) for n in range(2)]
    file = tmp_path / "th.warc.gz"
    file.write_bytes(good[0] + good[0][:-8] + b"\0\0\0\0" + good[0][-4:] + good[1])
    assert [source.url for source in sources(str(file), "")] == [f"{URL}0", f"{URL}1"]
    asked = Asked(("th",), tell=lambda body, header, url: "th")
    assert [one.url for one in read_seeds(file, asked)] == [f"{URL}0", f"{URL}1"]
    assert asked.passed == {"unreadable record": 1}


def test_a_damaged_record_without_metadata_counts_for_the_host_in_the_index(tmp_path: Path) -> None:
    pages = [page("1", response(BODY)), page("2", response(BODY * 2), host="b.example")]
    folder = crawl(tmp_path, pages)
    broken = gzip.compress(page("3", response(BODY), host="c.example")[0])
    warc = folder / "warc" / "th-1.warc.gz"
    with warc.open("ab") as file:
        file.write(broken[:-8] + bytes(4) + broken[-4:])
    urls = (f"{URL}1", "http://b.example/2", "http://c.example/3")
    lines = (b'k 20260101000000 {"url": "%b", "offset": "0"}\n' % url.encode() for url in urls)
    warc.with_name("th-1.cdxj").write_bytes(b"".join(lines))
    _, hosts, *_ = write([folder], folder / "out")
    assert {host: counts.unreadable for host, counts in hosts.items()} == {
        "a.example": 0, "b.example": 0, "c.example": 1,
    }  # fmt: skip
