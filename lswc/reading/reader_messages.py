"""Messages between a crawl and the processes that read its pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from lswc.reading import sitemaps
from lswc.reading.page import PageReading
from lswc.reading.requisites import Needed, Place
from lswc.reading.sitemaps import Listing
from lswc.urls import Url

if TYPE_CHECKING:
    from lswc.reading.page import PageReader


class Asked(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A page that is to be read, but for its body: the arguments of ``PageReader.read``."""

    headers: dict[str, list[str]]
    url: Url
    depth: int
    base: str


class AskedRequisite(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """What an archived page needs, and may need more: the arguments of ``RequisiteReader.read``."""

    content_type: str
    url: str
    steps: int
    place: Place | None = None


class AskedListing(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A part of a sitemap or feed, by its URL: the arguments of ``sitemaps.read``."""

    url: str
    part: int = 0


AnyAsked = Asked | AskedRequisite | AskedListing


class Answer(msgspec.Struct, frozen=True, array_like=True):
    """What a reader says of what it was asked; ``error`` if reading it raised one.

    ``reading`` is None for what is neither HTML nor a document, and for what isn't a page.
    """

    reading: PageReading | None = None
    error: str = ""
    needed: Needed = Needed()
    listing: Listing = Listing()


def answered(reader: PageReader, asked: AnyAsked, body: bytes) -> Answer:
    """Return what a reader says of what it is asked."""
    match asked:
        case Asked():
            read = reader.read(body, asked.headers, asked.url, asked.depth, asked.base)
            return Answer(read)
        case AskedListing():
            return Answer(listing=sitemaps.read(body, asked.url, asked.part))
    if reader.requisites is None:
        return Answer()
    needed = reader.requisites.read(body, asked.content_type, asked.url, asked.steps, asked.place)
    return Answer(needed=needed)
