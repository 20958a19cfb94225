"""Replay of what crawls archived: a search by URL and title, and what shows a capture."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from itertools import islice
from pathlib import Path
from socket import create_connection, socket
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from lswc.archive import page_record
from lswc.archive.cdxj import index_of
from lswc.archive.collection import Indexes
from lswc.archive.run_settings import lacking, settings_of
from lswc.errors import ConfigError, StorageError, writing
from lswc.outcomes import UNCHANGED
from lswc.plurals import numbered
from lswc.processes import lives
from lswc.workbench.access import HEADERS, Guard
from lswc.workbench.player import FILES, Range, Served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lswc.archive.collection import Collection

FILE = "replay.json"
"""Name of the file in the crawl folder that says where its archive is replayed now."""

COLLECTION = "crawl"
PAGES_FOUND = 100
"""Pages that a search shows."""

QUERY_CHARACTERS = 1_000
"""Characters of what is searched for."""

PATIENCE = 60.0
"""Seconds until pywb answers."""

_BEFORE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>lswc replay</title>
<link rel="stylesheet" href="watch.css"></head><body><header class="top">
<div class="who"><h1>{name}</h1><p class="quiet">What was archived, as it was.
<a href="{all}">All captures</a></p></div>
<form id="search" role="search"><label for="q" class="unseen">A part of a URL or of a title</label>
<input id="q" name="q" type="search" value="{text}" placeholder="A part of a URL or of a title">
<button>Look up</button></form></header><main><section class="card full"><h2>{found}</h2>
<table><thead><tr><th>page</th><th>URL</th><th>captures</th></tr></thead><tbody>"""
_ROW = """<tr><td><a href="{capture}">{title}</a></td><td>{url}</td>
<td><a href="{captures}">all captures</a></td></tr>"""
_VIEW = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lswc replay</title>
<style>html, body {{ margin: 0; height: 100% }}</style><script src="ui.js"></script></head><body>
<replay-web-page source="/archive.wacz" style="display: block; height: 100vh" embed="full"
replayBase="/replay/" {attributes}></replay-web-page></body></html>"""
_AFTER = "</tbody></table></section></main></body></html>"


class Archived(NamedTuple):
    """A page of the archive; ``time`` has 14 digits, UTC."""

    url: str
    title: str
    time: str


def archived(crawls: Sequence[Path], text: str) -> Iterator[Archived]:
    """Yield the archived pages whose URL or title has a text in it, in the order of the records."""
    for crawl in crawls:
        yield from _archived(crawl, text)


def _archived(crawl: Path, text: str) -> Iterator[Archived]:
    wanted, is_all = text.strip().lower(), settings_of(crawl).get("LSWC_ARCHIVE") == "all"
    for record in page_record.records(crawl):
        if record.get("change") == UNCHANGED:
            continue  # what is stored of it says so
        if not (is_all or record["relevant"] or record["guessed"]):
            continue
        title = record["title"] or ""
        if wanted in record["url"].lower() or wanted in title.lower():
            digits = "".join(filter(str.isdigit, record["time"].partition(".")[0]))
            yield Archived(record["url"], title, digits)


class Pywb(NamedTuple):
    """Where pywb shows captures: its ``address`` ends with that of the collection.

    ``lacking`` is what WARC files lack of their indexes.
    """

    address: str
    lacking: tuple[str, ...] = ()

    @property
    def all(self) -> str:
        """Where all captures are looked up."""
        return self.address

    def capture(self, url: str, time: str) -> str:
        """Return where a capture of a time is, or the one that is closest."""
        return f"{self.address}{time}/{url}"

    def captures(self, url: str) -> str:
        """Return where all captures of a URL are."""
        return f"{self.address}*/{url}"


class Player(NamedTuple):
    """Where the player shows captures: on this server. ``folder`` has its files."""

    folder: Path
    archive: Served

    @property
    def lacking(self) -> tuple[str, ...]:
        """What WARC files lack of their indexes."""
        return self.archive.lacking

    @property
    def all(self) -> str:
        """Where all captures are looked up."""
        return "view?view=resources"

    def capture(self, url: str, time: str) -> str:
        """Return where a capture of a time is, or the one that is closest."""
        return f"view?{urlencode({'url': url, 'ts': time, 'view': 'pages'})}"

    def captures(self, url: str) -> str:
        """Return where all captures of a URL are."""
        asked = {"view": "resources", "query": url, "urlSearchType": "exact"}
        return f"view?{urlencode(asked)}"


def page(crawls: Sequence[Path], shown: Pywb | Player, text: str) -> str:
    """Return the page that answers a search; what the web says in it is text, and nothing else."""
    found = list(islice(archived(crawls, text), PAGES_FOUND))
    rows = [
        _ROW.format(
            capture=escape(shown.capture(one.url, one.time)),
            captures=escape(shown.captures(one.url)),
            url=escape(one.url),
            title=escape(one.title or one.url),
        )
        for one in found
    ]
    many = (
        f"The first {PAGES_FOUND} pages"
        if len(found) == PAGES_FOUND
        else numbered(len(found), "page")
    )
    name = ", ".join(map(str, crawls))
    values = {"name": name, "all": shown.all, "text": text, "found": many}
    head = _BEFORE.format(**{key: escape(value) for key, value in values.items()})
    return "".join((head, *rows, _AFTER))


def view(asked: Mapping[str, Sequence[str]]) -> str:
    """Return the page with the player in it, which shows what is asked for."""
    known = {
        name: asked[name][0][:QUERY_CHARACTERS]
        for name in ("url", "ts", "view", "query")
        if name in asked
    }
    attributes = " ".join(f'{name}="{escape(value)}"' for name, value in known.items())
    return _VIEW.format(attributes=attributes)


def wayback() -> str | None:
    """Return pywb's command, None if it isn't installed."""
    beside = Path(sys.prefix) / "pywb" / "bin" / "wayback"
    return str(beside) if beside.is_file() else shutil.which("wayback")


@contextmanager
def pywb_of(collection: Collection, command: str) -> Iterator[Pywb]:
    """Run pywb over what crawls archived; yields where it shows captures.

    Raises ArchiveError if nothing is archived, StorageError if pywb doesn't begin.
    """
    warcs = {warc: name for warc, name in collection.warcs().items() if index_of(warc).exists()}
    if not warcs:
        crawl = collection.crawls[0]
        raise lacking([crawl], f"it has no archive: there is nothing in {crawl / 'warc'}")
    with TemporaryDirectory() as home:
        told = lay_out(Path(home), warcs)
        paths = json.dumps({"index_paths": f"{home}/index/", "archive_paths": f"{home}/archive/"})
        text = f"collections:\n  {COLLECTION}: {paths}\n"
        (Path(home) / "config.yaml").write_text(text, "utf-8")
        with socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        arguments = [command, "-b", "127.0.0.1", "-p", str(port)]
        log = Path(home) / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(arguments, cwd=home, stdout=file, stderr=file)
        try:
            _wait(process, port, log)
            yield Pywb(f"http://127.0.0.1:{port}/{COLLECTION}/", told)
        finally:
            process.terminate()
            process.wait()


def lay_out(home: Path, warcs: Mapping[Path, str]) -> tuple[str, ...]:
    """Lay out WARC files and their indexes under names of their own, as pywb looks them up.

    Returns what the indexes have that the files haven't.
    """
    archive, folder, indexes = home / "archive", home / "index", Indexes(warcs)
    with writing(home):
        archive.mkdir()
        folder.mkdir()
        for warc, name in warcs.items():
            (archive / name).symlink_to(warc.resolve())
            index = index_of(folder / name)
            if indexes.is_ready(warc):
                index.symlink_to(index_of(warc).resolve())
            else:
                with index.open("wb") as file:
                    file.writelines(indexes.lines(warc))
    return indexes.told


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError), create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.1)
    lines = log.read_text("utf-8", "replace").splitlines()
    raise StorageError(f"pywb doesn't answer: {lines[-1] if lines else 'it says nothing'}")


_OF_PLAYER = {
    **{name: value for name, value in HEADERS.items() if name != "X-Frame-Options"},
    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
    "frame-ancestors 'self'; base-uri 'none'; form-action 'self'",
    "Service-Worker-Allowed": "/replay/",
}
"""What answers of the player's say: what it shows may be anything, but from nowhere else."""


class Search(BaseHTTPRequestHandler):
    """Answers a search, and shows what was archived."""

    crawls: Sequence[Path]
    shown: Pywb | Player
    guard: Guard
    css: bytes

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        given = parse_qs(asked.query)
        if not self.guard.knows(self.headers.get("Host")):
            self._answer(421, "text/plain", b"this server has another name\n")
        elif asked.path == "/watch.css":
            self._answer(200, "text/css", self.css)
        elif asked.path == "/":
            text = given.get("q", [""])[0][:QUERY_CHARACTERS]
            body = page(self.crawls, self.shown, text).encode(errors="replace")
            self._answer(200, "text/html; charset=utf-8", body)
        elif asked.path == "/go":
            self._go(given.get("url", [""])[0], given.get("ts", [""])[0])
        elif isinstance(self.shown, Player):
            self._play(self.shown, asked.path, given)
        else:
            self._answer(404, "text/plain", b"nothing is here\n")

    def _go(self, url: str, time: str) -> None:
        """Lead to a capture, whoever shows it."""
        target = self.shown.capture(url[:QUERY_CHARACTERS], "".join(filter(str.isdigit, time))[:14])
        self.send_response(302)
        self.send_header("Location", quote(target, safe="/:?&=%#+,;@!$'()*~"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _play(self, player: Player, path: str, given: Mapping[str, Sequence[str]]) -> None:
        if path == "/view":
            body = view(given).encode(errors="replace")
            self._answer(200, "text/html; charset=utf-8", body, _OF_PLAYER)
        elif path in FILES:
            body = (player.folder / FILES[path]).read_bytes()
            self._answer(200, "text/javascript", body, _OF_PLAYER)
        elif path == "/archive.wacz":
            self._send(player.archive)
        else:  # what the player's own worker answers, once it runs
            self._answer(404, "text/html", b"<!doctype html>", _OF_PLAYER)

    def _send(self, archive: Served) -> None:
        header = self.headers.get("Range")
        part = archive.asked(header) if header else Range(0, archive.size)
        if part is None:
            self._answer(416, "text/plain", b"no such part\n")
            return
        self.send_response(206 if header else 200)
        if header:
            self.send_header("Content-Range", f"bytes {part.begin}-{part.end - 1}/{archive.size}")
        for name, value in _OF_PLAYER.items():
            self.send_header(name, value)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", "application/wacz")
        self.send_header("Content-Length", str(part.end - part.begin))
        self.end_headers()
        with suppress(OSError):  # the browser has enough
            for piece in archive.pieces(part):
                self.wfile.write(piece)

    def do_HEAD(self) -> None:
        if urlsplit(self.path).path == "/archive.wacz" and isinstance(self.shown, Player):
            self.send_response(200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(self.shown.archive.size))
            self.end_headers()
        else:
            self._answer(405, "text/plain", b"")

    def _answer(
        self, status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or HEADERS).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """Serves until Ctrl-C, or until another process has ended, if ``pid`` isn't 0."""

    pid: int

    def service_actions(self) -> None:
        if self.pid and not lives(self.pid):
            raise KeyboardInterrupt


def server(
    crawls: Sequence[Path], shown: Pywb | Player, port: int, pid: int = 0
) -> ThreadingHTTPServer:
    """Return what serves the search on this machine, until the process ``pid`` ends if it isn't 0.

    Raises ConfigError if the port is taken.
    """
    of_crawls = {
        "crawls": crawls,
        "shown": shown,
        "guard": Guard("127.0.0.1"),
        "css": files("lswc.workbench").joinpath("static", "watch.css").read_bytes(),
    }
    try:
        serving = _Server(("127.0.0.1", port), type("Search", (Search,), of_crawls))
    except OSError as error:
        raise ConfigError(f"can't listen to port {port}: {error.strerror}; say --port") from error
    serving.pid = pid
    return serving


@contextmanager
def announced(crawl: Path, address: str) -> Iterator[None]:
    """Say in the crawl's folder where it is replayed, as long as it is."""
    path = crawl / FILE
    with writing(path):
        path.write_text(json.dumps({"address": address, "process": os.getpid()}) + "\n", "utf-8")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def address_of(crawl: Path) -> str:
    """Return where a crawl's archive is replayed now on this machine, "" if nowhere."""
    try:
        found = json.loads((crawl / FILE).read_text("utf-8"))
        process, address = int(found["process"]), str(found["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return address if address.startswith("http://127.0.0.1:") and lives(process) else ""
