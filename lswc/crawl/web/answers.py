"""Answers of a web's servers, however it is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.crawl.web.shapes import Shape


class WebError(ConfigError):
    """``LSWC_WEB`` names no web that can be served."""


@dataclass(frozen=True)
class Answer:
    """An HTTP response: the body is bytes, or a file to stream; ``delay`` is in seconds.

    A file is sent in a ``shape``, if one is given.
    Header values are UTF-8, other bytes of a recorded one as surrogate escapes.
    """

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | Path = b""
    delay: float = 0.0
    shape: Shape | None = None


class Web(Protocol):
    """Servers and their answers."""

    def knows(self, server: str) -> bool:
        """Tell whether the server (host, with its port if that isn't the default) is held."""

    def answer(self, server: str, target: str, accepted: str = "") -> Answer:
        """Answer a GET of ``target`` (path and query, percent-encoded) at a known server.

        ``accepted`` is the request's Accept-Language.
        """
