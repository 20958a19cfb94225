"""``scrapy identify``, run as its users run it."""

from __future__ import annotations

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from scrapy.cmdline import execute
from scrapy.utils.project import get_project_settings

from tests.reading import made

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

THAI = "<title>ข่าว</title><p>นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุด<a href=x>หน้าแรก</a>"
WORDS = "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุด"
ENGLISH = "<p>The students go to school every day and read the books in the library of the town."


def identify(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command; return its exit code, output and errors."""
    with pytest.raises(SystemExit) as end:
        execute(["scrapy", "identify", *map(str, arguments)], get_project_settings())
    output = capsys.readouterr()
    return int(end.value.code or 0), output.out, output.err


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that http.server calls
            body = THAI.encode("cp874")
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=tis-620")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}/"
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def test_files_and_folders(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "thai.html").write_bytes(THAI.encode("cp874"))
    (tmp_path / "english.html").write_text(ENGLISH, "utf-8")
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    code, out, err = identify(capsys, "--lang", "th", tmp_path)
    rows = [line.split() for line in out.splitlines() if ".html" in line]
    assert (code, err) == (0, "")
    assert [row[1:3] for row in rows] == [["en", "ascii"], ["th", "windows-874"]]
    assert rows[1][-2:] == ["target", "1/1"]
    assert "image.png" not in out


def test_documents(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, body in {
        "a.pdf": made.pdf([[WORDS]]),
        "b.docx": made.docx(made.paragraph(WORDS)),
        "c.epub": made.epub(f"<p>{THAI}</p>"),
        "d.pdf": made.encrypted_pdf(),
    }.items():
        (tmp_path / name).write_bytes(body)
    code, out, err = identify(capsys, "--lang", "th", "--format", "tsv", tmp_path)
    told = [line.split("\t")[1] for line in out.splitlines()[1:]]
    assert (code, told, err) == (0, ["th", "th", "th", "unknown"], "")
    code, out, _ = identify(capsys, "--lang", "th", "--explain", tmp_path / "a.pdf")
    assert (code, "th (" in out) == (0, True)


def test_a_folder_of_warc_files_and_of_packed_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "crawl" / "warc").mkdir(parents=True)
    warc = gzip.compress(warc_record("http://a.test/page", "text/html"))
    (tmp_path / "crawl" / "warc" / "th.warc.gz").write_bytes(warc)
    (tmp_path / "crawl" / "thai.html.gz").write_bytes(gzip.compress(THAI.encode("cp874")))
    (tmp_path / "crawl" / "pages.jsonl.gz").write_bytes(b"no page")
    code, out, err = identify(capsys, "--lang", "th", tmp_path)
    assert (code, err) == (0, "")
    assert "http://a.test/page" in out
    assert ["th", "windows-874"] in [line.split()[1:3] for line in out.splitlines()]
    assert "pages.jsonl" not in out


@pytest.mark.parametrize("name", ["pages.csv", "thai.html.gz", "th.warc", "image.warc"])
def test_a_folder_in_which_nothing_can_be_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image = warc_record("http://a.test/image", "image/png")
    (tmp_path / name).write_bytes(image if name == "image.warc" else b"no page")
    code, out, err = identify(capsys, "--lang", "th", tmp_path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert str(tmp_path) in err


def test_urls(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = identify(capsys, "--lang", "th", server)
    assert code == 0
    assert "windows-874" in out


def warc_record(url: str, content_type: str) -> bytes:
    body = THAI.encode()
    http = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n".encode() + body
    head = (
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        "WARC-Record-ID: <urn:uuid:00000000-0000-0000-0000-000000000000>\r\n"
        "Content-Type: application/http;msgtype=response\r\n"
        f"WARC-Target-URI: {url}\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_warc(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = {"http://a.test/page": "text/html", "http://a.test/image": "image/png"}
    records = [warc_record(url, kind) for url, kind in kinds.items()]
    if name.endswith(".gz"):
        records = [gzip.compress(record) for record in records]
    (tmp_path / name).write_bytes(b"".join(records))
    code, out, _ = identify(capsys, "--lang", "th", tmp_path / name)
    assert code == 0
    assert "http://a.test/page" in out
    assert "http://a.test/image" not in out


def test_explain_shows_the_evidence_and_every_method(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    page.write_bytes(("<meta charset=tis-620>" + THAI).encode("cp874"))
    code, out, _ = identify(capsys, "--lang", "th", "--explain", page)
    assert code == 0
    assert "meta windows-874" in out
    assert "method tamura2007" in out
    assert "method cld2" in out


def labelled(file: Path) -> Path:
    lines = [
        {"language": "tha", "html": THAI},
        {"language": "th", "file": "page.html", "content_type": "text/html; charset=tis-620"},
        {"language": "en", "text": ENGLISH},
        {"language": "my", "text": "ภาษาไทยไม่ใช่ภาษาพม่า"},
    ]
    (file.parent / "page.html").write_bytes(THAI.encode("cp874"))
    text = "\n".join(map(json.dumps, lines))
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


@pytest.mark.parametrize("name", ["labelled.jsonl", "labelled.jsonl.gz"])
def test_evaluate(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = labelled(tmp_path / name)
    code, out, _ = identify(capsys, "--lang", "th,my", "--method", "auto,cld2", "--evaluate", file)
    rows = [line.split() for line in out.splitlines()]
    scores = {tuple(row[:2]): row[2:5] for row in rows if len(row) > 4 and "%" in row[2]}
    assert code == 0
    assert scores["auto", "th"] == ["66.67%", "100.00%", "80.00%"]
    assert ["auto", "th", "my", "th", "1"] in rows
    assert ["auto", "my", "my", "th", "1"] in rows


def test_evaluate_says_how_pages_of_each_kind_fared_and_what_confidence_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"language": "th", "kind": "clean", "html": THAI},
        {"language": "en", "kind": "clean", "text": ENGLISH},
        {"language": "my", "kind": "wrong", "html": THAI},
        {"language": "und", "kind": "stub", "text": "https://a.test/"},
    ]
    file = tmp_path / "labelled.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    code, out, _ = identify(capsys, "--lang", "th", "--evaluate", file)
    rows = [line.split() for line in out.splitlines()]
    assert code == 0
    assert ["auto", "th", "clean", "2", "2", "100.00%"] in rows
    assert ["auto", "th", "wrong", "1", "0", "0.00%"] in rows
    assert ["auto", "th", "stub", "1", "1", "100.00%"] in rows
    assert [
        row[3:] for row in rows if row[:2] == ["auto", "th"] and row[2][:2] in ("0.", "1.")
    ] == [["3", "2", "66.67%"]]


def test_evaluate_anchors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "short.jsonl"
    file.write_text(
        '{"language": "th", "text": "ข่าว"}\n{"language": "en", "text": "news"}', "utf-8"
    )
    code, out, _ = identify(capsys, "--lang", "th", "--anchors", "--evaluate", file)
    assert code == 0
    assert out.count("100.00%") == 4
    cells = [line.split()[-2:] for line in out.splitlines() if " is " in line]
    assert cells == [["1", "0"], ["0", "1"]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name pages, or --evaluate"),
        (["nowhere.html"], "say which language"),
        (["--lang", "th", "nowhere.html"], "no such file or folder"),
        (["--lang", "xx", "."], "unknown language 'xx': "),
        (["--lang", "th", "--method", "guess", "."], "unknown method 'guess'; known: auto, "),
        (["--lang", "th", "--min-share", "2", "."], "min_share"),
        (["--lang", "my", "--method", "pythainlp", "."], "Thai only"),
        (["--lang", "th", "http://127.0.0.1:1/"], "http://127.0.0.1:1/"),
        (["--lang", "th", "--evaluate", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--lang", "th", "-s", "LSWC_MIN_SHARE=lots", "."], "LSWC_MIN_SHARE"),
        (
            ["--lang", "th", "-s", "LSWC_LANGUAGES=gone", "."],
            "LSWC_LANGUAGES: no such folder: gone",
        ),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = identify(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("scrapy identify: error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", ":2: not JSON"),
        ("[]", ':2: an object with "language"'),
        ('{"language": "th"}', ':2: one of "text", "html", "base64" and "file"'),
    ],
)
def test_a_wrong_label_is_told_with_its_line_and_the_others_are_used(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"language": "th", "text": "x"}\n' + line, "utf-8")
    code, out, err = identify(capsys, "--lang", "th", "--evaluate", file)
    assert code == 0
    assert message in err
    assert err.count("\n") == 1
    assert re.search(r"auto +th .* 1 +\d+ *\n", out)
    file.write_text(line, "utf-8")
    assert identify(capsys, "--lang", "th", "--evaluate", file)[0] == 2


def test_a_labelled_file_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"language": "th", "file": "nowhere"}', "utf-8")
    code, _, err = identify(capsys, "--lang", "th", "--evaluate", file)
    assert (code, err.count("\n")) == (2, 1)
    assert "nowhere" in err


def test_a_warc_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "broken.warc").write_bytes(b"this is no WARC record\r\n\r\n")
    code, _, err = identify(capsys, "--lang", "th", tmp_path / "broken.warc")
    assert code == 2
    assert "broken.warc" in err


@pytest.mark.parametrize("kind", ["jsonl", "tsv"])
def test_a_line_for_each_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    (tmp_path / "thai\tpage.html").write_bytes(THAI.encode("cp874"))
    (tmp_path / "english.html").write_text(ENGLISH, "utf-8")
    code, out, _ = identify(capsys, "--lang", "th", "--format", kind, tmp_path)
    assert code == 0
    lines = out.splitlines()
    if kind == "tsv":
        heads, *rows = (line.split("\t") for line in lines)
        found = [dict(zip(heads, row, strict=True)) for row in rows]
    else:
        found = [json.loads(line) for line in lines]
    assert [row["language"] for row in found] == ["en", "th"]
    assert [int(row["links"]) for row in found] == [0, 1]
    assert "page.html" in found[1]["page"]


def test_a_format_that_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = identify(capsys, "--lang", "th", "--format", "xml", tmp_path)
    assert code == 2
    assert "--format='xml' isn't one of: table, tsv, jsonl" in err
