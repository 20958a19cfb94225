"""Generation of the demo web's files: the same for the same seed, with the truth of each page."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from lswc.errors import writing
from lswc.lab.demo import sitemaps_and_feeds
from lswc.lab.demo.dress import files
from lswc.lab.demo.hosts import charset
from lswc.lab.demo.hypertext import DOCUMENT, MOVED_HOSTS, NO_LANGUAGE, SEEDS, DemoWeb
from lswc.lab.demo.pdf_file import pdf
from lswc.lab.demo.render import render, script, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from lswc.lab.demo.hypertext import DemoPage, DemoSite

SEED = 1
VERSION = 5  # one more whenever the generated files change, so that old ones aren't reused
MARKER = "demo-web.json"
SLOWNESS = 0.3
NONE: Mapping[str, str] = MappingProxyType({})
LINES, LINE = 40, 75  # of the document: how many, and their characters


def prepare(folder: Path, seed: int = SEED, further: Mapping[str, str] = NONE) -> Path:
    """Generate the demo web there unless it is already; all of it or nothing appears.

    ``further`` are texts of other files, by name. Raises LswcError if it can't be written.
    """
    marker = {"version": VERSION, "seed": seed}
    if _marker(folder) == marker:
        return folder
    with writing(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        alone = os.open(folder.parent, os.O_RDONLY)
        try:
            fcntl.flock(alone, fcntl.LOCK_EX)  # or the web of a crawl that just began is replaced
            if _marker(folder) != marker:
                _prepare(folder, seed, {**further, MARKER: json.dumps(marker)})
        finally:
            os.close(alone)
    return folder


def _prepare(folder: Path, seed: int, further: Mapping[str, str]) -> None:
    unfinished = Path(tempfile.mkdtemp(prefix=".demo-web-", dir=folder.parent))
    try:
        generate(unfinished, seed)
        for name, content in further.items():
            (unfinished / name).write_text(content)
        unfinished.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        unfinished.replace(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def generate(folder: Path, seed: int = SEED) -> None:
    """Write the demo web: its hosts, ``web.json``, ``truth.jsonl`` and ``seeds-<lang>.txt``."""
    web = DemoWeb(seed)
    for page in web.pages:
        file = folder / page.host.name / _file(page.path)
        if page.otherwise is None:
            _write(file, render(page, web.random))
            continue
        for served in (page, page.otherwise):
            written = file.with_name(f"{file.name}.{served.language}")
            _write(written, render(served, web.random))
    dress = files()
    for site in web.sites.values():
        _write_site(folder / site.host.name, site, dress | _further(site, dress, web.random))
    for name in MOVED_HOSTS:
        (folder / name).mkdir()
    rules = _rules(web.sites.values())
    (folder / "web.json").write_text(json.dumps(rules, indent=1), encoding="utf-8")
    for language, seeds in SEEDS.items():
        lines = "".join(f"http://{seed}\n" for seed in seeds.split())
        (folder / f"seeds-{language}.txt").write_text(lines, encoding="utf-8")
    truth = "".join(f"{json.dumps(page)}\n" for page in _truth(web))
    (folder / "truth.jsonl").write_text(truth, encoding="utf-8")


def _marker(folder: Path) -> object:
    try:
        return json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError):
        return None


def _file(path: str) -> str:
    name = path.removeprefix("/")
    return f"{name}index.html" if name.endswith("/") or not name else name


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def _write_site(folder: Path, site: DemoSite, dress: dict[str, bytes]) -> None:
    for name, content in dress.items():
        _write(folder / name, content)
    closed = "/" if "closed" in site.host.features else ""
    excluded = "/archive/" if "private" in site.host.features else closed
    rules = f"User-agent: *\nDisallow: {excluded}\n{sitemaps_and_feeds.robots_lines(site)}"
    (folder / "robots.txt").write_text(rules)


def _further(site: DemoSite, dress: dict[str, bytes], random: Random) -> dict[str, bytes]:
    """Return the files of a host that are no HTML pages, by name."""
    found, language = sitemaps_and_feeds.files(site), site.host.languages[0]
    if "document" in site.host.features:
        words = text(language, random) * 12
        lines = [words[start : start + LINE] for start in range(0, len(words), LINE)]
        found[DOCUMENT[1:]] = pdf(lines[:LINES], dress["demo.ttf"])
    if "shell" in site.host.features:
        found["app.js"] = script(text(language, random) for _ in range(5))
    return found


def _rules(sites: Iterable[DemoSite]) -> dict[str, dict[str, object]]:
    rules: dict[str, dict[str, object]] = {
        old: {"redirects": {"/": (301, f"http://{new}/")}} for old, new in MOVED_HOSTS.items()
    }
    for site in sites:
        host: dict[str, object] = {}
        if site.redirects:
            host["redirects"] = site.redirects
        if "slow" in site.host.features:
            host["delay"] = SLOWNESS
        if "calendar" in site.host.features:
            host["calendar"] = {"prefix": "/calendar/", "language": site.host.languages[0]}
        if site.front.otherwise is not None:
            host["languages"] = [site.front.otherwise.language, site.front.language]
        if host:
            rules[site.host.name] = host
    return rules


def _truth(web: DemoWeb) -> Iterable[dict[str, object]]:
    reached = {language: web.distances(language) for language in SEEDS}
    listed = web.listed
    for page in web.pages:
        yield {
            "url": page.url,
            "language": page.language,
            "encoding": _encoding(page),
            "server": page.host.name,
            "reachable": {name: found[page] for name, found in reached.items() if page in found},
            "listed": listed.get(page, ""),
        }


def _encoding(page: DemoPage) -> str:
    """Name the charset, or the two that are more than one: numeric references and Zawgyi."""
    encoding = page.host.encoding
    if page.language == NO_LANGUAGE or (encoding == "zawgyi" and page.language != "my"):
        return charset(encoding)
    return encoding
