"""Every profile on a frozen web of real pages, for several languages, within a budget of pages.

``python -m benchmarks.strategies WEB --seeds FILE [--languages th ja] [--budget 5000]``

First breadth-first without a budget: the relevant pages it reaches are what coverage is taken of.
Then every profile until the budget is spent. Prints one table a language.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from lswc.crawler import profiles


def crawl(options: argparse.Namespace, folder: Path, language: str, **settings: object) -> Path:
    """Crawl into the folder, by a process of its own, and return the folder."""
    given = {
        "LSWC_WEB": options.web.resolve(),
        "LSWC_CRAWL": folder,
        "DOWNLOAD_DELAY": 0,
        "LOG_LEVEL": "ERROR",
        "LSWC_ARCHIVE": "none",
        **settings,
    }
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", f"lang={language}"]
    command += ["-a", f"seeds={options.seeds.resolve()}"]
    for name, value in given.items():
        command += ["-s", f"{name}={value}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "pages.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines[:-1]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("web", type=Path)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--languages", nargs="+", default=["th", "ja", "ko", "km", "zh"])
    parser.add_argument("--budget", type=int, default=5000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        compare(options, Path(temporary))


def compare(options: argparse.Namespace, folder: Path) -> None:
    everything = records(crawl(options, folder / "all", options.languages[0], LSWC_PROFILE="bfs"))
    known = Counter(record["language"] for record in everything)
    print(f"breadth-first, no budget: {len(everything):,} pages", flush=True)
    for language in options.languages:
        total = known[language]
        print(f"\n{language}: {total:,} relevant pages in all; {options.budget:,} pages each")
        print(f"{'profile':28}{'pages':>8}{'relevant':>10}{'harvest':>10}{'coverage':>10}")
        for name in profiles.names():
            done = crawl(
                options,
                folder / f"{language}-{name}",
                language,
                LSWC_PROFILE=name,
                CLOSESPIDER_ITEMCOUNT=options.budget,
            )
            pages = records(done)
            found = sum(record["language"] == language for record in pages)
            harvest, coverage = found / max(len(pages), 1), found / max(total, 1)
            row = f"{name:28}{len(pages):>8,}{found:>10,}{harvest:>10.1%}{coverage:>10.1%}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
