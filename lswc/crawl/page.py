"""Page: the item on its way from the spider's callback to its record."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lswc.frontier.page_record import Record
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

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from lswc.frontier.visit import Visit
    from lswc.reading.page import PageReading, ReadLink
    from lswc.urls import Url


NOT_MODIFIED = "not modified"
"""Flag of a response that is an earlier crawl's: the page hasn't changed since."""

LinkFacts = tuple[Status, Locality, bool, Anchor, Named, bool]
"""What a link's facts have of its own: status of its target's unit, locality, whether its TLD is
the language's, anchor, language that it names, whether it leads into the page's own folder."""


@dataclass(slots=True)
class Page:
    """A downloaded page and its links; the middlewares fill in what they know of where these lead.

    ``language`` is the one that decides, a guess included. ``near_duplicate`` says that a page
    like it came before. ``units`` are those of the targets of ``links``, its links in scope, in
    their order, and ``statuses`` what is known of them; ``in_tld`` are the host names there whose
    TLD is the language's. ``distance`` from the latest relevant referrer is the page's own,
    ``link_distance`` that of its links.

    ``relevant``: strategies count the page as written in the target language. ``identified``: it
    was identified as such, and harvest rates count these pages only. ``guessed``: it is taken for
    such because its referrer is, its own language being unknown.
    """

    visit: Visit
    url: Url
    status: int
    reading: PageReading
    language: PageLanguage
    near_duplicate: bool
    units: Sequence[str] = ()
    statuses: Mapping[str, Status] = field(default_factory=dict)
    in_tld: Collection[str] = ()
    server_status: Status = Status.UNDECIDED
    link_distance: int = 1
    links: Sequence[ReadLink] = field(init=False)
    relevant: bool = field(init=False)
    identified: bool = field(init=False)
    guessed: bool = field(init=False)
    source: str = field(init=False)
    distance: int = field(init=False)

    def __post_init__(self) -> None:
        self.links = self.reading.links
        self.relevant = self.language == PageLanguage.TARGET
        self.identified = self.reading.identified == PageLanguage.TARGET
        self.guessed = self.relevant and not self.identified
        self.source = self.visit.lease.source
        self.distance = distance_of(self.visit.lease.code)

    def link_facts(self) -> list[LinkFacts]:
        """Return what the facts of the links have of their own, in their order.

        Complete once all middlewares have added theirs.
        """
        unvisited, status_of, in_tld = Status.UNVISITED, self.statuses.get, self.in_tld
        return [
            (
                status_of(unit, unvisited), link.locality, link.url.hostname in in_tld,
                link.anchor, link.named, link.same_folder,
            )
            for link, unit in zip(self.links, self.units, strict=True)
        ]  # fmt: skip

    def codes(self, facts: Iterable[LinkFacts]) -> dict[LinkFacts, int]:
        """Return the code of the facts of the links that have these of their own."""
        code = self.visit.lease.code
        in_site, from_seed = from_site_queue(code), code == SEED
        language, distance, status = self.language, self.link_distance, self.server_status
        return {
            own: encode(
                Facts(
                    language, distance, status, target, locality, tld, anchor, in_site, False,
                    named, same_folder, from_seed,
                )
            )
            for own in facts
            for target, locality, tld, anchor, named, same_folder in (own,)
        }  # fmt: skip

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
            distance=self.distance,
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
            source=self.source,
            referrer=lease.referrer,
            time=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
