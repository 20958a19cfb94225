"""Servers that answered a crawl and gave it no page, as its summary names them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PURPOSE = (
    "Nothing of these servers was collected though they answered: a wall of cookies, a content "
    "type, a login, a redirect, an error. The most promising come first: somebody may know a way."
)
_HEADS = ("server", "why", "URLs", "linked by relevant pages", "in the language's domain")


def section(folders: Sequence[Path]) -> Section:
    """Return the section of a crawl in these folders, as far as they have a summary."""
    servers: dict[str, dict[str, Any]] = {}
    number = 0
    for folder in folders:
        without = _read(folder)
        number = max(number, without.get("servers", 0))
        servers |= {server["name"]: server for server in without.get("first", ())}
    head = ("pageless", "Servers that answered and gave no page", _PURPOSE)
    if not folders:
        return Section(*head, ("Only a crawl's folder says which.",))
    if not servers:
        return Section(*head, ("There are none.",))
    rows = [
        (
            server["name"],
            ", ".join(f"{reason} {n:,}" for reason, n in server["reasons"].items()),
            sum(server["reasons"].values()),
            server["linked"],
            "yes" if server["in_tld"] else "",
        )
        for server in servers.values()
    ]
    finding = f"{number:,} servers; the {len(rows):,} most promising are below."
    return Section(*head, (finding,), (Table("pageless", head[1], _HEADS, rows),))


def _read(folder: Path) -> dict[str, Any]:
    """Return what a crawl's summary says of such servers; nothing if it isn't there, or older."""
    try:
        summary = json.loads((folder / "summary.json").read_text("utf-8"))
        found: dict[str, Any] = summary.get("without_page", {})
    except (OSError, ValueError):
        return {}
    return found
