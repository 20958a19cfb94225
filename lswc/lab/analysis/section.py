"""Section of the report: what it shows, its tables and its figure, or why it isn't there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lswc.lab.analysis.table import Table


@dataclass(frozen=True)
class Section:
    """``purpose`` says what it is for and which table of which paper it is; ``findings`` are
    sentences with this crawl's numbers, or the reason why there are none.
    """

    name: str
    title: str
    purpose: str
    findings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figure: Figure | None = None
