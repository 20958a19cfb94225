"""The server over real sockets, and what a crawl sees through the resolver."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import re
import ssl
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lswc.crawl.web.folder import FolderWeb
from lswc.crawl.web.host_rules import HostRules, read_rules
from lswc.crawl.web.shapes import Shape
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Serve = Callable[[Path], AbstractContextManager[int]]

ROOT = Path(__file__).parents[3]
HOST = "www.example.co.th"


def write(file: Path, text: str | bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outside = tmp_path_factory.mktemp("outside")
    write(outside / "secret.html", "secret")
    web = tmp_path_factory.mktemp("web")
    host = web / HOST
    write(web / "secret.html", "secret")
    write(host / "index.html", "<title>หน้าแรก</title>")
    write(host / "news" / "index.html", "news")
    write(host / "bare" / "page.html", "bare")
    write(host / "list.php", "list")
    write(host / "list.php?id=3", "third")
    write(host / "news" / "index.html?page=2", "page two")
    write(host / "search?u=%2Fa", "slash")
    write(host / "ข่าว.html", "utf-8 name")
    write(host / os.fsdecode(b"\xa1\xa2.html"), "tis-620 name")
    write(host / "a%20b.html", "raw name")
    write(host / "c d.html", "decoded name")
    write(host / "big.bin", bytes(range(256)) * 5000)
    for name in ("style.css", "logo.gif", "doc.pdf", "old.shtml", "noext", "x.tar.gz", "x.weird"):
        write(host / name, "x")
    (host / "leak").symlink_to(outside)
    (host / "leak.html").symlink_to(outside / "secret.html")
    write(web / "www.example.co.th:8080" / "index.html", "port 8080")
    write(web / "ไทย.example" / "index.html", "idn")
    rules = {
        HOST: {
            "headers": {"X-Robots-Tag": "noarchive"},
            "redirects": {"/moved?x=1": [302, "http://other.example/"]},
            "calendar": {"prefix": "/calendar/", "language": "th"},
        },
        "other.example": {"delay": 0.01},
        "two.example": {"languages": ["en", "pt-BR"]},
    }
    write(web / "other.example" / "index.html", "slow")
    write(web / "two.example" / "index.html.en", "english")
    write(web / "two.example" / "index.html.pt-BR", "brasil")
    write(web / "two.example" / "only.html.en", "only")
    write(web / "two.example" / "one.html", "one")
    write(web / "web.json", json.dumps(rules))
    return web


@pytest.fixture(scope="module")
def port(serve: Serve, folder: Path) -> Iterator[int]:
    with serve(folder) as port:
        yield port


def test_hosts_are_folders_that_are_called_so(tmp_path: Path) -> None:
    for name in ("a.example", "a.example:8080", ".git", "no name%"):
        (tmp_path / name).mkdir()
    write(tmp_path / "notes.example", "a file")
    web = FolderWeb(tmp_path)
    known = ("a.example", "a.example:8080", ".git", "notes.example", "no name%")
    assert [name for name in known if web.knows(name)] == ["a.example", "a.example:8080"]


def test_what_a_rule_leaves_out_is_as_usual(tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    assert read_rules(file) == {}
    write(file, json.dumps({"A.example": {}, "b.example:81": {"redirects": {"/": [301, "/a"]}}}))
    moved = HostRules(redirects={"/": (301, "/a")})
    assert read_rules(file) == {"a.example": HostRules(), "b.example:81": moved}
    assert HostRules().delay == 0.0


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"codings": ["lzma"]}, "not a shape of the wire"),
        ({"framing": "none"}, "not a shape of the wire"),
        ({"version": "2"}, "not a shape of the wire"),
        ({"share": 2}, "not a share of a body"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_shape_that_there_is_not(tmp_path: Path, shape: dict[str, Any], message: str) -> None:
    write(tmp_path / "web.json", json.dumps({HOST: {"shape": shape}}))
    with pytest.raises(ConfigError, match=message):
        read_rules(tmp_path / "web.json")


@pytest.mark.parametrize(
    ("shape", "sent"),
    [
        (Shape(), b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 3\r\n\r\nabc"),
        (
            Shape(framing="chunked", extension="x=y", trailers={"Sum": "1"}),
            b"HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3;x=y\r\nabc\r\n0;x=y\r\nSum: 1\r\n\r\n",
        ),
        (
            Shape(framing="close", version="1.0"),
            b"HTTP/1.0 200 OK\r\nA: b\r\nConnection: close\r\n\r\nabc",
        ),
        (
            Shape(share=0.34),
            b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\nContent-Length: 3\r\n\r\na",
        ),
    ],
)
def test_a_shape_is_what_is_sent(shape: Shape, sent: bytes) -> None:
    assert shape.written([(b"A", b"b")], b"abc") == sent


def test_codings_are_put_on_in_their_order() -> None:
    sent = Shape(codings=("gzip", "raw deflate")).written([], b"abc")
    head, _, body = sent.partition(b"\r\n\r\n")
    assert b"\r\nContent-Encoding: gzip, deflate\r\n" in head
    assert gzip.decompress(zlib.decompress(body, -15)) == b"abc"


def get(
    port: int, target: str, host: str = HOST, method: str = "GET", *, tls: bool = False
) -> tuple[int, http.client.HTTPMessage, bytes]:
    if tls:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            "127.0.0.1", port, context=context
        )
    else:
        connection = http.client.HTTPConnection("127.0.0.1", port)
    with closing(connection):
        connection.putrequest(method, target, skip_host=True)
        connection.putheader("Host", host)
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.headers, response.read()


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/", "<title>หน้าแรก</title>"),
        ("/index.html", "<title>หน้าแรก</title>"),
        ("/news/", "news"),
        ("//news//", "news"),
        ("/news/?page=2", "page two"),
        ("/news/?page=3", "news"),
        ("/list.php", "list"),
        ("/list.php?id=3", "third"),
        ("/list.php?id=4", "list"),
        ("/list.php%3Fid=3", "third"),
        ("/search?u=/a", "slash"),
        ("/search?u=%2Fa", "slash"),
        ("/%E0%B8%82%E0%B9%88%E0%B8%B2%E0%B8%A7.html", "utf-8 name"),
        ("/%A1%A2.html", "tis-620 name"),
        ("/a%20b.html", "raw name"),
        ("/c%20d.html", "decoded name"),
        ("http://www.example.co.th/news/", "news"),
    ],
)
def test_a_url_is_answered_by_its_file(port: int, target: str, body: str) -> None:
    status, headers, content = get(port, target)
    assert (status, content.decode()) == (200, body)
    assert int(headers["Content-Length"]) == len(content)
    assert headers["X-Robots-Tag"] == "noarchive"


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.html",
        "/news/../../secret.html",
        "/%2e%2e/secret.html",
        "/..%2fsecret.html",
        "/%2e%2e%2fsecret.html",
        "/news/..%5c..%5csecret.html",
        "/leak.html",
        "/leak/secret.html",
        "/leak",
        "/secret.html?/../../secret.html",
        "//etc/passwd",
        "/%00",
        "/" + "a" * 3000,
        "/missing.html",
        "/list.php/",
        "/bare/",
    ],
)
def test_what_is_not_inside_the_hosts_folder_is_missing(port: int, target: str) -> None:
    status, _, content = get(port, target)
    assert status == 404
    assert b"secret" not in content


@pytest.mark.parametrize(
    ("target", "location"),
    [
        ("/news", "/news/"),
        ("/news?a=1", "/news/?a=1"),
        ("//news", "/news/"),
        ("/moved?x=1", "http://other.example/"),
    ],
)
def test_redirects(port: int, target: str, location: str) -> None:
    status, headers, _ = get(port, target)
    assert (status, headers["Location"]) == (302 if "moved" in target else 301, location)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("index.html", "text/html"),
        ("list.php?id=3", "text/html"),
        ("old.shtml", "text/html"),
        ("noext", "text/html"),
        ("style.css", "text/css"),
        ("logo.gif", "image/gif"),
        ("doc.pdf", "application/pdf"),
        ("x.tar.gz", "application/gzip"),
        ("x.weird", "application/octet-stream"),
    ],
)
def test_the_type_is_the_extensions_and_has_no_charset(port: int, name: str, kind: str) -> None:
    assert get(port, f"/{name}")[1]["Content-Type"] == kind


@pytest.mark.parametrize("host", ["", "unknown.example", "a b", f"{HOST}/x", "example.co.th", "@"])
def test_a_bad_host_is_refused(port: int, host: str) -> None:
    assert get(port, "/", host)[0] == 400


@pytest.mark.parametrize(
    ("host", "body"),
    [
        ("WWW.Example.co.TH:80", "หน้าแรก"),
        (f"{HOST}:81", "หน้าแรก"),
        (f"{HOST}:8080", "port 8080"),
        ("xn--o3cw4h.example", "idn"),
        ("other.example", "slow"),
    ],
)
@pytest.mark.parametrize("tls", [False, True])
def test_hosts_and_ports_by_http_and_https(port: int, host: str, body: str, tls: bool) -> None:
    status, _, content = get(port, "/", host, tls=tls)
    assert status == 200
    assert body in content.decode()


def test_methods(port: int) -> None:
    status, headers, body = get(port, "/big.bin", method="HEAD")
    assert (status, headers["Content-Length"], body) == (200, "1280000", b"")
    assert get(port, "/nothing", method="HEAD")[::2] == (404, b"")
    status, headers, _ = get(port, "/", method="POST")
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_a_large_file_arrives_whole(port: int) -> None:
    assert get(port, "/big.bin")[2] == bytes(range(256)) * 5000


def test_the_calendar_has_no_end(port: int) -> None:
    target, seen = "/calendar/2026/11/", set()
    for _ in range(15):
        seen.add(target)
        status, _, body = get(port, target)
        assert status == 200
        target = re.findall(r"href='(/calendar/\d+/\d+/)'", body.decode())[-1]
    assert len(seen) == 15
    assert get(port, "/calendar/2026/13/")[0] == 404
    january = get(port, "/calendar/2026/01/")[2].decode()
    months = re.findall(r"href='(/calendar/\d+/\d+/)'", january)
    assert months == ["/calendar/2025/12/", "/calendar/2026/02/"]


SPIDER = """
import json, scrapy

class Probe(scrapy.Spider):
    name = "probe"
    custom_settings = {"TELNETCONSOLE_ENABLED": False}

    async def start(self):
        for url in json.loads(self.urls):
            yield scrapy.Request(url, errback=self.failed, dont_filter=True)

    def parse(self, response):
        yield {"url": response.url, "status": response.status, "body": response.text,
               "slot": response.meta["download_slot"], "from": response.request.url}

    def failed(self, failure):
        yield {"url": failure.request.url, "error": type(failure.value).__name__}
"""


def crawl(web: str, cwd: Path, urls: list[str]) -> tuple[dict[str, dict[str, str]], str]:
    """Run a plain spider over these URLs in its own process: its items by URL, and its log."""
    write(cwd / "probe.py", SPIDER)
    options = {
        "LSWC_WEB": web,
        "TWISTED_DNS_RESOLVER": "lswc.crawl.transport.resolver.Resolver",
        "ROBOTSTXT_OBEY": "True",
        "RETRY_ENABLED": "False",
        "HTTPPROXY_ENABLED": "False",
    }
    settings = [part for name, value in options.items() for part in ("-s", f"{name}={value}")]
    command = ["-m", "scrapy", "runspider", "probe.py", "-O", "out.jsonl", *settings]
    # A plain spider, not one of the project that another test of this process may have set.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY_")}
    run = subprocess.run(
        [sys.executable, "-W", "error", *command, "-a", f"urls={json.dumps(urls)}"],
        cwd=cwd,
        env=clean | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (cwd / "out.jsonl").read_text().splitlines() if run.returncode == 0 else []
    return {item["url"]: item for item in map(json.loads, lines)}, run.stderr


def test_a_crawl_sees_the_real_names_and_ports(folder: Path, tmp_path: Path) -> None:
    write(folder / "robots.example" / "robots.txt", "User-agent: *\nDisallow: /private/")
    write(folder / "robots.example" / "private" / "index.html", "private")
    items, log = crawl(
        str(folder),
        tmp_path,
        urls=[
            f"http://{HOST}/news",
            f"https://{HOST}/list.php?id=3",
            f"http://{HOST}:8080/",
            f"http://{HOST}/moved?x=1",
            "http://xn--o3cw4h.example/",
            "http://robots.example/private/",
            "http://unknown.example/",
            "http://127.0.0.1/",
            "http://localhost/",
            "http://[::1]/",
            f"http://{HOST}/missing",
        ],
    )
    found = {url: item.get("body") or item.get("error") for url, item in items.items()}
    assert found == {
        f"http://{HOST}/news/": "news",
        f"https://{HOST}/list.php?id=3": "third",
        f"http://{HOST}:8080/": "port 8080",
        "http://other.example/": "slow",
        "http://xn--o3cw4h.example/": "idn",
        "http://robots.example/private/": "IgnoreRequest",
        "http://unknown.example/": "CannotResolveHostError",
        "http://127.0.0.1/": "CannotResolveHostError",
        "http://localhost/": "CannotResolveHostError",
        "http://[::1]/": "CannotResolveHostError",
        f"http://{HOST}/missing": "HttpError",
    }
    assert items[f"http://{HOST}:8080/"]["slot"] == HOST
    assert "Warning" not in log


@pytest.mark.parametrize("web", ["empty", "missing"])
def test_no_web_is_one_clear_error_before_anything_is_fetched(tmp_path: Path, web: str) -> None:
    (tmp_path / "empty").mkdir()
    items, log = crawl(web, tmp_path, [f"http://{HOST}/"])
    assert not items
    assert log.splitlines()[-1].startswith("lswc.crawl.web.answers.WebError: LSWC_WEB: ")


@pytest.mark.parametrize(
    ("target", "accepted", "body", "language"),
    [
        ("/", "", "english", "en"),
        ("/", "pt", "brasil", "pt-BR"),
        ("/", "pt-br, en;q=0.9", "brasil", "pt-BR"),
        ("/", "en-US, pt-BR;q=0.1, *;q=0", "brasil", "pt-BR"),
        ("/", "*;q=0.5, en;q=0.1", "brasil", "pt-BR"),
        ("/", "th, *;q=0.5", "english", "en"),
        ("/", "en;q=x, pt-BR;q=0", "english", "en"),
        ("/", ";;,=", "english", "en"),
        ("/index.html", "pt", "brasil", "pt-BR"),
        ("/only.html", "pt", "only", "en"),
        ("/one.html", "pt", "one", None),
    ],
)
def test_a_host_that_negotiates_serves_the_language_that_is_wanted_most(
    port: int, target: str, accepted: str, body: str, language: str | None
) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        headers = {"Host": "two.example", "Accept-Language": accepted}
        connection.request("GET", target, headers=headers)
        response = connection.getresponse()
        assert response.read().decode() == body
    assert response.headers["Content-Type"] == "text/html"
    assert response.headers["Content-Language"] == language
    assert response.headers["Vary"] == ("Accept-Language" if language else None)
