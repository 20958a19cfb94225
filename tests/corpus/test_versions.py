"""A page that was visited again is in its corpus as often as is asked for, whatever its shape."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lswc.archive.run_settings import SETTINGS
from lswc.archive.warc_writer import IDENTICAL, NOT_MODIFIED
from lswc.corpus import parts, stored_pages
from lswc.corpus.extraction import Extracted
from lswc.corpus.versions import ALL, DIFF, LATEST, NOTHING_NEW, OLDER, VERSIONS, Versions
from lswc.corpus.writing import OPTED_OUT, Choices, write
from tests.archive.wire import record, response
from tests.corpus.test_stored_pages import BODY, page
from tests.corpus.test_writing import text

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from lswc.corpus.writing import Counts

URL = "http://a.example/{}".format
AGAIN = {"WARC_Refers_To_Target_URI": URL("a"), "WARC_Payload_Digest": "sha1:A"}
SAME = {"WARC_Profile": IDENTICAL, **AGAIN}
HELD = {"WARC_Profile": NOT_MODIFIED, **AGAIN}
FIRST, SECOND = text(1, 3), text(1, 3) + text(2, 2)  # the second has the first's paragraphs
THIRD = text(3, 4)


def again(visit: int, change: str, more: str = "") -> str:
    return f"visit: {visit}\r\nchange: {change}\r\n{more}"


def gone(name: str) -> list[bytes]:
    head = b"HTTP/1.1 404 Not Found\r\n\r\n"
    about = b"outcome: status 404\r\nkind: html\r\n"
    return [record(URL(name), head), record(URL(name), about, "metadata")]


def visits() -> list[list[bytes]]:
    """Return a page that is as it was twice, then another, then gone; beside one that stays."""
    return [
        page("a", response(FIRST.encode()), WARC_Payload_Digest="sha1:A"),
        page("b", response(text(9).encode())),
        page("a", response(b""), "revisit", again(2, "unchanged"), **HELD),
        page("a", response(b""), "revisit", again(3, "unchanged"), **SAME),
        page("a", response(SECOND.encode() + b"<!-- -->"), about=again(4, "changed")),
        page("a", response(SECOND.encode() + b"<!-- 5 -->"), about=again(5, "unchanged")),
        page("a", response(THIRD.encode()), about=again(6, "changed")),
        gone("a"),
    ]


def crawl(folder: Path, *files: list[list[bytes]], earlier: Path | None = None) -> Path:
    """Make a crawl folder with a WARC file for each list of pages, and no index of them."""
    (folder / "warc").mkdir(parents=True)
    for number, pages in enumerate(files):
        members = [gzip.compress(one) for records in pages for one in records]
        path = folder / "warc" / f"th-{number}.warc.gz"
        path.write_bytes(b"".join(members))
        path.with_suffix("").with_suffix(".cdxj").touch()
    recrawl = [str(earlier)] if earlier else []
    about = {"language": "th", "LSWC_OPT_OUT": "skip-corpus", "LSWC_RECRAWL": recrawl}
    (folder / SETTINGS).write_text(json.dumps(about))
    return folder


def rows(folders: list[Path], out: Path, versions: str) -> tuple[list[dict[str, Any]], Counts]:
    total = write(folders, out, Choices(versions=versions)).total
    found: list[dict[str, Any]] = pq.read_table(out / "corpus-00000.parquet").to_pylist()
    assert total.read == total.rows + total.left_out.total()
    return found, total


def said(html: str) -> str:
    return "\n".join(html.replace("<p>", "").split("</p>")).strip()


EXPECTED = {
    LATEST: [("b", 1, said(text(9))), ("a", 6, said(THIRD))],
    ALL: [
        ("a", 1, said(FIRST)), ("b", 1, said(text(9))), ("a", 4, said(SECOND)),
        ("a", 6, said(THIRD)),
    ],
    DIFF: [
        ("a", 1, said(FIRST)), ("b", 1, said(text(9))), ("a", 4, said(text(2, 2))),
        ("a", 6, said(THIRD)),
    ],
}  # fmt: skip


def short(found: list[dict[str, Any]]) -> list[tuple[str, int, str]]:
    return [(row["url"].rpartition("/")[2], row["visit"], row["text"]) for row in found]


@pytest.mark.parametrize("cut", [1, 3, 5, 8])
@pytest.mark.parametrize("versions", VERSIONS)
def test_versions_of_a_page_are_those_asked_for(tmp_path: Path, versions: str, cut: int) -> None:
    """Wherever one WARC file ends, and the next begins."""
    every = visits()
    folder = crawl(tmp_path / "crawl", every[:cut], every[cut:])
    found, total = rows([folder], tmp_path / "out", versions)
    assert short(found) == EXPECTED[versions]
    older = {OLDER: 2} if versions == LATEST else {}
    assert total.left_out == {"unchanged": 3} | older
    assert total.unreadable == 0
    card = (tmp_path / "out" / "README.md").read_text()
    assert ("with its newest text" in card) == (versions == LATEST)
    about = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert about["versions"] == versions


@pytest.mark.parametrize("versions", VERSIONS)
def test_visits_of_several_workers_are_in_no_order(tmp_path: Path, versions: str) -> None:
    every = visits()
    folders = [crawl(tmp_path / "two", every[4:]), crawl(tmp_path / "one", every[:4])]
    found, _ = rows(folders, tmp_path / "out", versions)
    assert sorted(short(found)) == sorted(EXPECTED[versions])


def test_parts_without_visits_again_are_read_for_good_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = crawl(tmp_path / "crawl", visits()[:2])
    opened: list[str] = []

    class Opened(pa.CompressedInputStream):  # type: ignore[misc]
        def __init__(self, path: str, *given: object) -> None:
            opened.append(path)
            super().__init__(path, *given)

    monkeypatch.setattr(pa, "CompressedInputStream", Opened)
    found, _ = rows([folder], tmp_path / "out", LATEST)
    assert (len(found), len(opened)) == (2, 2), "once to compare, once for the rows"


def test_a_stopped_corpus_goes_on_with_its_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = visits()
    folder = crawl(tmp_path / "crawl", every[:4], every[4:])
    monkeypatch.setattr(parts, "_SMALL", 0)
    monkeypatch.setattr(stored_pages.pieces, "__defaults__", (1,))

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write([folder], tmp_path / "out", Choices(versions=DIFF), stopped)
    found, _ = rows([folder], tmp_path / "out", DIFF)
    assert short(found) == EXPECTED[DIFF]


def test_a_version_without_a_new_paragraph_has_no_row(tmp_path: Path) -> None:
    shorter = FIRST[: FIRST.index("</p>") + 4]
    pages = [page("a", response(FIRST.encode())),
             page("a", response(shorter.encode()), about=again(2, "changed"))]  # fmt: skip
    folder = crawl(tmp_path / "crawl", pages)
    found, total = rows([folder], tmp_path / "out", DIFF)
    assert (len(found), total.left_out) == (1, {NOTHING_NEW: 1})
    assert short(rows([folder], tmp_path / "out", LATEST)[0]) == [("a", 2, said(shorter))]


def test_a_version_is_compared_with_the_one_just_before(tmp_path: Path) -> None:
    """What came with the second visit isn't new at the third; what had gone meanwhile is."""
    contents = {1: FIRST, 2: SECOND, 3: SECOND + text(5, 1), 4: THIRD, 5: THIRD + text(5, 1)}
    pages = [
        page("a", response(content.encode()), about=again(visit, "changed") if visit > 1 else "")
        for visit, content in contents.items()
    ]
    found, _ = rows([crawl(tmp_path / "crawl", pages)], tmp_path / "out", DIFF)
    new = [FIRST, text(2, 2), text(5, 1), THIRD, text(5, 1)]
    assert short(found) == [("a", visit, said(one)) for visit, one in enumerate(new, 1)]


@pytest.mark.parametrize("versions", VERSIONS)
def test_who_opts_out_later_is_left_out_with_all_that_was_before(
    tmp_path: Path, versions: str
) -> None:
    pages = visits()
    opts_out = again(7, "unchanged", "opt-out: noai (header)\r\n")
    pages.append(page("a", response(b""), "revisit", opts_out, **HELD))
    folder = crawl(tmp_path / "crawl", pages)
    found, total = rows([folder], tmp_path / "out", versions)
    assert short(found) == [EXPECTED[ALL][1]]
    assert total.left_out == {OPTED_OUT: 7}


def test_versions_are_no_repetition_of_a_site(tmp_path: Path) -> None:
    """A paragraph that one page keeps through ten changes isn't its site's."""
    pages = [page("a", response(FIRST.encode()))]
    for number in range(2, 12):
        body = FIRST + text(100 + number, 5)
        pages.append(page("a", response(body.encode()), about=again(number, "changed")))
    folder = crawl(tmp_path / "crawl", pages)
    found, _ = rows([folder], tmp_path / "out", ALL)
    assert len(found) == 11
    assert all(row["text"].startswith(said(FIRST)) for row in found)


def test_an_earlier_crawl_answers_for_the_first_visit_alone(tmp_path: Path) -> None:
    """What is as at a visit of this crawl isn't as it was in the crawl before."""
    earlier = crawl(tmp_path / "before", [page("a", response(BODY), WARC_Payload_Digest="sha1:A")])
    line = {"url": URL("a"), "offset": "0", "timestamp": "20250101000000", "status": "200"}
    index = json.dumps(line | {"mime": "text/html", "digest": "A", "length": "9"})
    (earlier / "warc" / "th-0.cdxj").write_text(f"example,a)/a 20250101000000 {index}\n")
    pages = [
        page("a", response(b""), "revisit", **HELD),
        page("a", response(THIRD.encode()), about=again(2, "changed")),
        page("a", response(b""), "revisit", again(3, "unchanged"), **HELD),
    ]
    folder = crawl(tmp_path / "crawl", pages, earlier=earlier)
    found, total = rows([folder], tmp_path / "out", LATEST)
    assert short(found) == [("a", 2, said(THIRD))]
    assert total.left_out == {OLDER: 1, "unchanged": 1}
    assert len(rows([folder], tmp_path / "out", ALL)[0]) == 2


def test_records_tell_which_version_is_the_latest(tmp_path: Path) -> None:
    """As blocks of datatrove ask, which see no other piece than theirs."""
    told = [("a", 1, "new"), ("b", 1, "new"), ("a", 2, "unchanged"), ("a", 3, "changed")]
    lines = [json.dumps({"url": URL(n), "visit": v, "change": c}) for n, v, c in told]
    lines.append(json.dumps({"url": URL("older")}))  # of a crawl that knew of no visits
    (tmp_path / "pages.jsonl").write_text("".join(f"{line}\n" for line in lines) + '{"torn')
    every = [*stored_pages.StoredPages(crawl(tmp_path / "crawl", visits()))]
    first, last = (one for one in every if one.visit in (1, 6) and one.url == URL("a"))
    with_text = [Extracted(one) for one in (first, last)]
    versions = Versions.told([tmp_path], LATEST)
    assert versions.taken(with_text[0]) == OLDER
    assert versions.taken(with_text[1]) == with_text[1]
    assert Versions.told([tmp_path], ALL).taken(with_text[0]) == with_text[0]
