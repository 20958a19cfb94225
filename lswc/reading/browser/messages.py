"""Messages between a crawl and the process that has the browser.

The crawl sends Settings once, then a Shell for each page, with its body, and an Answered for each
Wanted, with its body. The process sends Started once, then any number of Wanted, and for each page
one Shown, with the page as UTF-8.
"""

from __future__ import annotations

from msgspec import Struct


class Settings(Struct, frozen=True, kw_only=True, tag=True):
    """How pages are shown.

    ``executable`` is the path of a Chromium, which has its ``sandbox`` or not. ``agent`` and
    ``language`` are User-Agent and Accept-Language. A page has so many ``seconds``, and is read
    as it is then; it has so many ``requests``, and is so many bytes at the ``largest`` (any at 0).
    The browser may take so many bytes of ``memory`` (any at 0). An app shell that needs more
    than the defaults is rare, and one that never ends is not.
    """

    executable: str
    sandbox: bool
    agent: str
    language: str
    largest: int
    seconds: float = 60
    requests: int = 50
    memory: int = 2_000_000_000


class Started(Struct, frozen=True, tag=True):
    """The browser runs; ``why_not`` says why it doesn't, if it doesn't."""

    why_not: str


class Shell(Struct, frozen=True, tag=True):
    """A page that is to be shown, as its server sent it, but for its body."""

    url: str
    content_type: str


class Wanted(Struct, frozen=True, tag=True):
    """What the page asks for; ``kind`` as Chromium names it: script, fetch, xhr, ..."""

    number: int
    url: str
    kind: str
    headers: dict[str, str]


class Answered(Struct, frozen=True, tag=True):
    """The answer to a Wanted, but for its body; status 0 if there is none."""

    number: int
    status: int
    headers: dict[str, str]


class Shown(Struct, frozen=True, tag=True):
    """A page as the browser has it now; ``problem`` names what is wrong if it has none.

    ``url`` is its own, which a script may have changed; ``led_to`` are the pages that it wanted to
    go to; ``refused`` counts by kind what it asked for and wasn't given; ``routes`` are its links
    that differ in their fragment only, which its scripts show as pages. ``named`` are the addresses
    of what it needs and nobody looks at here: images, fonts, media, style sheets, frames.
    """

    url: str
    led_to: tuple[str, ...]
    refused: dict[str, int]
    problem: str = ""
    routes: int = 0
    named: tuple[str, ...] = ()


TOO_LONG, TOO_LARGE, DIED = "too long", "too large", "died"
"""Problems of a page: the browser doesn't answer, the page is too large, the browser died."""
