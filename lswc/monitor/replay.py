"""Replay of what crawls archived: pywb shows it, after a page that searches by URL and title."""

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
from urllib.parse import parse_qs, urlsplit

from lswc.archive import page_record
from lswc.archive.cdxj import index_of
from lswc.archive.collection import is_ready, lines_of
from lswc.archive.run_settings import lacking, settings_of
from lswc.errors import ConfigError, StorageError, writing
from lswc.monitor.page.access import HEADERS, Guard
from lswc.outcomes import UNCHANGED
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from lswc.archive.collection import Collection

FILE = "replay.json"
"""Name of the file in the crawl folder that says where its archive is replayed now."""

COLLECTION = "crawl"
MOST = 100
"""Pages that a search shows."""

LONGEST = 1_000
"""Characters of what is searched for."""

PATIENCE = 60.0
"""Seconds until pywb answers."""

_BEFORE = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>lswc replay</title>
<link rel="stylesheet" href="watch.css"></head><body><header class="top">
<div class="who"><h1>{name}</h1><p class="quiet">What was archived, as it was.
<a href="{pywb}">By URL, in pywb</a></p></div>
<form id="search" role="search"><label for="q" class="unseen">A part of a URL or of a title</label>
<input id="q" name="q" type="search" value="{text}" placeholder="A part of a URL or of a title">
<button>Look up</button></form></header><main><section class="card full"><h2>{found}</h2>
<table><thead><tr><th>page</th><th>URL</th><th>captures</th></tr></thead><tbody>"""
_ROW = """<tr><td><a href="{pywb}{time}/{url}">{title}</a></td><td>{url}</td>
<td><a href="{pywb}*/{url}">calendar</a></td></tr>"""
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


def page(crawls: Sequence[Path], pywb: str, text: str) -> str:
    """Return the page that answers a search; what the web says in it is text, and nothing else."""
    found = list(islice(archived(crawls, text), MOST))
    rows = [
        _ROW.format(
            pywb=escape(pywb),
            time=one.time,
            url=escape(one.url),
            title=escape(one.title or one.url),
        )
        for one in found
    ]
    many = f"The first {MOST} pages" if len(found) == MOST else numbered(len(found), "page")
    name = ", ".join(map(str, crawls))
    head = _BEFORE.format(name=escape(name), pywb=escape(pywb), text=escape(text), found=many)
    return "".join((head, *rows, _AFTER))


def wayback() -> str:
    """Return pywb's command. Raises ConfigError if it isn't installed."""
    beside = Path(sys.prefix) / "pywb" / "bin" / "wayback"
    found = str(beside) if beside.is_file() else shutil.which("wayback")
    if found is None:
        raise ConfigError(
            "this needs pywb, in an environment of its own, as it needs older libraries than lswc: "
            "pipx install pywb==2.10.0"
        )
    return found


@contextmanager
def pywb_of(collection: Collection, command: str) -> Iterator[str]:
    """Run pywb over what crawls archived; yields the address that a time and a URL are added to.

    Raises ArchiveError if nothing is archived, StorageError if pywb doesn't begin.
    """
    warcs = {warc: name for warc, name in collection.warcs().items() if index_of(warc).exists()}
    if not warcs:
        crawl = collection.crawls[0]
        raise lacking([crawl], f"it has no archive: there is nothing in {crawl / 'warc'}")
    with TemporaryDirectory() as home:
        lay_out(Path(home), warcs)
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
            yield f"http://127.0.0.1:{port}/{COLLECTION}/"
        finally:
            process.terminate()
            process.wait()


def lay_out(home: Path, warcs: Mapping[Path, str]) -> None:
    """Lay out WARC files and their indexes under names of their own, as pywb looks them up."""
    archive, indexes = home / "archive", home / "index"
    with writing(home):
        archive.mkdir()
        indexes.mkdir()
        for warc, name in warcs.items():
            (archive / name).symlink_to(warc.resolve())
            index = index_of(indexes / name)
            if is_ready(warc, name):
                index.symlink_to(index_of(warc).resolve())
            else:
                with index.open("wb") as file:
                    file.writelines(lines_of(warc, name))


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        with suppress(OSError), create_connection(("127.0.0.1", port), 1.0):
            return
        time.sleep(0.1)
    said = log.read_text("utf-8", "replace").splitlines()
    raise StorageError(f"pywb doesn't answer: {said[-1] if said else 'it says nothing'}")


def server(crawls: Sequence[Path], pywb: str, port: int) -> ThreadingHTTPServer:
    """Return what serves the search on this machine. Raises ConfigError if the port is taken."""
    guard = Guard("127.0.0.1")
    css = files("lswc.monitor.page").joinpath("static", "watch.css").read_bytes()

    class Search(BaseHTTPRequestHandler):
        """Answers a search, and what its page looks like."""

        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if not guard.knows(self.headers.get("Host")):
                self._answer(421, "text/plain", b"this server has another name\n")
            elif asked.path == "/watch.css":
                self._answer(200, "text/css", css)
            elif asked.path == "/":
                text = parse_qs(asked.query).get("q", [""])[0][:LONGEST]
                body = page(crawls, pywb, text).encode(errors="replace")
                self._answer(200, "text/html; charset=utf-8", body)
            else:
                self._answer(404, "text/plain", b"nothing is here\n")

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            policy = HEADERS["Content-Security-Policy"].replace(
                "form-action 'none'", "form-action 'self'"
            )
            for name, value in {**HEADERS, "Content-Security-Policy": policy}.items():
                self.send_header(name, value)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    try:
        return ThreadingHTTPServer(("127.0.0.1", port), Search)
    except OSError as error:
        raise ConfigError(f"can't listen to port {port}: {error.strerror}; say --port") from error


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
        os.kill(int(found["process"]), 0)
        address = str(found["address"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return address if address.startswith("http://127.0.0.1:") else ""
