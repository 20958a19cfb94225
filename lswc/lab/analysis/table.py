"""Table of the report: shown in HTML, kept as CSV and Parquet."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Table:
    """Rows under heads; ``name`` is the file name without suffix.

    Texts come from the web: in CSV, which people open in spreadsheets, one that would be taken for
    a formula begins with an apostrophe (OWASP, CSV injection). Parquet has them as they are.

    A column whose head begins with "share" or "difference" holds fractions of 1. ``shown`` is
    the number of rows that the report shows, and ``columns`` are the heads that fit on its page,
    if not all do; the files have all. People see hosts as they are written (``readable``).
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    shown: int = 20
    columns: tuple[str, ...] = ()

    @property
    def on_page(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The heads and the rows that the report shows."""
        places = [n for n, head in enumerate(self.heads) if head in (self.columns or self.heads)]
        rows = [tuple(row[n] for n in places) for row in self.rows[: self.shown]]
        return tuple(self.heads[n] for n in places), rows

    def write(self, folder: Path) -> None:
        """Write ``name``.csv and ``name``.parquet into a folder."""
        # With a byte order mark, without which spreadsheets take UTF-8 for something else.
        with (folder / f"{self.name}.csv").open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.heads)
            writer.writerows(map(_plain, row) for row in self.rows)
        columns = [pa.array([row[i] for row in self.rows]) for i in range(len(self.heads))]
        pq.write_table(pa.table(columns, list(self.heads)), folder / f"{self.name}.parquet")


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def _plain(value: object) -> object:
    """Return a text with readable hosts, which no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = readable(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def share(part: float, whole: float) -> float | None:
    """Return a fraction of 1; None where there is nothing to take a part of."""
    return part / whole if whole else None
