"""Instructions to a crawl of many workers: in Redis, and as a worker that runs heard them last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from lswc.errors import StorageError, writing
from lswc.files import whole
from lswc.frontier.exchange.post import stamp_of, stamped, unstamped
from lswc.guest.control.toml_text import FILE, MAX_SIZE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lswc.frontier.exchange.post import Post


class InRedis:
    """In two keys of a crawl: ``name:control`` and ``name:control:history``.

    Methods raise AwayError.
    """

    def __init__(self, post: Post) -> None:
        self._post = post

    def version(self) -> object:
        return self._post.control()

    def text(self) -> str:
        return _text(self._post.control())

    def edit(self, change: Callable[[str], str], line: str) -> None:
        self._post.edit(lambda before: stamped(change(_text(before)).encode(), before), line)

    def lines(self) -> list[str]:
        return [line.decode(errors="replace") for line in self._post.history()]


class Hears(Protocol):
    """What hears of instructions (``lswc.frontier.exchange.exchange``): no more than that."""

    control: bytes | None


class InMail:
    """The instructions that a worker heard last: it never waits for Redis.

    A copy of them is in its folder. That is in force while Redis is away, also after a restart, and
    Redis gets it again if it has an older one. Methods raise StorageError.
    """

    def __init__(self, folder: Path, hears: Hears) -> None:
        self._path = folder / FILE
        self._hears = hears
        self._kept = self._copy()
        if stamp_of(self._kept) > stamp_of(hears.control):
            hears.control = self._kept

    def _copy(self) -> bytes | None:
        """Return what the folder has; nothing that isn't a copy."""
        try:
            with self._path.open("rb") as file:
                copy = file.read(MAX_SIZE + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StorageError(f"can't read {self._path}: {error.strerror}") from error
        return copy if stamp_of(copy) else None

    def version(self) -> object:
        heard = self._hears.control
        if heard is not None and heard != self._kept:
            with writing(self._path), whole(self._path) as beside:
                beside.write_bytes(heard)
            self._kept = heard
        return heard

    def text(self) -> str:
        return _text(self._hears.control)

    def edit(self, change: Callable[[str], str], line: str) -> None:
        """Raise StorageError: all workers hear instructions from Redis."""
        raise StorageError("instructions to a crawl of many workers are given in Redis")

    def lines(self) -> list[str]:
        return []


def _text(control: bytes | None) -> str:
    return str(unstamped(control), "utf-8", "replace")
