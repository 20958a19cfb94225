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
    than the defaults is rare, and one that never ends is not. ``presses`` says that a page which
    shows nothing but a question, of age or consent, is answered by one press.
    """

    executable: str
    sandbox: bool
    agent: str
    language: str
    largest: int
    seconds: float = 60
    requests: int = 50
    memory: int = 2_000_000_000
    presses: bool = False


class Started(Struct, frozen=True, tag=True):
    """The browser runs; ``why_not`` says why it doesn't, if it doesn't."""

    why_not: str


class Shell(Struct, frozen=True, tag=True):
    """A page that is to be shown, as its server sent it, but for its body.

    ``explores`` says that its buttons are asked where they lead, if few links lead on.
    """

    url: str
    content_type: str
    explores: bool = False


class Wanted(Struct, frozen=True, tag=True):
    """What the page asks for; ``kind`` as Chromium names it: script, fetch, xhr, ...

    A ``document`` is the page itself, with a cookie that its script has set. ``method`` is GET, or
    POST: then its body goes with this.
    """

    number: int
    url: str
    kind: str
    headers: dict[str, str]
    method: str = "GET"


class Answered(Struct, frozen=True, tag=True):
    """The answer to a Wanted, but for its body; status 0 if there is none."""

    number: int
    status: int
    headers: dict[str, str]


class Shown(Struct, frozen=True, tag=True):
    """A page as the browser has it now; ``problem`` names what is wrong if it has none.

    ``url`` is its own, which a script may have changed; ``led_to`` is where it leads besides by
    its links; ``refused`` counts by kind what it asked for and wasn't given. ``named`` are the
    addresses of what it needs and nobody looks at here: images, fonts, media, style sheets, frames.
    ``cookie`` is the one with which it came, if its script had set one and loaded it again.
    ``explored`` is 0 if its buttons weren't asked where they lead, else one more than they told
    addresses. ``cpu`` are the seconds of processor that it took.
    """

    url: str
    led_to: tuple[str, ...]
    refused: dict[str, int]
    problem: str = ""
    named: tuple[str, ...] = ()
    cookie: str = ""
    explored: int = 0
    cpu: float = 0.0


LOADING = 4
"""So many times its seconds has a page that waits for scripts and shows nothing yet."""

TOO_LONG, TOO_LARGE, DIED = "too long", "too large", "died"
"""Problems of a page: the browser doesn't answer, the page is too large, the browser died."""
