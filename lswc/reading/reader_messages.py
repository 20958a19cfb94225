"""Messages between a crawl and the processes that read its pages."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from lswc import __version__
from lswc.reading import sitemaps
from lswc.reading.page import PageReading
from lswc.reading.requisites import Needed, Place
from lswc.reading.sitemaps import ListedPage, Listing
from lswc.urls import Url

if TYPE_CHECKING:
    from lswc.reading.page import PageReader


class Asked(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """A page that is to be read, but for its body: the arguments of ``PageReader.read``."""

    headers: dict[str, list[str]]
    url: Url
    depth: int
    base: str
    is_large: bool = False


class AskedRequisite(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """What an archived page needs, and may need more: the arguments of ``RequisiteReader.read``."""

    content_type: str
    url: str
    steps: int
    place: Place | None = None


class AskedListing(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A part of a sitemap or feed, by its URL: the arguments of ``sitemaps.read``.

    Of a front page, whose links were too many when it was read, the ``content_type`` is said.
    """

    url: str
    part: int = 0
    content_type: str | None = None


def protocol() -> str:
    """Return the version of the messages: of lswc, and a digest of how they are built.

    A process that is started anew has it from the files that are installed then.
    """
    shapes = msgspec.json.schema_components((Answer, Asked, AskedRequisite, AskedListing))
    about = msgspec.json.encode(shapes, order="sorted")
    return f"{__version__} ({sha256(about).hexdigest()[:8]})"


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
            headers, url, depth, base = asked.headers, asked.url, asked.depth, asked.base
            return Answer(reader.read(body, headers, url, depth, base, is_large=asked.is_large))
        case AskedListing():
            return Answer(listing=_listing(reader, asked, body))
    if reader.requisites is None:
        return Answer()
    needed = reader.requisites.read(body, asked.content_type, asked.url, asked.steps, asked.place)
    return Answer(needed=needed)


def _listing(reader: PageReader, asked: AskedListing, body: bytes) -> Listing:
    """Return what a listing names; a front page that is none names what it links to."""
    found = sitemaps.read(body, asked.url, asked.part)
    if found.pages or found.listings or asked.content_type is None:
        return found
    links = dict.fromkeys(reader.links(body, asked.content_type, asked.url))
    return Listing(tuple(map(ListedPage, links)))
