"""Requisites of archived pages: what they need to look as they do, with what that needs itself."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.crawl.failures import count_mishaps
from lswc.crawl.readers import PageError, ReaderError, Unread
from lswc.crawl.requests import CUT, headers_of, url_of, visit_of
from lswc.frontier.rules.visit import Offer
from lswc.outcomes import Outcome
from lswc.reading.reader_messages import AskedRequisite
from lswc.reading.requisites import FEED, GUESS, Needed, Place, Requisite, RequisiteReader
from lswc.safety.content_types import declared_type
from lswc.strategy import GUESS as GUESS_CODE
from lswc.strategy import LISTING, REQUISITE, PageLanguage
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.guest import Guest

REMEMBERED = 50_000
"""Files that may need more themselves, and whose page is remembered."""

GUESSED = 1_000
"""Servers whose guesses are remembered."""

UNPROVED = 100
"""Guesses of a server that may be wrong; each that was right allows two more."""

logger = logging.getLogger(__name__)

_LEAVES = frozenset({"image", "icon", "font", "media", "data"})
_MAY_NEED_MORE = (".svg", ".js", ".mjs", ".css", ".json", ".m3u8", ".mpd")


@dataclass(slots=True)
class _Tree:
    """A page with all that it needs: the number of files so far, and where its scripts are run."""

    place: Place | None
    files: int = 0


class Trees:
    """Counts the files that each page needs, with those that its requisites need themselves.

    A file that several pages need belongs to the first, sooner to one that surely needs it.
    ``most`` is the bound of a page, 0 for none. Which page a file belongs to is forgotten at the
    end of the process, and when it lies long ago: then the file is counted as a page is.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._tree_of: OrderedDict[str, _Tree] = OrderedDict()
        self._guessed: set[str] = set()

    def place(self, url: str) -> Place | None:
        """Return the page that a file belongs to, None if that is forgotten."""
        tree = self._tree_of.get(url)
        return None if tree is None else tree.place

    def take(
        self, url: str, found: Sequence[Requisite], place: Place | None, *, is_page: bool
    ) -> Sequence[Requisite]:
        """Count what a page, or a requisite, needs; return as much of it as its page may have.

        A page has a ``place``; a script may say more of its page's.
        """
        tree = None if is_page else self._tree_of.pop(url, None)
        self._guessed.discard(url)
        tree = tree or _Tree(place)
        tree.place = place or tree.place
        taken = found[: max(0, self._most - tree.files)] if self._most else found
        tree.files += len(taken)
        for requisite in taken:
            is_leaf = requisite.kind in _LEAVES or requisite.kind == GUESS
            if not is_leaf or any(name in requisite.url for name in _MAY_NEED_MORE):
                self._belongs(requisite, tree)
        while len(self._tree_of) > REMEMBERED:
            self._guessed.discard(self._tree_of.popitem(last=False)[0])
        return taken

    def _belongs(self, requisite: Requisite, tree: _Tree) -> None:
        url, is_guess = requisite.url, requisite.kind == GUESS
        if is_guess and url not in self._tree_of:
            self._guessed.add(url)
        elif not is_guess and url in self._guessed:
            self._guessed.remove(url)
            self._tree_of[url] = tree
        self._tree_of.setdefault(url, tree)


class Earned:
    """What each server's guesses have earned: a server that has few of what is named is left alone.

    A URL that is guessed again counts once. Of this process, and of the latest servers.
    """

    def __init__(self) -> None:
        self._of: OrderedDict[str, tuple[set[str], int]] = OrderedDict()

    def allow(self, offer: Offer) -> bool:
        """Tell whether a guess may be offered, and count it."""
        guessed, right = self._of.setdefault(offer.server, (set(), 0))
        self._of.move_to_end(offer.server)
        if len(self._of) > GUESSED:
            self._of.popitem(last=False)
        if offer.url not in guessed and len(guessed) >= UNPROVED + 3 * right:
            return False
        guessed.add(offer.url)
        return True

    def prove(self, server: str) -> None:
        """Count a guess that was right."""
        if server in self._of:
            guessed, right = self._of[server]
            self._of[server] = guessed, right + 1


class Requisites:
    """Offers what a crawl's archived pages need, with the links of the visit that brought it."""

    def __init__(self, crawl: Crawl, commits: Commits, guest: Guest, readers: Readers) -> None:
        self._crawl, self._commits, self._guest = crawl, commits, guest
        self._readers = readers
        self._right = Earned()
        self._trees = Trees(crawl.reader.requisites.most if crawl.reader.requisites else 0)

    async def parse(self, response: Response) -> None:
        """End the visit of what an archived page needs, which may need more itself."""
        visit, commits = visit_of(response), self._commits
        if visit is None:
            return
        if (url := url_of(visit)) is not None:
            self._guest.limits.answered(url, True)
        if visit.lease.is_guess:
            self._right.prove(visit.lease.server)
        if self._crawl.withholds(visit.opt_outs):
            visit.withhold()
        elif self._crawl.reader.requisites is not None:
            needed = await self._read(response, visit)
            if not visit.is_over:
                count_mishaps(visit, needed.mishaps)
                self.need(visit, needed, visit.lease.depth + 1)
        commits.commit(visit, Outcome.REQUISITE)

    async def _read(self, response: Response, visit: Visit) -> Needed:
        """Return what a requisite needs; if it cost its reader nothing, with the reason."""
        content_type = declared_type(headers_of(response))
        if CUT in response.flags:
            visit.tally["content", "file cut"] += 1
            return Needed()
        if not RequisiteReader.reads(response.body, content_type):
            return Needed()
        place = self._trees.place(visit.url)
        asked = AskedRequisite(content_type, response.url, visit.lease.depth, place)
        try:
            return (await self._readers.ask(asked, response.body)).needed
        except Unread as error:
            logger.warning("%s: %s", response.url, error.outcome.sentence)
            return Needed((), ((error.outcome, 1),))
        except PageError as error:
            logger.error("what %s needs couldn't be read: %s", response.url, error)
            return Needed((), ((Outcome.SPIDER_ERROR, 1),))
        except ReaderError as error:
            self._commits.fail(error)
            return Needed()

    def need(self, visit: Visit, needed: Needed, steps: int) -> None:
        """Offer what a visit's page or requisite needs: so many steps from the page."""
        had = {attempt.url for attempt in visit.fetched}
        wanted = [
            *needed.requisites,
            *(_shown(visit) if self._crawl.reading.requisites_of else ()),
        ]
        feeds = [one for one in wanted if one.kind == FEED]
        files = [one for one in wanted if one.kind != FEED and one.url not in had]
        place = needed.place or (Place(visit.url) if visit.is_page else None)
        taken = self._trees.take(visit.url, files, place, is_page=visit.is_page)
        if len(taken) < len(files):
            beyond = len(files) - len(taken)
            visit.tally["requisites discarded", Outcome.TOO_MANY_REQUISITES] += beyond
        for reason, number in needed.discarded:
            visit.tally["requisites discarded", reason] += number
        sure = [one for one in taken if one.kind != GUESS]
        offers = [
            *self._offers(visit, sure, REQUISITE, PageLanguage.TARGET, steps),
            *self._guesses(visit, [one for one in taken if one.kind == GUESS], steps),
            *self._offers(visit, feeds, LISTING, PageLanguage.OTHER, visit.lease.depth + 1),
        ]
        visit.offers = [*visit.offers, *offers]
        visit.requisites = [offer.url for offer in offers if offer.code in (REQUISITE, GUESS_CODE)]
        visit.requisites += sorted(had)

    def _guesses(self, visit: Visit, wanted: Sequence[Requisite], steps: int) -> Iterator[Offer]:
        """Yield the guesses that their servers have earned by those that were right."""
        for offer in self._offers(visit, wanted, GUESS_CODE, PageLanguage.TARGET, steps):
            if self._right.allow(offer):
                yield offer
            else:
                visit.tally["requisites discarded", Outcome.TOO_MANY_GUESSES] += 1

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


def _shown(visit: Visit) -> list[Requisite]:
    """Return what a page needed in the browser, and wasn't fetched for it there.

    That is what others had asked for, and what nobody looks at in it.
    """
    needed = dict.fromkeys(visit.named, "data") | dict.fromkeys(visit.scripts, "script")
    return [Requisite(*each) for each in needed.items()]
