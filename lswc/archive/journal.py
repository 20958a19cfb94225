"""A journal of the crawl log: a file with a line of JSON per attempt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def journals(folder: Path) -> list[Path]:
    """Return the journals in a log folder, oldest first."""
    return sorted(folder.glob("[0-9]*.jsonl"))


def row_of(line: bytes) -> dict[str, Any] | None:
    """Return the row that a line of a journal holds; None if it is torn or damaged."""
    try:
        found = json.loads(line) if line.endswith(b"}\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "url" in found else None
