"""What goes between a crawl and the processes that read its pages."""

from __future__ import annotations

import msgspec

from lswc.reading.page import PageReading
from lswc.urls import Url


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """A page that is to be read, but for its body: the arguments of ``PageReader.read``."""

    headers: dict[str, list[str]]
    url: Url
    depth: int
    base: str


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What a reader says: the page, None if it isn't HTML; ``error`` if reading it raised one."""

    reading: PageReading | None
    error: str = ""
