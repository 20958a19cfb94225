"""Damages of a frontier's file: is each told, and is each healed?

``python -m benchmarks.damage [--damages 200] [--pages 400] [--seed 1]`` from the project's folder.
A crawl of a made web is stopped in the middle. Then, time and again, a kind of page of its
frontier.db is chosen, as SQLite's dbstat names them, then a page of that kind, then 40 bytes of it,
which are overwritten by random ones. Printed for each kind: how many damages there were, how many
met free space and changed nothing, how many ``lswc check`` told, how many ``--repair`` healed, and
how many finished URLs are to be fetched again.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from pathlib import Path

from lswc.archive.check.agreement import check, repair
from lswc.errors import LswcError
from tests.scenarios.site import THAI, Site, page, words

SERVERS = 40
WRONG = 40
"""Bytes."""


def crawl(folder: Path, pages: int) -> Path:
    """Crawl two thirds of a web, and return the crawl's folder."""
    site = Site(folder / "web", folder / "crawl")
    for number in range(pages):
        links = [
            f"http://s{n % SERVERS}.example/{n}.html" for n in (2 * number + 1, 2 * number + 2)
        ]
        links += ["/missing.html"] * (number % 9 == 0)
        site.add(f"s{number % SERVERS}.example/{number}.html", page(THAI + words(number), *links))
    site.seeds("http://s0.example/0.html")
    site.crawl(CLOSESPIDER_ITEMCOUNT=pages * 2 // 3)
    return site.folder


def page_kinds(path: Path) -> tuple[dict[str, list[int]], int]:
    """Return the numbers of a file's pages by the table or index they are of, and their size."""
    found = defaultdict(list)
    with closing(sqlite3.connect(path)) as db:
        for name, number in db.execute("SELECT name, pageno FROM dbstat"):
            found[name].append(number)
        (size,) = db.execute("PRAGMA page_size").fetchone()
    return found, size


def place(choose: random.Random, data: bytes, pages: list[int], size: int) -> int:
    """Return where on one of these pages something is written, or was."""
    while True:
        at = (choose.choice(pages) - 1) * size + choose.randrange(size - WRONG)
        if any(data[at : at + WRONG]):
            return at


def finished(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as db:
        return {url for (url,) in db.execute("SELECT url FROM url WHERE outcome IS NOT NULL")}


def contents(path: Path) -> list[str] | None:
    """Return all that a file holds; None if that can't be read."""
    try:
        with closing(sqlite3.connect(path)) as db:
            return list(db.iterdump())
    except (sqlite3.Error, ValueError):
        return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--damages", type=int, default=200)
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = crawl(folder, options.pages)
        kinds, size = page_kinds(whole / "frontier.db")
        had, held = finished(whole / "frontier.db"), contents(whole / "frontier.db")
        result: dict[str, Counter[str]] = defaultdict(Counter)
        for number in range(options.damages):
            kind = sorted(kinds)[number % len(kinds)]
            damaged = folder / "damaged"
            shutil.copytree(whole, damaged)
            path = damaged / "frontier.db"
            data = bytearray(path.read_bytes())
            at = place(choose, data, kinds[kind], size)
            data[at : at + WRONG] = choose.randbytes(WRONG)
            path.write_bytes(data)
            result[kind].update(outcome(damaged, held, had))
            shutil.rmtree(damaged)
    columns = ("damages", "changed nothing", "told", "not told", "healed", "not healed", "again")
    print(f"{'':24}", *(f"{column:>15}" for column in columns))
    for kind, counted in [*result.items(), ("all", sum(result.values(), Counter()))]:
        print(f"{kind:24}", *(f"{counted[column]:15,}" for column in columns))
    print(f"{len(had):,} URLs were finished")


def outcome(folder: Path, held: list[str] | None, had: set[str]) -> Counter[str]:
    """Return what became of a damage."""
    counted = Counter(damages=1)
    is_harmless = contents(folder / "frontier.db") == held
    is_told = not check(folder).agrees
    if is_harmless and not is_told:
        return counted + Counter({"changed nothing": 1})
    counted["told" if is_told else "not told"] += 1
    try:
        repair(folder)
        is_healed = check(folder).agrees
    except LswcError as error:
        print(folder, error)
        is_healed = False
    counted["healed" if is_healed else "not healed"] += 1
    counted["again"] += len(had - finished(folder / "frontier.db")) if is_healed else 0
    return counted


if __name__ == "__main__":
    main()
