"""A page on its way from the spider's callback to its record."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lswc.strategy import (
    SEED,
    Anchor,
    Facts,
    Locality,
    Named,
    PageLanguage,
    Status,
    distance_of,
    encode,
    from_site_queue,
)
from lswc.visit.record import Record

if TYPE_CHECKING:
    from lswc.reading.page import PageReading
    from lswc.urls import Url
    from lswc.visit.visit import Visit


@dataclass(slots=True)
class Link:
    """A link in scope; the middlewares fill in what they know of it."""

    url: Url
    unit: str
    locality: Locality
    anchor: Anchor
    named: Named = Named.NONE
    same_folder: bool = False
    tld: bool = False
    target_server: Status = Status.UNVISITED


@dataclass(slots=True)
class Page:
    """A downloaded page and its links.

    ``language`` is the one that decides, a guess included; ``relevant`` says that it is the
    target. ``link_distance`` is the distance of the page's links from the latest relevant
    referrer. ``near_duplicate`` says that a page like it came before.
    """

    visit: Visit
    status: int
    reading: PageReading
    language: PageLanguage
    near_duplicate: bool
    links: list[Link] = field(default_factory=list)
    server_status: Status = Status.UNDECIDED
    link_distance: int = 1

    @property
    def relevant(self) -> bool:
        """Whether strategies count the page as written in the target language."""
        return self.language == PageLanguage.TARGET

    @property
    def identified(self) -> bool:
        """Whether it was identified as such: harvest rates count these pages only."""
        return self.reading.identified == PageLanguage.TARGET

    @property
    def guessed(self) -> bool:
        """Whether it is taken for such because its referrer is, its own language being unknown."""
        return self.relevant and not self.identified

    def facts(self, link: Link) -> Facts:
        """Return the facts of a link, once all middlewares have added theirs."""
        own = self.visit.lease.code
        return Facts(
            self.language,
            self.link_distance,
            self.server_status,
            link.target_server,
            link.locality,
            link.tld,
            link.anchor,
            from_site_queue(own),
            named=link.named,
            same_folder=link.same_folder,
            from_seed=own == SEED,
        )

    def codes(self) -> list[int]:
        """Return the codes of the links' facts, in their order.

        Most links of a page have the same facts as others of it, which are told once.
        """
        known: dict[tuple[int, ...], int] = {}
        codes = []
        for link in self.links:
            own = (
                link.target_server, link.locality, link.tld, link.anchor, link.named,
                link.same_folder,
            )  # fmt: skip
            if own not in known:
                known[own] = encode(self.facts(link))
            codes.append(known[own])
        return codes

    def record(self) -> Record:
        """Return what is kept of the page, once the spider middlewares are done with it."""
        lease, identified = self.visit.lease, self.reading.identification
        return Record(
            id=lease.id,
            url=self.visit.url,
            status=self.status,
            kind=self.reading.kind,
            title=self.reading.title,
            language=identified.language,
            variant=identified.variant,
            encoding=identified.encoding,
            confidence=round(identified.confidence, 3),
            decided_by=identified.how,
            shares=" ".join(f"{code}={share}" for code, share in identified.shares),
            relevant=self.identified,
            guessed=self.guessed,
            distance=distance_of(lease.code),
            tier=lease.tier,
            expected=None if lease.expected is None else round(lease.expected, 4),
            depth=lease.depth,
            server_status=self.server_status.name.lower(),
            simhash=f"{self.reading.simhash:016x}",
            near_duplicate=self.near_duplicate,
            content_language=self.reading.content_language,
            vary=self.reading.vary,
            opt_outs=self.visit.opt_outs,
            rendered=self.visit.rendered,
            source=lease.source,
            referrer=lease.referrer,
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
