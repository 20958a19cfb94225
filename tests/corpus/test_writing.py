"""A corpus is written whole or not at all; compared with itself and others; in any format."""

from __future__ import annotations

import errno
import gzip
import json
import random
from html import unescape
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.run_settings import SETTINGS
from lswc.corpus import parts, stored_pages, writing
from lswc.corpus.minhash import Clusters
from lswc.corpus.parts import PARTS
from lswc.corpus.quality import MEASURES, SHORT
from lswc.corpus.shards import FORMATS
from lswc.corpus.writing import BEYOND, DUPLICATE, Choices, write
from lswc.errors import ConfigError, StorageError
from tests.archive.wire import response
from tests.corpus.test_stored_pages import crawl, page
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

ROWS = "corpus-00000.parquet"


def text(seed: int, paragraphs: int = 4) -> str:
    """Return a page of syllables in Thai script, which no other page has in that order."""
    choose = random.Random(seed)
    syllables = [
        f"{one}{sign}{last}" for one in "กขคจชดตทนบปพมรลว" for sign in "ะาิี" for last in "กนมง"
    ]
    return "".join(
        f"<p>{' '.join(''.join(choose.choices(syllables, k=5)) for _ in range(12))}</p>"
        for _ in range(paragraphs)
    )


def read(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / ROWS).to_pylist()
    return rows


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_rows_say_which_are_alike(tmp_path: Path) -> None:
    near = text(1).replace("</p>", " ๑</p>", 1)
    bodies = [text(1), text(2), near, text(1), text(2)]
    pages = [page(str(n), response(body.encode())) for n, body in enumerate(bodies)]
    folder = crawl(tmp_path, pages)
    written = write([folder], tmp_path / "out")
    rows = read(tmp_path / "out")
    first, second = rows[0], rows[1]
    assert [row["duplicate"] for row in rows] == [None, None, "near", "exact", "exact"]
    assert [row["duplicate_of"] for row in rows[2:]] == [first["url"], first["url"], second["url"]]
    assert [row["minhash_cluster_size"] for row in rows] == [3, 2, 3, 3, 2]
    clusters = [first["id"], second["id"], first["id"], first["id"], second["id"]]
    assert [row["cluster_id"] for row in rows] == clusters
    assert written.total.duplicates == {"near": 1, "exact": 2}


def test_what_another_corpus_has_is_a_duplicate(tmp_path: Path) -> None:
    one = crawl(tmp_path / "one", [page("a", response(text(n).encode())) for n in (1, 2)])
    two = crawl(tmp_path / "two", [page("b", response(text(n).encode())) for n in (3, 2, 2)])
    write([one], one / "out")
    write([two], two / "out", Choices(against=[one / "out"]))
    rows, known = read(two / "out"), read(one / "out")
    assert [row["duplicate"] for row in rows] == [None, "exact", "exact"]
    assert [row["duplicate_of"] for row in rows] == [None, known[1]["url"], known[1]["url"]]
    assert [row["cluster_id"] for row in rows] == [rows[0]["id"], known[1]["id"], known[1]["id"]]
    written = write([two], two / "out", Choices(against=[one / "out"], filter="fineweb2"))
    assert written.total.left_out == {DUPLICATE: 2}
    assert [row["url"] for row in read(two / "out")] == [rows[0]["url"]]


def test_a_filter_leaves_out_and_counts_by_reason(tmp_path: Path) -> None:
    bodies = [text(1), text(2), f"<p>{THAI[:120]}</p>", text(1)]
    folder = crawl(
        tmp_path, [page(str(n), response(body.encode())) for n, body in enumerate(bodies)]
    )
    write([folder], tmp_path / "out")
    rows = read(tmp_path / "out")
    assert [row["fails"] for row in rows][2] == [SHORT]
    assert all(row[name] is not None for row in rows for name in MEASURES if "word" not in name)
    total = write([folder], tmp_path / "out", Choices(filter="fineweb2")).total
    assert total.left_out == {DUPLICATE: 1, SHORT: 1}
    assert (total.read, total.rows) == (4, 2)
    assert not total.duplicates


def test_a_site_has_no_more_pages_than_asked_for(tmp_path: Path) -> None:
    bodies = [text(1), text(1), text(2), text(3)]
    folder = crawl(
        tmp_path, [page(str(n), response(body.encode())) for n, body in enumerate(bodies)]
    )
    total = write([folder], tmp_path / "out", Choices(most_of_site=2)).total
    assert (total.rows, total.left_out) == (3, {BEYOND: 1})
    assert [row["duplicate"] for row in read(tmp_path / "out")] == [None, "exact", None]


def test_each_format_has_each_document_once(tmp_path: Path) -> None:
    bodies = [f'<title>a & "b"</title>{text(1)}<p>1 < 2 {THAI}</p>', text(2), text(2)]
    pages = [page(str(n), response(body.encode())) for n, body in enumerate(bodies)]
    folder = crawl(tmp_path, pages)
    files = write([folder], tmp_path / "out", Choices(formats=FORMATS)).files
    assert [(one["name"].partition(".")[2], one["rows"]) for one in files] == [
        ("jsonl.zst", 3), ("parquet", 3), ("txt.zst", 2), ("prevert.zst", 2),
        ("md.jsonl.zst", 2),
    ]  # fmt: skip
    rows = read(tmp_path / "out")[:2]
    said = {}
    for form in ("txt", "prevert"):
        with pa.CompressedInputStream(
            tmp_path / "out" / f"corpus-00000.{form}.zst", "zstd"
        ) as file:
            said[form] = file.read().decode()
    assert said["txt"] == "".join(f"{row['text']}\n\n" for row in rows)
    documents = said["prevert"].split("</doc>\n")
    assert not documents.pop()
    for row, document in zip(rows, documents, strict=True):
        assert f'url="{row["url"]}"' in document
        lines = [line for line in document.splitlines() if not line.startswith(("<", "</"))]
        assert "\n".join(map(unescape, lines)) == row["text"]
    assert 'title="a &amp; &quot;b&quot;"' in documents[0]


def test_the_pieces_of_an_archive_are_one_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However an archive is cut, and by however many processes it is read."""
    pages = [page(str(n), response(text(n).encode())) for n in range(6)]
    folder = crawl(tmp_path, pages, indexed=0)
    place, lines = 0, []
    for line, records in enumerate(pages):
        url = f"http://a.example/{line}"
        about = json.dumps({"url": url, "offset": str(place), "length": "1"})
        lines.append(f"k{line} 20260101000000 {about}\n")
        place += sum(len(gzip.compress(one)) for one in records)
    (folder / "warc" / "th-1.cdxj").write_text("".join(lines))
    write([folder], tmp_path / "whole")
    monkeypatch.setattr(parts, "_SMALL", 0)
    monkeypatch.setattr(stored_pages.pieces, "__defaults__", (1,))
    assert [one.name for one in stored_pages.pieces([folder])] == ["th-1.warc.gz"] * 6

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write([folder], tmp_path / "cut", say=stopped)
    assert not (tmp_path / "cut" / ROWS).exists()
    write([folder], tmp_path / "cut")
    assert read(tmp_path / "cut") == read(tmp_path / "whole")


def test_what_was_read_is_kept_and_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [
        crawl(tmp_path / str(n), [page(str(n), response(text(n).encode()))]) for n in range(3)
    ]
    out = tmp_path / "out"
    write(workers[:1], out)
    before = read(out)
    make, made = parts.make, list[str]()

    def stopped(part: parts.Part, *more: Any) -> None:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(part.path)
        make(part, *more)

    monkeypatch.setattr(parts, "make", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(workers, out)
    assert read(out) == before
    assert len(names(out / PARTS)) == 2
    made.clear()
    assert write(workers, out).total.rows == 3
    assert len(made) == 1
    assert len(read(out)) == 3
    assert PARTS not in names(out)


def test_what_was_read_is_not_kept_if_its_crawl_is_run_otherwise_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [
        crawl(tmp_path / str(n), [page(str(n), response(text(n).encode()))]) for n in range(2)
    ]
    make, made = parts.make, list[str]()

    def noted(part: parts.Part, *more: Any) -> None:
        made.append(part.crawl)
        make(part, *more)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "make", noted)
    monkeypatch.setattr(parts, "versions_of", stopped)
    with pytest.raises(KeyboardInterrupt):
        write(workers, tmp_path / "out")
    settings = workers[1] / SETTINGS
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"LSWC_MIN_SHARE": 0.5}))
    with pytest.raises(KeyboardInterrupt):
        write(workers, tmp_path / "out")
    assert made == [*map(str, workers), str(workers[1])]


@pytest.mark.parametrize("at", ["parts", "rows", "shards", "manifest"])
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    folder = crawl(tmp_path, [page("a", response(text(1).encode()))])
    out = tmp_path / "out"

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if at == "parts":
            patch.setattr(pa, "CompressedOutputStream", full)
        elif at == "rows":
            patch.setattr(Clusters, "add", full)
        elif at == "shards":
            patch.setattr(writing, "write_shards", full)
        else:
            patch.setattr(writing, "_describe", full)
        with pytest.raises(StorageError, match=r"can't write .*: No space left"):
            write([folder], out)
    left = {path.name for path in out.rglob("*") if path.is_file()} if out.exists() else set()
    assert not {name for name in left if not name.endswith(".jsonl.zst")}
    assert len(left) == (at != "parts")
    assert write([folder], out).total.rows == 1
    assert names(out) == {"README.md", "manifest.json", ROWS, "corpus-00000.jsonl.zst"}


def test_other_corpora_that_are_none(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "crawl", [page("a", response(text(1).encode()))])
    (tmp_path / "empty").mkdir()
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn" / "a.parquet").write_bytes(b"PAR1")
    (tmp_path / "log").mkdir()
    pq.write_table(pa.table({"a": [1]}), tmp_path / "log" / "a.parquet")
    for name in ("empty", "torn", "log", "missing"):
        with pytest.raises(ConfigError, match=r"is not a corpus|can't be read"):
            write([folder], tmp_path / "out", Choices(against=[tmp_path / name]))
        assert not (tmp_path / "out").exists()


def test_a_crawl_without_an_archive(tmp_path: Path) -> None:
    folder = crawl(tmp_path, [])
    (folder / "warc" / "th-1.warc.gz").unlink()
    (folder / "pages.jsonl").write_text("{}\n", "utf-8")
    with pytest.raises(ArchiveError, match="has no WARC files"):
        write([folder], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_card_says_where_the_rows_are_and_how_many(tmp_path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    folder = crawl(tmp_path, [page(str(n), response(text(n).encode())) for n in range(3)])
    write([folder], tmp_path / "out")
    _, head, body = (tmp_path / "out" / "README.md").read_text("utf-8").split("---\n", 2)
    about = yaml.safe_load(head)
    assert about["language"] == ["tha"]
    assert about["size_categories"] == ["n<1K"]
    (data,) = about["configs"][0]["data_files"]
    counted = duckdb.execute(f"SELECT count(*) FROM '{tmp_path}/out/{data['path']}'")  # noqa: S608
    assert counted.fetchall() == [(3,)]
    assert "| rows | 3 |" in body
    assert "| a.example | 3 | 3 |" in body


def test_a_copy_is_exact_though_its_site_repeats_a_part_of_it(tmp_path: Path) -> None:
    """The first pages of a site keep what it turns out to repeat; a later copy of one doesn't."""
    often = text(99, 12)
    bodies = [text(n, 1) + often for n in range(12)]
    pages = [page(str(n), response(body.encode())) for n, body in enumerate(bodies)]
    elsewhere = page("copy", response(bodies[9].encode()), host="b.example")
    folder = crawl(tmp_path, [*pages, page("copy", response(bodies[0].encode())), elsewhere])
    written = write([folder], tmp_path / "out")
    rows = {row["url"]: row for row in read(tmp_path / "out")}
    here, there = rows["http://a.example/copy"], rows["http://b.example/copy"]
    assert len(here["text"]) < len(rows["http://a.example/0"]["text"])
    assert len(there["text"]) > len(rows["http://a.example/9"]["text"])
    assert here["duplicate"] == there["duplicate"] == "exact"
    assert written.total.duplicates["exact"] == 2
