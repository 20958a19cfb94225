"""Sharing: what a file has of a crawl that several workers share (``lswc.frontier.exchange``)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lswc.frontier.exchange.giving import Giving
from lswc.frontier.exchange.inbox import Inbox
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.frontier.rules.visit import Offer
    from lswc.frontier.store.file import File


class Sharing:
    """What this worker is in its crawl; and what is offered again once a disk is lost.

    ``inbox`` takes what others sent, ``giving`` gives parts of the sites to them.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        self.inbox = Inbox(
            file.db, file.outbox, file.urls, file.servers, file.lines, file.tallies, file.held
        )
        self.giving = Giving(
            file.db, file.outbox, file.urls, file.lines, file.held,
            file.leases.busy, file.transaction,
        )  # fmt: skip
        file.loaded = self.inbox.load
        self.inbox.load()

    def membership(self) -> dict[str, str]:
        """Return what is kept of the crawl that this file is a worker's of; nothing if none."""
        with self._file.errors():
            rows = self._file.db.execute(
                "SELECT key, value FROM about WHERE key IN ('worker', 'crawl', 'owners', 'resent')"
            )
            return dict(rows.fetchall())

    def keep_membership(self, **kept: str) -> None:
        """Keep that, in a transaction that is the caller's."""
        self._file.db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", kept.items())

    def fetch_again(self, worker: int) -> int:
        """Let URLs wait that another worker finished whose disk is lost; return how many."""
        with self._file.transaction():
            return self._file.urls.fetch_again(worker)

    def offer_again(self, url: str, links: Callable[[int, int], Sequence[Offer]]) -> None:
        """Offer links of a page that was committed before, by its URL; nothing if it isn't known.

        ``links`` is given the code of the facts of the link to the page, and its depth.
        """
        file = self._file
        with file.transaction():
            row = file.db.execute(
                "SELECT seq, server, code, depth FROM url WHERE fingerprint = ?",
                (fingerprint(url),),
            ).fetchone()
            if row is None:
                return
            seq, server, code, depth = row
            vouching = partial(file.outbox.vouching, server)
            own = file.outbox.divert(links(code, depth), url, vouching, again=True)
            file.urls.store(own, seq, file.lines.sizes.site(server))
