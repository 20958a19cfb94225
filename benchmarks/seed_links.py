"""Links that are read of the Web Languages Project: ``python -m benchmarks.seed_links CHECKOUT``.

For each page with usable links it prints how many links there are, how many are usable by a plain
reading of their headings, how many of these ``lswc seeds`` reads, and what it leaves out, by
reason; then the totals, and how many pages have 95 % read.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

from lswc.seeds.candidates import Asked
from lswc.seeds.formats import web_languages
from lswc.urls import parse

NO_SITES = re.compile(r"Informative|Additional|Scripts|Thank|Instructions|What kind|License")
HEADING = re.compile(r"#{1,3}\s+(.*)|([A-Z][^:]{1,60}):\s*")
LINK = re.compile(r"https?://[^\s<>)\]\"']+|(?<![\w/.])www\.[^\s<>)\]\"']+")


def plain(path: Path) -> tuple[int, set[str]]:
    """Return how many links a page has, and those below headings of sites."""
    links, usable, is_left_out = 0, set[str](), False
    for line in path.read_text("utf-8", errors="replace").splitlines():
        if heading := HEADING.fullmatch(line.strip()):
            is_left_out = NO_SITES.search(heading[1] or heading[2]) is not None
            continue
        for text in LINK.findall(line):
            links += 1
            address = text.rstrip(".,;:").partition("(")[0]
            url = parse(address if "//" in address else f"http://{address}")
            if url is not None and not is_left_out:
                usable.add(url.href)
    return links, usable


def main() -> None:
    """Print the table."""
    totals, enough = Counter[str](), 0
    print(f"{'page':36} links usable read   left out")
    for path in sorted(Path(sys.argv[1]).glob("*/*.md")):
        if path.name == "README.md":
            continue
        links, usable = plain(path)
        if not usable:
            continue
        asked = Asked()
        found = (parse(one.url) for one in web_languages.read(path, asked))
        read = {url.href for url in found if url is not None}
        left = ", ".join(f"{number} {reason}" for reason, number in asked.passed.most_common())
        print(f"{path.stem[:36]:36} {links:5} {len(usable):6} {len(usable & read):4}   {left}")
        totals.update(pages=1, links=links, usable=len(usable), read=len(usable & read))
        totals["more than a plain reading"] += len(read - usable)
        enough += len(usable & read) >= 0.95 * len(usable)
    print(", ".join(f"{name} {number:,}" for name, number in totals.items()))
    print(f"{enough:,} of {totals['pages']:,} pages have 95 % of their usable links read")


if __name__ == "__main__":
    main()
