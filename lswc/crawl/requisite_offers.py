"""Requisites of archived pages: what they need to look as they do, with what that needs itself."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.crawl.readers import ReaderError, Unread
from lswc.crawl.requests import url_of, visit_of
from lswc.frontier.visit import Offer
from lswc.outcomes import Outcome
from lswc.reading.messages import AskedRequisite
from lswc.reading.requisites import FEED, Needed, Requisite, RequisiteReader
from lswc.strategy import LISTING, REQUISITE, PageLanguage
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.frontier.visit import Visit
    from lswc.guest.guest import Guest

REMEMBERED = 50_000
"""Files that may need more themselves, and whose page is remembered."""

logger = logging.getLogger(__name__)

_LEAVES = frozenset({"image", "icon", "font", "media", "manifest", "data"})


@dataclass(slots=True)
class _Tree:
    """A page with all that it needs: the number of files so far."""

    files: int = 0


class Trees:
    """Counts the files that each page needs, with those that its requisites need themselves.

    A file that several pages need belongs to the first. ``most`` is the bound of a page, 0 for
    none. Which page a file belongs to is forgotten at the end of the process, and when it lies long
    ago: then the file is counted as a page is.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._tree_of: OrderedDict[str, _Tree] = OrderedDict()

    def take(self, url: str, found: Sequence[Requisite], *, is_page: bool) -> Sequence[Requisite]:
        """Count what a page, or a requisite, needs; return as much of it as its page may have."""
        if not self._most:
            return found
        tree = None if is_page else self._tree_of.pop(url, None)
        tree = tree or _Tree()
        taken = found[: max(0, self._most - tree.files)]
        tree.files += len(taken)
        for requisite in taken:
            if requisite.kind not in _LEAVES or ".svg" in requisite.url:
                self._tree_of.setdefault(requisite.url, tree)
        while len(self._tree_of) > REMEMBERED:
            self._tree_of.popitem(last=False)
        return taken


class Requisites:
    """Offers what a crawl's archived pages need, with the links of the visit that brought it."""

    def __init__(self, crawl: Crawl, commits: Commits, guest: Guest, readers: Readers) -> None:
        self._crawl, self._commits, self._guest = crawl, commits, guest
        self._readers = readers
        self._trees = Trees(crawl.reader.requisites.most if crawl.reader.requisites else 0)

    async def parse(self, response: Response) -> None:
        """End the visit of what an archived page needs, which may need more itself."""
        visit, commits = visit_of(response), self._commits
        if visit is None:
            return
        if (url := url_of(visit)) is not None:
            self._guest.limits.answered(url, True)
        if self._crawl.withholds(visit.opt_outs):
            visit.withhold()
        elif self._crawl.reader.requisites is not None:
            needed = await self._read(response, visit.lease.depth)
            if not visit.is_over:
                self.need(visit, needed, visit.lease.depth + 1)
        commits.commit(visit, Outcome.REQUISITE)

    async def _read(self, response: Response, steps: int) -> Needed:
        """Return what a requisite needs; if it cost its reader nothing, with the reason."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if not RequisiteReader.reads(response.body, content_type):
            return Needed()
        asked = AskedRequisite(content_type, response.url, steps)
        try:
            return (await self._readers.ask(asked, response.body)).needed
        except Unread as error:
            logger.warning("%s: %s", response.url, error.outcome.sentence)
            return Needed((), ((error.outcome, 1),))
        except ReaderError as error:
            self._commits.fail(error)
            return Needed()

    def need(self, visit: Visit, needed: Needed, steps: int) -> None:
        """Offer what a visit's page or requisite needs: so many steps from the page."""
        had = {attempt.url for attempt in visit.fetched}
        wanted = [
            *needed.requisites,
            *(_scripts(visit) if self._crawl.reading.requisites_of else ()),
        ]
        feeds = [one for one in wanted if one.kind == FEED]
        files = [one for one in wanted if one.kind != FEED and one.url not in had]
        taken = self._trees.take(visit.url, files, is_page=visit.is_page)
        if len(taken) < len(files):
            beyond = len(files) - len(taken)
            visit.tally["requisites dropped", Outcome.TOO_MANY_REQUISITES] += beyond
        for reason, number in needed.dropped:
            visit.tally["requisites dropped", reason] += number
        offers = [
            *self._offers(visit, taken, REQUISITE, PageLanguage.TARGET, steps),
            *self._offers(visit, feeds, LISTING, PageLanguage.OTHER, visit.lease.depth + 1),
        ]
        visit.offers = [*visit.offers, *offers]
        visit.requisites = [offer.url for offer in offers if offer.code == REQUISITE]
        visit.requisites += sorted(had)

    def _offers(
        self,
        visit: Visit,
        wanted: Sequence[Requisite],
        code: int,
        inherited: PageLanguage,
        depth: int,
    ) -> Iterator[Offer]:
        for one in wanted:
            if (url := parse(one.url)) is not None:
                visit.tally["needed", one.kind] += 1
                yield Offer(url.href, url.server, self._crawl.unit(url), code, inherited, depth)


def _scripts(visit: Visit) -> list[Requisite]:
    """Return what a page had of what others asked for in the browser: it may not be archived."""
    return [Requisite(url, "script") for url in dict.fromkeys(visit.scripts)]
