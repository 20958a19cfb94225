"""Page index: what it costs, and how soon it answers.

``python -m benchmarks.page_index terms WEB``: CPU time and bytes of an index of real pages of a
frozen web, by how their texts are cut into terms, for each script.

``python -m benchmarks.page_index crawl WEB SEEDS [--pairs 9] [--pages 1500]``: CPU time a page of a
crawl with the index and without, of all its processes, in neighbouring pairs.

``python -m benchmarks.page_index answers WEB FOLDER [--pages 1000000]``: makes an index of so many
pages, with texts of that web, unless the folder has one, and prints how long answers take.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.page_index import TEXT_CHARACTERS, Collected, Row, Writer, row
from lswc.archive.page_search import Asked, opened
from lswc.archive.page_terms import terms, words
from lswc.language.document import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCRIPTS = {
    "Thai": "[\u0e00-\u0e7f]", "Lao": "[\u0e80-\u0eff]", "Khmer": "[\u1780-\u17ff]",
    "Burmese": "[\u1000-\u109f]", "Japanese": "[\u3040-\u30ff]", "Chinese": "[\u4e00-\u9fff]",
    "Korean": "[\uac00-\ud7a3]", "Vietnamese": "[\u1ea0-\u1ef9\u01a1\u01b0\u0111]",
}  # fmt: skip
"""Letters of which a page of the script, or language, has many."""

SHARE = {"Vietnamese": 0.04}
"""Of a page's letters, at least; else 0.15."""

LOOKED = 12_000
"""Files of a web that are looked at."""

EACH = 400
"""Pages of a script that are indexed."""

SHOWN = 50
AT = 1_700_000_000.0
EVERY = 0.1
"""Seconds since 1970 when the first page came, and seconds between two."""


def texts(web: Path) -> dict[str, list[tuple[str, str]]]:
    """Return titles and texts of pages of a frozen web, by script."""
    files = sorted(path for path in web.rglob("*") if path.is_file())
    random.Random(58).shuffle(files)
    found: dict[str, list[tuple[str, str]]] = {}
    for path in files[:LOOKED]:
        page = Document(path.read_bytes(), "text/html", "http://a.example/").page
        text = f"{page.content}\n{page.anchors}"[:TEXT_CHARACTERS]
        there = found.setdefault(_script(text), [])
        if len(text) > 300 and len(there) < EACH:
            there.append((page.title, text))
    return found


def _script(text: str) -> str:
    for name, letters in SCRIPTS.items():
        if len(re.findall(letters, text)) > SHARE.get(name, 0.15) * len(text):
            return name
    return "other"


def cut(web: Path) -> None:
    """Print what each way to cut texts costs."""
    ways: dict[str, tuple[str, Callable[[str], str]]] = {
        "trigram, with places": ("tokenize = 'trigram'", str),
        "trigram": ("tokenize = 'trigram', detail = none, columnsize = 0", str),
        "terms": (
            "tokenize = 'ascii', detail = none, columnsize = 0",
            terms,
        ),
    }
    for script, pages in texts(web).items():
        letters = sum(len(text) for _, text in pages) / len(pages)
        print(f"\n{script}: {len(pages)} pages, {letters:,.0f} characters each")
        for name, (how, prepared) in ways.items():
            cpu, size = _indexed(how, prepared, [f"{title}\n{text}" for title, text in pages])
            print(f"  {name:22}{cpu:7.3f} ms CPU a page{size:8,.0f} bytes a page")
        cpu, size = _written(pages)
        print(f"  {'all that a crawl does':22}{cpu:7.3f} ms CPU a page{size:8,.0f} bytes a page")


def _written(pages: list[tuple[str, str]]) -> tuple[float, float]:
    """Return CPU time and bytes of rows, words and their transactions, as a crawl has them."""
    found = [
        Collected(_record(f"http://a{n % 50}.example/{n}", title, "th"), text, len(text))
        for n, (title, text) in enumerate(pages)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.db"
        begin = process_time()
        writer = Writer(path)
        for first in range(0, len(found), 50):
            writer.put(list(map(row, found[first : first + 50])), first, at=AT + first)
        writer.close()
        cpu = process_time() - begin
        return 1000 * cpu / len(pages), path.stat().st_size / len(pages)


def _record(url: str, title: str, language: str) -> dict[str, object]:
    return {
        "url": url, "title": title, "kind": "html", "visit": 1, "change": "new", "status": 200,
        "time": "2023-11-14T00:00:00+00:00", "language": language, "relevant": language == "th",
    }  # fmt: skip


def _indexed(how: str, prepared: Callable[[str], str], pages: list[str]) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute(f"CREATE VIRTUAL TABLE word USING fts5(terms, content = '', {how})")
            begin = process_time()
            for first in range(0, len(pages), 50):
                db.execute("BEGIN")
                for number, page in enumerate(pages[first : first + 50], first):
                    put = "INSERT INTO word(rowid, terms) VALUES (?, ?)"
                    db.execute(put, (number, prepared(page)))
                db.execute("COMMIT")
            cpu = process_time() - begin
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return 1000 * cpu / len(pages), path.stat().st_size / len(pages)


class Spent(NamedTuple):
    """CPU time a page, in milliseconds: of a crawl's processes, and of its index made once more."""

    crawl: float
    index: float


def _crawl(seeds: Path, web: Path, pages: int, index: int) -> Spent:
    with tempfile.TemporaryDirectory() as folder:
        crawl = Path(folder) / "crawl"
        command = [sys.executable, "-m", "lswc", "crawl", "th", "--into", str(crawl)]
        command += ["--seeds", str(seeds)]
        settings = {
            "LSWC_WEB": web, "LSWC_PAGE_INDEX": index, "LSWC_ARCHIVE": "all",
            "LSWC_MAX_DUPLICATES": 0, "LSWC_STOP_HARVEST": 0, "LSWC_REQUISITES": "none",
            "CLOSESPIDER_ITEMCOUNT": pages, "DOWNLOAD_DELAY": 0, "LSWC_READERS": 1,
        }  # fmt: skip
        command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        with (crawl / "pages.jsonl").open() as record:
            number = sum(1 for _ in record)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Spent(1000 * used / number, _once_more(crawl) if index else 0.0)


def _once_more(crawl: Path) -> float:
    with opened([crawl]) as search:
        rows = search.find(Asked(words("")), 1_000_000).pages
    return _written([(one.title, one.text) for one in rows])[0]


def pairs(web: Path, seeds: Path, number: int, pages: int) -> None:
    """Print what the index costs a crawl."""
    ratios, without, with_it = [], [], []
    for turn in range(number):
        for index in (0, 1) if turn % 2 else (1, 0):
            (with_it if index else without).append(_crawl(seeds, web, pages, index))
        plain, indexed = without[-1], with_it[-1]
        ratios.append(indexed.crawl / plain.crawl - 1)
        share = indexed.index / indexed.crawl
        print(
            f"{plain.crawl:.2f} ms, with the index {indexed.crawl:.2f} ms: {ratios[-1]:+.1%}; "
            f"the index once more {indexed.index:.2f} ms, {share:.1%}",
            flush=True,
        )
    print(
        f"medians: {statistics.median(one.crawl for one in without):.2f} ms CPU a page, "
        f"{statistics.median(one.crawl for one in with_it):.2f} ms with the index, pairs "
        f"{statistics.median(ratios):+.1%} ({min(ratios):+.1%} to {max(ratios):+.1%}); the index "
        f"once more {statistics.median(one.index for one in with_it):.2f} ms"
    )


KNOWN: dict[bytes, str] = {}


class Made(Row):
    """A row whose terms are known: of a text that others have, too."""

    def terms(self) -> str:
        return f"{KNOWN[self.packed]} {' '.join(self.own())} {self.url.rpartition('/')[2]}"


def made(web: Path, number: int) -> Iterator[Made]:
    """Yield so many rows: Thai mostly, of 20,000 sites, each with a word of its own."""
    dice, rows = random.Random(58), []
    for script, pages in texts(web).items():
        for title, text in pages:
            record = _record("http://a.example/", title, "th" if script == "Thai" else script)
            one = Made(*row(Collected(record, text, len(text), archived=True)))
            KNOWN[one.packed] = terms(f"{title}\n{text}")
            rows.append(one)
    thai = [one for one in rows if one.judged == "relevant"]
    for at in range(number):
        one = dice.choice(thai if dice.random() < 0.6 else rows)
        site = f"site{int(20_000 * dice.random() ** 3)}.example"
        kind = "pdf" if dice.random() < 0.02 else "html"
        url = f"http://www.{site}/unlike{at}"
        yield one._replace(key=at, url=url, host=f"www.{site}", site=site, kind=kind)


def answers(web: Path, folder: Path, number: int) -> None:
    """Print how long answers take."""
    path = folder / "pages.db"
    if not path.exists():
        folder.mkdir(exist_ok=True)
        _make(web, path, number)
    size = path.stat().st_size
    print(f"{number:,} pages, {size / 1e9:.2f} GB, {size / number:,.0f} bytes a page")
    nothing = words("")
    last = int(1000 * (AT + EVERY * number))
    asked = {
        "all": Asked(nothing),
        "all, from the middle": Asked(nothing, until=last - int(500 * EVERY * number)),
        "a large site": Asked(nothing, site="site0.example"),
        "a small site": Asked(nothing, site="site19000.example"),
        "no such site": Asked(nothing, site="none.example"),
        "a rare kind": Asked(nothing, kind="pdf"),
        "irrelevant": Asked(nothing, judged="irrelevant"),
        "a common word, the": Asked(words("the")),
        "a common Thai word": Asked(words("ภาษา")),
        "a long Thai word": Asked(words("โปรแกรมคอมพิวเตอร์")),
        "a rare word": Asked(words(f"unlike{number // 2}")),
        "a word that isn't there": Asked(words("zyzzyva")),
        "a Thai word that isn't there": Asked(words("มหาวิทยาลัยธรรมศาสตร์")),
        "a phrase": Asked(words('"for the"')),
        "a phrase that isn't there": Asked(words('"the for of"')),
        "a common and a rare word": Asked(words(f"the unlike{number // 2}")),
        "one letter": Asked(words("ก")),
        "site, language, kind, common word": Asked(
            words("ภาษา"), "site0.example", "th", "html", "relevant"
        ),
        "rare kind of a small site, Thai word": Asked(
            words("ภาษา"), "site15000.example", "", "pdf"
        ),
        "1,000 letters": Asked(words("ภาษาไทยโปรแกรม" * 70)),
        "300 words": Asked(words(" ".join(f"the of w{n}" for n in range(100)))),
    }
    for name, one in asked.items():
        print(f"{name:40}" + "".join(_timed(folder, one)), flush=True)


def _timed(folder: Path, asked: Asked) -> Iterator[str]:
    times = []
    shown = ""
    for _ in range(5):
        begin = perf_counter()
        with opened([folder]) as search:
            found = search.find(asked, SHOWN)
            count = search.count(asked)
            search.tallies()
        times.append(1000 * (perf_counter() - begin))
        shown = f"   {len(found.pages)} shown of {count}{', cut' if found.reached else ''}"
    yield f"{times[0]:8.1f} ms at first, median {statistics.median(times):8.1f} ms"
    yield shown


def _make(web: Path, path: Path, number: int) -> None:
    rows, writer = made(web, number), Writer(path)
    begin, cpu = perf_counter(), process_time()
    for first in range(0, number, 100):
        batch = [next(rows) for _ in range(min(100, number - first))]
        writer.put(batch, first + len(batch), at=AT + EVERY * first)
    writer.close()
    cpu = process_time() - cpu
    print(f"made in {perf_counter() - begin:,.0f} s, {1000 * cpu / number:.3f} ms CPU a page")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("terms", "crawl", "answers"))
    parser.add_argument("web", type=Path)
    parser.add_argument("place", type=Path, nargs="?", help="seeds, or the folder of the index")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--pages", type=int)
    given = parser.parse_args()
    if given.what == "terms":
        cut(given.web)
    elif given.what == "crawl":
        pairs(given.web, given.place, given.pairs, given.pages or 1_500)
    else:
        answers(given.web, given.place, given.pages or 1_000_000)


if __name__ == "__main__":
    main()
