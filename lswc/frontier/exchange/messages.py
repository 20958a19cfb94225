"""Messages of one worker to another: links that lead to its sites, and sites that it is given.

They are kept, sent and taken as bytes (MessagePack). What arrives is checked as it is read: another
version of lswc may have written it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from lswc.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

_Read = TypeVar("_Read")

FORMAT = 1
"""Version of what travels: workers of another one can't share a crawl."""

LINKS = 200
"""Links, or URLs, of a message at most."""

Row = tuple[str, str, str, int, int, int, int]
"""An offer: the fields of ``lswc.frontier.rules.visit.Offer``."""


class Vouching(Struct, frozen=True, array_like=True):
    """What is known of the site whose page has the links (``lswc.strategy.families``).

    ``family`` and ``branch`` are the names of sites, "" for none, or for itself.
    """

    site: str
    level: int
    family: str = ""
    branch: str = ""


class Links(Struct, frozen=True, array_like=True, tag="links"):
    """Links of one page; ``referrer`` is its URL, None of seeds."""

    referrer: str | None
    vouching: Vouching | None
    links: list[Row]


class SiteGiven(Struct, frozen=True, array_like=True, tag="site"):
    """A site with its counters, as it was when its worker ceased to ask it.

    ``supporters`` are names of sites. ``servers`` have name, place (None: the site's), pages,
    relevant ones, looks that brought none, and bytes.
    ``left_out`` has server, reason and number; ``claims`` what listings of a server claimed
    (``lswc.frontier.store.revisited_pages``); ``rates`` how pages of the site change.
    """

    vouching: Vouching
    supporters: list[str]
    place: int
    downloaded: int
    relevant: float
    missed: int
    received: int
    servers: list[tuple[str, int | None, int, float, int, int]]
    left_out: list[tuple[str, str, int]]
    claims: list[tuple[str, int, int, int, int]]
    rates: list[tuple[int, float, float, float]]


class UrlGiven(Struct, frozen=True, array_like=True):
    """A URL: an offer, and how it stands.

    ``outcome`` is how it finished, "" if it waits, and ``by`` which worker did it; ``tries`` and
    ``postponed`` how often, and why, it was postponed, ``is_postponed`` that it is now.
    ``was_counted`` says that its page was counted before it was lost. ``revisited`` has what is
    kept of a page that is visited again.
    """

    offer: Row
    referrer: str | None
    outcome: str = ""
    by: int = 0
    tries: int = 0
    postponed: str = ""
    is_postponed: bool = False
    was_counted: bool = False
    revisited: list[float | None] | None = None


class UrlsGiven(Struct, frozen=True, array_like=True, tag="urls"):
    """URLs of sites that were given before, in the order in which they were met.

    Of their ``directories``, if the strategy counts by these: name, place, pages, relevant ones,
    and looks that brought none.
    """

    urls: list[UrlGiven]
    directories: list[tuple[str, int, int, float, int]] = []


class PartsGiven(Struct, frozen=True, array_like=True, tag="parts"):
    """Parts whose sites and URLs were all given: from now on they are the receiver's."""

    parts: list[int]


Message = Links | SiteGiven | UrlsGiven | PartsGiven

pack = msgspec.msgpack.Encoder().encode
_unpack: Callable[[bytes], Message] = msgspec.msgpack.Decoder(Message).decode


def unpack(packed: bytes) -> Message:
    """Return the message that these bytes are. Raises StorageError if they are none."""
    return read(_unpack, packed)


def read(decode: Callable[[bytes], _Read], packed: bytes) -> _Read:
    """Return what another worker's bytes are. Raises StorageError if they are nothing of that."""
    try:
        return decode(packed)
    except msgspec.MsgspecError as error:
        raise StorageError(
            f"a worker sent what this one can't read ({error}): all need the same version of lswc"
        ) from error
