"""Archives of others: what each reader makes of every file in a folder.

``python -m benchmarks.foreign_archives FOLDER``

A line a file: its captures, and what can't be read; or why it is refused. Anything else that is
raised shows itself.
"""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from contextlib import closing
from pathlib import Path

from lswc.archive.captures import Captures
from lswc.archive.http_message import BODY_BYTES
from lswc.archive.volumes import volumes_of
from lswc.crawl.web import open_web
from lswc.errors import LswcError
from lswc.lab.methods.page_sources import pages


def told(file: Path) -> tuple[str, str]:
    """Return what became of a file, and what there is to say of it."""
    try:
        with closing(Captures(volumes_of(file), BODY_BYTES)) as captures:
            number = sum(1 for _ in captures)
    except LswcError as error:
        return "refused", str(error)
    lost = f"{captures.unreadable} unreadable, {captures.unresolved} of what it doesn't hold"
    used = []
    for name, use in (
        ("web", lambda: open_web(file)),
        ("identify", lambda: list(pages(str(file), "x"))),
    ):
        try:
            use()
            used.append(name)
        except LswcError as error:
            used.append(f"not {name}: {error}")
    return ("read" if number else "nothing in it"), f"{number} captures, {lost}; {', '.join(used)}"


def main() -> None:
    """Print what became of each file, and of how many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    logging.disable()
    counted = Counter[str]()
    for file in sorted(path for path in asked.folder.rglob("*") if path.is_file()):
        outcome, said = told(file)
        counted[outcome] += 1
        print(f"{file.relative_to(asked.folder)}: {outcome}: {said}")
    print(", ".join(f"{number} {outcome}" for outcome, number in counted.most_common()))


if __name__ == "__main__":
    main()
