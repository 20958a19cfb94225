"""Questions of people about what a frontier holds, and answers; also over Redis, to its worker.

A worker that runs answers from its own file, by a thread: so the crawl goes on meanwhile.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from lswc.errors import LswcError
from lswc.frontier.rules.report import (
    OfSite,
    RevisitedPage,
    Server,
    SiteList,
    SiteOrder,
    Standing,
)
from lswc.frontier.store import report as sqlite_report
from lswc.monitor.snapshot import Cell, Snapshot, cell_in_words, counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lswc.frontier.exchange.post import Post
    from lswc.frontier.store.report import Reader

QUESTION_BYTES = 20_000
"""Bytes of a question."""

ROWS_ASKED_FOR = 1_000
"""Rows of a list that may be asked for."""

MOST_SITES = 10_000
"""Sites of a list that may be asked for."""

WAITING = 20
"""Questions that wait while one is answered; further ones are ignored."""

logger = logging.getLogger(__name__)


class CountAll(Struct, frozen=True, tag="count"):
    """A snapshot with a full count, whose lists have ``top`` rows."""

    top: int


class OfServer(Struct, frozen=True, tag="server"):
    """What is known of a server, and its next ``top`` URLs."""

    name: str
    top: int


class Alike(Struct, frozen=True, tag="alike"):
    """Names of at most ``most`` servers that contain a text."""

    text: str
    most: int


class OfUrl(Struct, frozen=True, tag="url"):
    """Where a URL stands, and what is known of it if it is visited again."""

    url: str


class Sites(Struct, frozen=True, tag="sites"):
    """The first ``top`` sites whose names contain a text; ``without_pages``, of those without."""

    text: str
    order: SiteOrder
    without_pages: bool
    top: int


class OneSite(Struct, frozen=True, tag="site"):
    """What is known of a site, with its ``top`` largest servers."""

    name: str
    top: int


Question = CountAll | OfServer | Alike | OfUrl | Sites | OneSite


class Known(Struct, frozen=True):
    """What is known of a URL, and of those like it if it is pending."""

    standing: Standing | None = None
    revisited: RevisitedPage | None = None
    kind: Cell | None = None


class Answer(Struct, frozen=True):
    """The field of what was asked for; ``error`` if it can't be had."""

    snapshot: Snapshot | None = None
    server: Server | None = None
    alike: list[str] = []
    known: Known = Known()
    sites: SiteList = SiteList(0, [])
    site: OfSite | None = None
    error: str = ""


encode = msgspec.msgpack.Encoder(enc_hook=lambda value: str(value)).encode


def _decoded(packed: bytes, kind: Any) -> Any:
    try:
        return msgspec.msgpack.decode(packed, type=kind)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def question_of(packed: bytes) -> Question | None:
    """Return a question; None if these bytes are none, or ask for too much."""
    found: Question | None = _decoded(packed, Question) if len(packed) <= QUESTION_BYTES else None
    match found:
        case CountAll(top) | OfServer(_, top) | Alike(_, top) | OneSite(_, top):
            return found if 0 < top <= ROWS_ASKED_FOR else None
        case Sites(_, _, _, top):
            return found if 0 < top <= MOST_SITES else None
    return found


def answer_of(packed: bytes) -> Answer | None:
    """Return an answer; None if these bytes are none, as of another version of lswc."""
    found: Answer | None = _decoded(packed, Answer)
    return found


def answered(reader: Reader, question: Question) -> Answer:
    """Answer a question from a frontier. Raises LswcError."""
    match question:
        case CountAll(top):
            return Answer(snapshot=counted(reader, top))
        case OfServer(name, top):
            return Answer(server=reader.server(name, top))
        case Alike(text, most):
            return Answer(alike=reader.servers_like(text, most))
        case Sites(text, order, without_pages, top):
            return Answer(sites=reader.sites(text, order, top, without_pages=without_pages))
        case OneSite(name, top):
            return Answer(site=reader.of_site(name, top))
        case OfUrl(url):
            kind = reader.kind_of(url)
            in_words = None if kind is None else cell_in_words(kind, reader.strategy)
            return Answer(known=Known(reader.standing(url), reader.revisited(url), in_words))


class Answering:
    """Answers what people ask a worker that runs; ``ask`` is given it and doesn't wait.

    ``count`` counts a name in the statistics.
    """

    def __init__(self, frontier: Path, post: Post, count: Callable[[str], object]) -> None:
        self._frontier, self._post, self._count = frontier, post, count
        self._thread = ThreadPoolExecutor(1, "lswc-answers")
        self._room = BoundedSemaphore(WAITING)
        self._is_closed = False

    def ask(self, asked: bytes) -> None:
        """Answer in time; what isn't a question, or too many, is counted and ignored."""
        name, _, packed = asked.partition(b" ")
        question = question_of(packed)
        is_asked = question is not None and not self._is_closed
        is_named = name.isalnum() and name.isascii() and len(name) <= QUESTION_BYTES
        if not (is_asked and is_named) or not self._room.acquire(blocking=False):
            self._count("lswc/questions/ignored")
            return
        self._count("lswc/questions/answered")
        self._thread.submit(self._answer, name, question)

    def _answer(self, name: bytes, question: Any) -> None:
        try:
            try:
                with sqlite_report.opened(self._frontier) as reader:
                    answer = answered(reader, question)
            except LswcError as error:
                answer = Answer(error=str(error))
            self._post.answer(name, encode(answer))
        except LswcError as error:
            logger.debug("a question isn't answered: %s", error)
        finally:
            self._room.release()

    def close(self) -> None:
        """Answer no more; what is being answered ends by itself."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
