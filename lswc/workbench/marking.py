"""Marks in the workbench: a list, a file for a spreadsheet, and the form that sets one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.errors import ConfigError
from lswc.workbench import marks
from lswc.workbench.answers import File, texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.workbench.watch import Watch

ROWS = 500
"""Marks that are listed; the file has all."""

_OF = {"pages": True, "sites": False}


def listed(watch: Watch, given: Mapping[str, str]) -> dict[str, Any] | File:
    """Return the marks, filtered by kind, by what they are on and by a text. Raises LswcError."""
    kind, of, text = given.get("kind", ""), given.get("of", ""), given.get("q", "")[:1_000]
    found = {
        place: mark
        for place, mark in marks.read(watch.crawl.folders()).items()
        if kind in ("", mark.kind)
        and _OF.get(of, mark.is_page) == mark.is_page
        and any(text.casefold() in part.casefold() for part in (place, mark.note, mark.by))
    }
    if given.get("as") == "csv":
        return File(marks.as_csv(found), "text/csv; charset=utf-8")
    return {
        "kind": kind,
        "kinds": marks.KINDS,
        "of": of,
        "q": text,
        "number": len(found),
        "marks": list(found.values())[:ROWS],
        "not_wanted": marks.NOT_WANTED,
    }


def mark(watch: Watch, body: Mapping[str, Any]) -> None:
    """Mark a page or a site as a form says. Raises LswcError."""
    texts = texts_of(body, "place", "kind", "note", "who")
    folders = watch.crawl.folders()
    if not folders:
        raise ConfigError("marks are kept in the crawl's folder, and none is on this machine")
    marks.add(folders[0], marks.made(*texts.values()))
