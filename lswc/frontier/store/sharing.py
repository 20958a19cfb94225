"""Sharing: what a file has of a crawl that several workers share (``lswc.frontier.exchange``)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lswc.frontier.exchange.giving import Giving
from lswc.frontier.exchange.inbox import Inbox
from lswc.frontier.exchange.owners import part_of
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
            file.db, file.outbox, file.urls, file.servers, file.lines, file.tallies, file.revisited
        )
        self.giving = Giving(
            file.db, file.outbox, file.urls, file.lines, file.revisited,
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

    def fetch_again(self, worker: int) -> None:
        """Let what another worker, whose disk is lost, fetched of own sites be fetched again.

        A page that is visited again here goes on so, at once: its next visit asks for all of it, as
        this worker has none of the earlier ones.
        """
        with self._file.transaction():
            own = set(self._file.outbox.own)
            finished = self._file.urls.finished_by(worker)
            lost = {seq for seq, site in finished if part_of(site) in own}
            self._file.urls.fetch_again(lost - self._file.revisited.ask_soon(lost))

    def take_back(self) -> None:
        """Let pages of own sites be visited again as before that were given to a lost worker."""
        with self._file.transaction():
            own = set(self._file.outbox.own)
            given = self._file.revisited.given_away()
            self._file.revisited.take_back(seq for seq, site in given if part_of(site) in own)

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
