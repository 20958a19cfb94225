"""Crawls sites that scripts make, each by itself: how many of their pages were read.

Run by hand: python -m benchmarks.apps [SITE ...]

A page is read if the crawl kept it as relevant, and its text is in the archive. CPU is the
browser's, a page that was shown; its start isn't in it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from time import monotonic

from lswc.corpus.stored_pages import StoredPages
from tests.scenarios.app_web import PAGES, SERVED, AppWeb
from tests.scenarios.site import Site, words

_HEAD = "site         pages   read  relevant  rendered  requests  seconds  CPU s/page  shells"


def main(names: list[str]) -> None:
    """Crawl the sites of these names; all, if none is given."""
    print(_HEAD)
    for name in names or PAGES:
        with tempfile.TemporaryDirectory(prefix="apps-") as folder, AppWeb() as web:
            site = Site(Path(folder) / "web", Path(folder) / "crawl")
            begun = monotonic()
            sandbox = int(os.geteuid() != 0)
            web.crawl(
                site, [name], LSWC_BROWSER="auto", LSWC_BROWSER_SANDBOX=sandbox,
                LSWC_BROWSER_PRESS=1, LSWC_TRY_AGAIN=0, LSWC_ARCHIVE="relevant",
                LSWC_MAX_DUPLICATES=0, **_more(),
            )  # fmt: skip
            _line(name, site, web, monotonic() - begun)


def _more() -> dict[str, str]:
    """Return further settings: NAME=VALUE in the environment variable APPS."""
    return dict(pair.split("=", 1) for pair in os.environ.get("APPS", "").split())


def _line(name: str, site: Site, web: AppWeb, took: float) -> None:
    bodies = [(page.body or b"").decode() for page in StoredPages(site.folder)]
    own = {text for number in range(PAGES[name]) for text in _texts(name, number)}
    read = sum(any(text in body for body in bodies) for text in own)
    records = site.records
    relevant = sum(bool(record["relevant"]) for record in records)
    rendered = sum(bool(record["rendered"]) for record in records)
    shells = site.summary.get("shells", {})
    cpu = shells.pop("browser's CPU seconds", 0) / max(1, rendered)
    print(
        f"{name:<10} {PAGES[name]:>7} {read:>6} {relevant:>9} {rendered:>9}"
        f" {web.asked.total():>9} {took:>8.1f} {cpu:>11.2f}  {shells}",
        flush=True,
    )


def _texts(name: str, number: int) -> list[str]:
    """Return what only the pages of a number have."""
    if name != "mixed":
        return [words(f"{name} {number}")]
    apps = [words(f"mixed {number}")] if number < PAGES[name] - SERVED else []
    return [*apps, words(f"mixed s {number}" if number else "mixed s")] if number < SERVED else apps


if __name__ == "__main__":
    main(sys.argv[1:])
