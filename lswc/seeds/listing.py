"""Text of a seed list, in the format of ``seeds/``, and the report of what was left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lswc.seeds.kinds import KINDS, OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NOT_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff·#]+")
_LONGEST = 120  # characters of a source's name
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")


class Listed(NamedTuple):
    """A seed as it stands in a list: ``note`` says what was seen of it, "" if nothing was."""

    url: str
    kind: str
    note: str = ""


class Origin(NamedTuple):
    """Where the seeds of a list are from: the source's name, and the day (ISO 8601).

    ``is_seen`` says that the source itself has been to its sites, as a crawl has.
    """

    source: str
    day: str
    is_seen: bool = False


def text_of(language: str, listed: Iterable[Listed], origin: Origin) -> str:
    """Return a list: a group for each kind of sites, which names source and date; a URL a line.

    Behind a URL stands what was seen of it, after ``#``. Within a group the seeds keep their order.
    """
    listed = list(listed)
    groups = {kind: [one for one in listed if (one.kind or OTHERS) == kind] for kind in KINDS}
    source = _name(origin.source)
    parts = [f"# {language}: where a crawl starts. docs/seeds.md says how such a list is made.\n"]
    for kind, ones in groups.items():
        if ones:
            is_seen = origin.is_seen or any(one.note for one in ones)
            visited = "" if is_seen else " · not visited"
            lines = [f"{one.url}  # {one.note}" if one.note else one.url for one in ones]
            parts.append("\n".join([f"# {kind} · {source} · {origin.day}{visited}", *lines, ""]))
    return "\n".join(parts)


def sources_of(text: str, otherwise: str) -> dict[str, str]:
    """Return the source of each seed of a list, by its URL, as the line above its group names it.

    ``otherwise`` is that of seeds without such a line.
    """
    source, found = otherwise, dict[str, str]()
    for line in map(str.strip, text.splitlines()):
        if line.startswith("#"):
            parts = line.split(" · ")
            source = parts[1].strip() if len(parts) > 1 else source
        elif line:
            found[line.split()[0]] = source
    return found


def report_of(left_out: Mapping[str, str]) -> str:
    """Return the report: a line for each URL that is no seed, and why, with a tab between."""
    rows = (f"{_CONTROL.sub(' ', url)}\t{reason}" for url, reason in left_out.items())
    return "\n".join(["url\tleft out because", *rows, ""])


def _name(source: str) -> str:
    return " ".join(_NOT_NAMES.sub(" ", source).split())[:_LONGEST] or "a list"
