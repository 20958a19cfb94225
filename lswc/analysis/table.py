"""A table of the report: shown in HTML, kept as CSV and Parquet."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Table:
    """Rows under heads; ``name`` is the file name without suffix.

    A column whose head begins with "share" or "difference" holds fractions of 1. ``shown`` is
    the number of rows that the report shows; the files have all.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]
    shown: int = 20

    def write(self, folder: Path) -> None:
        """Write ``name``.csv and ``name``.parquet into a folder."""
        with (folder / f"{self.name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.heads)
            writer.writerows(self.rows)
        columns = [pa.array([row[i] for row in self.rows]) for i in range(len(self.heads))]
        pq.write_table(pa.table(columns, list(self.heads)), folder / f"{self.name}.parquet")


def share(part: float, whole: float) -> float | None:
    """Return a fraction of 1; None where there is nothing to take a part of."""
    return part / whole if whole else None
