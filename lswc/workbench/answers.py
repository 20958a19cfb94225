"""Answer to a browser: values for a template, or a file, which may lie on the disk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

Subject = TypeVar("Subject")


class File(NamedTuple):
    """A file as an answer, with its media type."""

    content: bytes
    type: str


class Elsewhere(NamedTuple):
    """Another address as an answer, relative to the one that was asked."""

    address: str


class Stored(NamedTuple):
    """A file on the disk as an answer, with its media type, and headers that replace the usual."""

    path: Path
    type: str
    headers: Mapping[str, str]


def attached(name: str) -> dict[str, str]:
    """Return the headers of a file that a browser keeps under a name (RFC 6266)."""
    plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
    disposition = f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
    return {"Content-Disposition": disposition}


@dataclass(frozen=True, slots=True)
class View(Generic[Subject]):
    """A page of the workbench.

    ``answer`` gets what it is a page of and the first value of each argument of the address. It
    returns what the template of the view's name is filled with, a file, or another address. It may
    raise LswcError, and runs in a thread. ``title`` is its name in the menu, "" if it isn't there.
    """

    title: str
    answer: Callable[[Subject, Mapping[str, str]], Mapping[str, Any] | File | Stored | Elsewhere]


def texts_of(body: Mapping[str, Any], *names: str) -> dict[str, str]:
    """Return texts of a change by their names, "" where one is missing.

    Raises ConfigError if one isn't a text.
    """
    texts = {name: body.get(name, "") for name in names}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError(f"{', '.join(names)} must be texts")
    return texts


class Menu(NamedTuple):
    """The pages beside a page: name and title of each.

    ``first`` is the template of the page without a name. ``crawl`` is the name of the crawl in its
    folder, "" if the workbench shows one crawl, or the folder itself.
    """

    first: str
    pages: Sequence[tuple[str, str]]
    crawl: str
