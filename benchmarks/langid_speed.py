"""Pages per second from bytes to language, links and anchor languages, on one core.

python -m benchmarks.langid_speed FOLDER [--targets th,my,ja,vi] [--pages 300] [--runs 5]

FOLDER holds HTML files, by host and path; those of 20 to 50 KB count. Each run reads others, so
that nothing is remembered of a page. Each figure is the median of the runs, with the lowest and
the highest. "As a crawl reads" has links in scope, what they name, and the simhash of the text.
Beside it, on the same pages: links and text with selectolax, the language of the text by CLD2, or
by eldc if that is installed; links and text with lxml; langdetect, on text that is given, of the
first pages. Each has a process of its own, so that none finds what another has just used in the
processor's caches. They take turns run by run, so that what else the machine does weighs on all
alike. The last line is the worst of some pages of 1 MB made to be slow, in milliseconds.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import langdetect
import lxml.html
import pycld2
from selectolax.lexbor import LexborHTMLParser

from lswc.language import Identifier
from lswc.language.document import Document
from lswc.language.registry import language
from lswc.outcomes import Outcome
from lswc.reading.page import PageReader
from lswc.reading.scope import Scope
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable

_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
MEGABYTE = 1_000_000
LSWC, CRAWL = "lswc, target ", "as a crawl reads, "
CLD2, ELDC, LXML = "selectolax + CLD2", "selectolax + eldc", "lxml: links and text"
LANGDETECT = "langdetect, text given"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", default="th,my,km,lo,ja,zh,ko,vi")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    part = Part(options.folder, options.pages * options.runs, options.runs)
    pages = sample(part.folder, part.most)
    size = sum(len(page.body) for page in pages) / len(pages)
    print(f"{len(pages)} pages, mean {size / 1000:.1f} KB, in {options.runs} runs; pages/s")
    codes = options.targets.split(",")
    names = [*(f"{LSWC}{code}" for code in codes), f"{CRAWL}{codes[0]}", CLD2, ELDC, LXML]
    report([name for name in names if name != ELDC or find_spec("eldc")], part)
    report([LANGDETECT], Part(part.folder, 20, 1))
    print(f"{'1 MB, worst':28} {worst():8.1f} ms")


class Page(NamedTuple):
    """A page and its URL."""

    body: bytes
    url: str


class Part(NamedTuple):
    """So many pages of a folder, and the runs that they are read in."""

    folder: Path
    most: int
    runs: int


@cache
def sample(folder: Path, most: int) -> list[Page]:
    """Return pages of 20 to 50 KB, the same ones each time."""
    files = sorted(file for file in folder.rglob("*.html") if file.is_file())
    random.Random(1).shuffle(files)
    sizable = (file for file in files if 20_000 <= file.stat().st_size <= 50_000)
    return [
        Page(file.read_bytes(), f"http://{quote(file.relative_to(folder).as_posix())}")
        for file in islice(sizable, most)
    ]


def report(names: list[str], part: Part) -> None:
    """Print pages per second of each work, each of them in a process of its own."""
    rates: dict[str, list[float]] = {name: [] for name in names}
    workers = [ProcessPoolExecutor(1, get_context("spawn")) for _ in names]
    for run in range(part.runs):
        for name, worker in zip(names, workers, strict=True):
            rates[name].append(worker.submit(rate, name, part, run).result())
    for worker in workers:
        worker.shutdown()
    for name, measured in rates.items():
        spread = f"{min(measured):.0f}-{max(measured):.0f}"
        print(f"{name:28} {statistics.median(measured):8.0f}   {spread}")


def rate(name: str, part: Part, run: int) -> float:
    """Return the pages of a run that a work reads in a second, after one page to warm up."""
    pages, work = sample(part.folder, part.most), work_of(name)
    work(pages[0])
    start = time.process_time()
    for page in pages[run :: part.runs]:
        work(page)
    return len(pages[run :: part.runs]) / (time.process_time() - start)


@cache
def work_of(name: str) -> Callable[[Page], object]:
    """Return what is done to a page, by its name in the table."""
    if name.startswith(LSWC):
        return reader(Identifier(language(name.removeprefix(LSWC))))
    if name.startswith(CRAWL):
        return crawl_reader(Identifier(language(name.removeprefix(CRAWL))))
    if name in (CLD2, ELDC):
        return detector(detect_cld2 if name == CLD2 else eldc())
    return extract_lxml if name == LXML else detect_langdetect


def detector(detect: Callable[[str], object]) -> Callable[[Page], object]:
    """Return a function that takes a page's links, their texts, and the language of its text."""

    def work(page: Page) -> object:
        tree = LexborHTMLParser(page.body)
        links = [(node.attributes.get("href"), node.text()) for node in tree.css("a[href]")]
        tree.strip_tags(["script", "style"])
        return links, detect(tree.body.text(separator="\n") if tree.body else "")

    return work


def detect_cld2(text: str) -> object:
    """Detect the language of a text; CLD2 doesn't take control characters."""
    try:
        return pycld2.detect(_CONTROLS.sub(" ", text).encode("utf-8", "replace"))
    except pycld2.error:
        return None


def eldc() -> Callable[[str], object]:
    """Return eldc's detector."""
    module = import_module("eldc")
    module.init()
    detect: Callable[[str], object] = module.detect
    return detect


def reader(identifier: Identifier) -> Callable[[Page], object]:
    """Return a function that reads one page: its language, links and their texts' languages."""
    identifier.load()  # as a crawl's readers do at their start
    return lambda page: identifier.read(page.body, "text/html", page.url)


def crawl_reader(identifier: Identifier) -> Callable[[Page], object]:
    """Return a function that reads one page as the spider does."""
    identifier.load()
    pages = PageReader(identifier, Scope(0, 2083), frozenset({Outcome.NOFOLLOW}))

    def read(page: Page) -> object:
        url = parse(page.url)
        return url and pages.read(page.body, {"content-type": ("text/html",)}, url, 0)

    return read


def detect_langdetect(page: Page) -> object:
    """Detect the language of a page's text alone."""
    try:
        return langdetect.detect(Document(page.body, None, page.url).page.content)
    except langdetect.LangDetectException:
        return None


def extract_lxml(page: Page) -> object:
    """Take links, their texts and the page's text; no language."""
    tree = lxml.html.fromstring(page.body)
    tree.make_links_absolute(page.url)
    links = [(a.get("href"), a.text_content()) for a in tree.iter("a")]
    return links, tree.text_content()


def worst() -> float:
    """Return the slowest of some hostile pages of 1 MB, in milliseconds."""
    identifiers = [Identifier(language(code)) for code in ("th", "my", "vi", "zh")]
    slowest = 0.0
    for identifier in identifiers:
        reader(identifier)(Page(b"warm up", "http://host.test/"))
        for page in hostile():
            start = time.process_time()
            reader(identifier)(Page(page, "http://host.test/"))
            slowest = max(slowest, time.process_time() - start)
    return slowest * 1000


def hostile() -> list[bytes]:
    """Return pages that are slow to parse, to decode or to tell."""
    units = [
        *(
            b"<div>",
            b"<b><p>",
            b"<a href=x>",
            b"<ul><li>",
            b"<dl><dd>",
            b"<table><td>x",
            b"<",
            b"\0",
        ),
        *(
            b"&amp",
            b"<a href=../x?y>z</a>",
            "ກ ".encode(),
            "漢字かな ".encode("shift_jis"),
            b"\xff\xfe",
        ),
        *(b"\x1b$B0!", "Tiếng Việt ".encode(), "မြန်မာ ".encode(), b"tjynfjyn fqdkif&m ", b"\x80a"),
        *(b"<a href='?\xe0\xb8\x81'>\xe0\xb8\x81</a>", b"<font face='Win Innwa'>", b"\xc3"),
    ]
    pages = [unit * (MEGABYTE // len(unit)) for unit in units]
    many = b" ".join(b"a%d='>'" % i for i in range(90_000))
    fonts = b"".join(b"<font size=%d>" % i for i in range(30_000))
    return [*pages, b"<a " + many, fonts + b"<p>" * 150_000, random.Random(1).randbytes(MEGABYTE)]


if __name__ == "__main__":
    main()
