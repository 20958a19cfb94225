"""Folder that keeps a web as files, ``<folder>/<hostname>/<path>``: which answers which URL."""

from __future__ import annotations

import os
from functools import cache
from mimetypes import MimeTypes
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from lswc.crawl.web import calendar
from lswc.crawl.web.answers import Answer, WebError
from lswc.crawl.web.host_rules import HostRules, read_rules
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

INDEXES = ("index.html", "index.htm")
DYNAMIC = {".php", ".asp", ".aspx", ".jsp", ".cgi", ".shtml", ".phtml", ".cfm", ".pl"}


class FolderWeb:
    """A folder of host folders, with optional rules in its ``web.json``.

    A folder named ``host:8080`` answers that port alone; ``host`` answers every port that has
    no folder of its own, by http and https alike. Raises WebError if there is no host folder.
    """

    def __init__(self, folder: Path) -> None:
        self._hosts = dict(_host_folders(folder))
        if not self._hosts:
            raise WebError(
                f"LSWC_WEB: {folder} holds no host folder; it must be like "
                f"{folder}/www.example.org/index.html"
            )
        self._rules: Mapping[str, HostRules] = read_rules(folder / "web.json")

    def knows(self, server: str) -> bool:
        """Tell whether there is a folder for this host."""
        return self._host(server) is not None

    def answer(self, server: str, target: str, accepted: str = "") -> Answer:
        """Answer from the host's rules, else from its files."""
        host = self._host(server)
        if host is None:
            return Answer(404)
        rules = self._rules.get(host, HostRules())
        path, _, query = target.partition("?")
        languages = _in_order(rules.languages, accepted)
        answer = _ruled(rules, target) or _from_files(self._hosts[host], path, query, languages)
        headers = (*answer.headers, *rules.headers.items())
        return Answer(answer.status, headers, answer.body, rules.delay, rules.shape)

    def _host(self, server: str) -> str | None:
        if server in self._hosts:
            return server
        host = server.rpartition(":")[0] if server.rpartition(":")[2].isdecimal() else server
        return host if host in self._hosts else None


def _host_folders(folder: Path) -> Iterator[tuple[str, Path]]:
    for child in sorted(folder.iterdir()):
        url = parse(f"http://{child.name}/")
        if url and child.is_dir() and not child.name.startswith("."):
            yield url.server, child


def _ruled(rules: HostRules, target: str) -> Answer | None:
    if target in rules.redirects:
        status, location = rules.redirects[target]
        return Answer(status, (("Location", location),))
    if rules.calendar is not None:
        page = calendar.page(rules.calendar.prefix, rules.calendar.language, target)
        if page is not None:
            return Answer(200, (("Content-Type", "text/html"),), page)
    return None


def _from_files(host: Path, path: str, query: str, languages: Sequence[str]) -> Answer:
    for segments in _readings(path):
        for name in _names(segments[-1], query):
            for language in (*languages, ""):
                written = f"{name}.{language}" if language else name
                file = _inside(host, [*segments[:-1], written])
                if file is not None and S_ISREG(_mode(file)):
                    return Answer(200, (*_typed(name), *_negotiated(language)), file)
        folder = _inside(host, segments) if segments[-1] else None
        if folder is not None and S_ISDIR(_mode(folder)):
            # Rebuilt from its segments: a path such as //host/a must not become a Location.
            encoded = "/".join(quote(os.fsencode(segment)) for segment in segments)
            suffix = f"?{query}" if query else ""
            return Answer(301, (("Location", f"/{encoded}/{suffix}"),))
    return Answer(404)


def _readings(path: str) -> Iterator[list[str]]:
    # Archives keep a percent-encoded name either decoded or as it stood in the URL.
    decoded = [os.fsdecode(unquote_to_bytes(segment)) for segment in path.split("/")]
    raw = path.split("/")
    for segments in [decoded] if decoded == raw else [decoded, raw]:
        yield [*filter(None, segments[:-1]), segments[-1]]


def _names(last: str, query: str) -> Iterator[str]:
    """Yield the file names to try, most particular first, as wget writes them."""
    for name in [last] if last else INDEXES:
        if query:
            for reading in (query, os.fsdecode(unquote_to_bytes(query))):
                yield f"{name}?{reading}"
                yield f"{name}?{reading.replace('/', '%2F')}"
    yield from [last] if last else INDEXES


def _inside(host: Path, segments: list[str]) -> Path | None:
    """Return the file of these segments, None if it lies outside the host's folder."""
    if any(segment in (".", "..") or "/" in segment or "\0" in segment for segment in segments):
        return None
    file = host.joinpath(*segments)
    real = Path(os.path.realpath(file))
    return file if real.is_relative_to(os.path.realpath(host)) else None


def _mode(file: Path) -> int:
    try:
        return file.stat().st_mode
    except (OSError, ValueError):  # ValueError: a name that no file system takes
        return 0


def _in_order(offered: Sequence[str], accepted: str) -> list[str]:
    """Return the languages offered, the most wanted first by Accept-Language (RFC 9110 §12.5.4).

    A range counts for the tags that it begins (RFC 4647 §3.3.1). The first one offered is served
    to who doesn't say, or wants none.
    """
    ranges = dict(_range(part) for part in accepted.lower().split(","))
    return sorted(offered, key=lambda tag: _weight(tag.lower(), ranges), reverse=True)


def _range(part: str) -> tuple[str, float]:
    tag, _, parameter = part.partition(";")
    name, _, value = parameter.strip().partition("=")
    try:
        weight = float(value) if name.strip() == "q" else 1.0
    except ValueError:
        weight = 0.0
    return tag.strip(), weight


def _weight(tag: str, ranges: dict[str, float]) -> float:
    matching = [name for name in ranges if tag == name or tag.startswith(f"{name}-")]
    return ranges[max(matching, key=len)] if matching else ranges.get("*", 0.0)


@cache
def _types() -> MimeTypes:
    return MimeTypes(filenames=())  # not the machine's own lists


def _negotiated(language: str) -> tuple[tuple[str, str], ...]:
    return (("Content-Language", language), ("Vary", "Accept-Language")) if language else ()


def _typed(written: str) -> tuple[tuple[str, str], ...]:
    """Name the type by the file's extension alone, never a charset; none if it tells nothing."""
    name = Path(written.partition("?")[0])
    kind, encoding = _types().guess_type(name.name, strict=False)
    if encoding:
        kind = f"application/{encoding}"
    if kind is None and (not name.suffix or name.suffix.lower() in DYNAMIC):
        kind = "text/html"
    return (("Content-Type", kind or "application/octet-stream"),)
