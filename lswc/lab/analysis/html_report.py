"""Report: HTML files that need nothing else, and the tables and figures as files."""

from __future__ import annotations

import math
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from lswc.errors import writing
from lswc.files import is_partial, whole_folder
from lswc.lab.analysis import board, figures
from lswc.lab.analysis.board import BOARD
from lswc.lab.analysis.collection import AnalysisError
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from lswc.lab.analysis.board import Board
    from lswc.lab.analysis.section import Section
    from lswc.lab.analysis.table import Table

REPORT = "report.html"
"""Name of the report in its folder; beside it ``tables/``, ``figures/``, and for a crawl BOARD."""

SHEET = "all.png"
"""Name of the picture with all figures."""

_LONGEST = 300
"""Characters of a cell that the report shows; the files have all."""

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2530;--soft:#4d5764;--back:#fff;--tile:#eef5f5;
 --line:#d3d8e0;--main:#0b6e75}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e8ecf1;--soft:#b4bdc9;--back:#12171e;
 --tile:#1c2630;--line:#3a4452;--main:#4fb8bf}}
body{font:16px/1.5 system-ui,"Noto Sans","Noto Sans Thai","Noto Sans Myanmar",sans-serif;
 color:var(--ink);background:var(--back);max-width:62rem;margin:0 auto;padding:2rem 1.25rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0;display:inline}
details{border-top:1px solid var(--line);padding:.45rem 0}summary{cursor:pointer}
section{padding-bottom:1rem}
p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}
.purpose{color:var(--soft)}.note{font-size:.85rem;color:var(--soft)}
a{color:var(--main)}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr));gap:.6rem;
 margin:1rem 0}
.facts div{background:var(--tile);border-radius:.4rem;padding:.6rem .9rem;display:flex;
 flex-direction:column-reverse;justify-content:flex-end}
dt{font-size:.8rem;color:var(--soft)}dd{margin:0;font-size:1.3rem;line-height:1.3;font-weight:600}
img{max-width:100%;height:auto;display:block;margin:1rem 0;background:#fff}
div.wide{overflow-x:auto}
table.data{border-collapse:collapse;font-size:.85rem;margin:.25rem 0}
caption{text-align:left;font-weight:600;padding:.9rem 0 .3rem}
.data th,.data td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left;
 vertical-align:top;overflow-wrap:anywhere;min-width:3.2rem}
.data td:first-child{min-width:9rem}
.data th{border-bottom:2px solid var(--soft);vertical-align:bottom;font-weight:600;
 overflow-wrap:normal}
.data .n{text-align:right;font-variant-numeric:tabular-nums}.data td.n{white-space:nowrap}
@media print{:root{color-scheme:light}
 details::details-content{content-visibility:visible;block-size:auto}}
"""


class Page(NamedTuple):
    """What stands above the sections, and the board report; None for data that isn't a crawl's."""

    title: str
    lead: str
    facts: Mapping[str, float]
    board: Board | None = None


def write(out: Path, page: Page, sections: Sequence[Section]) -> Path:
    """Write the report into a folder and return its path.

    The folder is made; it must be empty or hold an earlier report, which is replaced. Raises
    LswcError if it can't be written.
    """
    check(out)
    with writing(out), whole_folder(out) as beside:
        for name in ("tables", "figures"):
            (beside / name).mkdir()
        for section in sections:
            for table in section.tables:
                table.write(beside / "tables")
        _draw(beside / "figures", sections)
        if page.board is not None:
            (beside / BOARD).write_text(board.html(page.board), "utf-8", "replace")
        (beside / REPORT).write_text(_html(page, sections, beside), "utf-8", "replace")
        _clear(out)
    return out / REPORT


def check(out: Path) -> None:
    """Raise AnalysisError if the report can't go there, before the work is done."""
    if out.exists() and not out.is_dir():
        raise AnalysisError(f"{out} is a file: --out names a folder")
    others = out.is_dir() and any(not is_partial(path) for path in out.iterdir())
    if others and not (out / REPORT).exists():
        raise AnalysisError(f"{out} holds other things: choose an empty or a new folder")


def _draw(folder: Path, sections: Sequence[Section]) -> None:
    drawn = []
    for section in sections:
        if section.figure is not None:
            drawn.append(figures.render(section.figure, "png"))
            (folder / f"{section.name}.png").write_bytes(drawn[-1])
            (folder / f"{section.name}.svg").write_bytes(figures.render(section.figure, "svg"))
    if drawn:
        (folder / SHEET).write_bytes(figures.sheet(drawn))


def _clear(out: Path) -> None:
    """Remove what an earlier report had, and the new one may lack."""
    (out / BOARD).unlink(missing_ok=True)
    for kinds, folder in (((".csv", ".parquet"), "tables"), ((".svg", ".png"), "figures")):
        for path in (out / folder).glob("*"):
            if path.suffix in kinds:
                path.unlink()


def _html(page: Page, sections: Sequence[Section], out: Path) -> str:
    title = escape(readable(page.title))
    more = f'<p><a href="{BOARD}">The crawl on one page</a></p>' if page.board else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{title}: tables</title><style>{_STYLE}</style></head><body><main>\n"
        f"<h1>{title}</h1><p>{escape(readable(page.lead))}</p>{more}\n{_facts(page.facts)}\n"
        '<p class="note">Each line opens what it names.</p>\n'
        + "\n".join(_section(section, out) for section in sections)
        + "\n</main></body></html>\n"
    )


def _facts(facts: Mapping[str, float]) -> str:
    cells = (
        f"<div><dt>{escape(name)}</dt><dd>{_cell(name, value)}</dd></div>"
        for name, value in facts.items()
    )
    return f'<dl class="facts">{"".join(cells)}</dl>' if facts else ""


def _section(section: Section, out: Path) -> str:
    parts = [
        f"<details><summary><h2>{escape(section.title)}</h2></summary>"
        f'<section id="{section.name}" aria-label="{escape(section.title)}">',
        f'<p class="purpose">{escape(section.purpose)}</p>',
        *(f"<p>{escape(readable(finding))}</p>" for finding in section.findings),
    ]
    if section.figure is not None:
        data = b64encode((out / "figures" / f"{section.name}.svg").read_bytes()).decode()
        parts.append(f'<img alt="{escape(section.title)}" src="data:image/svg+xml;base64,{data}">')
    parts += [_table(table) for table in section.tables]
    return "\n".join([*parts, "</section></details>"])


def _table(table: Table) -> str:
    files = (
        f'<a href="tables/{table.name}.csv">CSV</a>, '
        f'<a href="tables/{table.name}.parquet">Parquet</a>'
    )
    if not table.shown:
        return f'<p class="note">{escape(table.title)}: {len(table.rows):,} rows, {files}</p>'
    left, hidden = len(table.rows) - table.shown, len(table.heads) - len(table.on_page[0])
    beyond = [f"{left:,} more rows"] * (left > 0)
    beyond += [f"{hidden} more columns"] * (hidden > 0)
    more = f"{' and '.join(beyond)}: " if beyond else "As a file: "
    shown, rows = table.on_page
    first = rows[0] if rows else (None,) * len(shown)
    heads = "".join(
        f'<th scope="col"{_class(value)}>{escape(head)}</th>'
        for head, value in zip(shown, first, strict=True)
    )
    body = "".join(f"<tr>{_row(shown, row)}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{escape(table.title)}">'
        f'<table class="data"><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        f'<p class="note">{more}{files}</p>'
    )


def _row(heads: Iterable[str], row: Iterable[object]) -> str:
    cells = zip(heads, row, strict=True)
    return "".join(f"<td{_class(value)}>{_cell(head, value)}</td>" for head, value in cells)


def _class(value: object) -> str:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return ' class="n"' if number else ""


def _cell(head: str, value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isfinite(value):
        if head.startswith("difference"):
            return f"{100 * value:+.2f} points"
        return f"{value:.2%}" if head.startswith("share") else f"{value:,.2f}"
    if isinstance(value, int):
        return f"{value:,}"
    text = readable(str(value))
    return escape(text if len(text) <= _LONGEST else text[:_LONGEST] + "…")
