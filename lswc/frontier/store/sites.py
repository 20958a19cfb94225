"""Sites of a SQLite file by number: families of unproven ones, and how many URLs wait of each."""

from __future__ import annotations

from array import array
from collections import Counter
from json import dumps
from typing import TYPE_CHECKING

from lswc.frontier.store.servers import UNSAID
from lswc.strategy.families import (
    KNOWN,
    OF_FAMILY,
    PROVEN,
    SEED,
    UNPROVEN,
    level_with,
    support_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable

    from lswc.frontier.rules.contract import Terms
    from lswc.frontier.store.servers import Born

SUPPORTED = 20_000
"""Sites whose supporters are kept in memory at most."""
_SITES = (
    "SELECT site, coalesce(server.place, site.place) FROM server JOIN site ON site.id = site"
    " WHERE server.id >= ? ORDER BY server.id"
)


class Families:
    """What is known of sites, all by number: 9 bytes each in memory.

    An unproven site is of the ``family`` of the proven site that introduced it, be it by others,
    and of the ``branch`` of the first unproven site on that way. ``sites`` counts by family the
    unproven sites that have pending URLs; there may be ``most`` of them, any number at 0. Nothing
    is counted unless the share of the unproven does (``share_counts``), or the strategy looks at
    support: then it ``is_on``.
    """

    def __init__(self, db: sqlite3.Connection, terms: Terms, weighs_support: bool) -> None:
        self._db = db
        self._most, self._small = terms.caps.sites, terms.small_family
        self.share_counts = terms.unproven_share < 1
        self.is_on = self.share_counts or weighs_support
        self._forget()

    def _forget(self) -> None:
        self.level = bytearray(1)
        self._family, self._branch = array("i", [0]), array("i", [0])
        self._supporters: dict[int, list[int]] = {}
        self.sites: Counter[int] = Counter()
        self._large = 0

    def load(self) -> None:
        """Take what the file holds."""
        self._forget()
        rows = self._db.execute("SELECT level, family, branch FROM site ORDER BY id")
        for site, (level, family, branch) in enumerate(rows, 1):
            self.level.append(level)
            self._family.append(family)
            self._branch.append(branch or site)

    def of(self, site: int) -> int:
        """Return the family of an unproven site; 0 of another, or if the share doesn't count."""
        is_unproven = site < len(self.level) and self.level[site] == UNPROVEN
        return self._family[site] if is_unproven and self.share_counts else 0

    def descent(self, site: int) -> tuple[int, int]:
        """Return the family and the branch of an unproven site, 0 if that is itself; else 0, 0."""
        if self.level[site] != UNPROVEN:
            return 0, 0
        branch = self._branch[site]
        return self._family[site], 0 if branch == site else branch

    def tell(self, site: int, born: Born) -> None:
        """Take notice of a site of which another worker reported; all before it are known."""
        if not self.is_on:
            return
        level, family, branch, _ = born
        if site >= len(self.level):
            self._grow(site, born)
        self.level[site], self._family[site] = level, family
        self._branch[site] = branch or site
        self._supporters.pop(site, None)

    def support(self, site: int) -> int:
        """Return the support of a site that ``meet`` was called for."""
        return support_of(self.level[site], len(self._supporters.get(site, ())))

    def is_small(self, family: int) -> bool:
        """Tell whether so few sites of a family wait that it is as proven."""
        return self.sites[family] <= self._small

    @property
    def some_are_small(self) -> bool:
        """Whether sites of a small family wait."""
        return len(self.sites) > self._large

    def charged(self, site: int) -> int:
        """Return the family that a request to a site is of: its own, or the one that it introduced.

        0 if that is small, or if SUPPORT others vouch for the site that introduced it.
        """
        family = self.of(site)
        if not family and self.level[site] == PROVEN:
            family = site
        return 0 if self.is_small(family) else family

    def _introduced_by(self, site: int) -> int:
        """Return the family of the sites that a site introduces."""
        return self.of(site) or site

    def _has_room(self, by: int) -> bool:
        """Tell whether sites that a site introduces may wait."""
        if not self._most:
            return True
        of_family = self.sites[self._introduced_by(by)]
        return self.sites.total() < self._most and of_family * OF_FAMILY < self._most

    def room(self, by: int | None) -> Born | None:
        """Return what is to be kept of sites that a page of the site ``by`` introduces.

        None if none may wait any more. ``by`` is None for seeds.
        """
        return None if by is not None and not self._has_room(by) else self._born(by)

    def begins(self, site: int) -> None:
        """Take notice that a site has pending URLs now."""
        if family := self.of(site):
            self.sites[family] += 1
            self._large += self.sites[family] == self._small + 1

    def ends(self, site: int) -> None:
        """Take notice that a site has none any more."""
        if family := self.of(site):
            self._leave(family)

    def proved(self, site: int) -> int:
        """Take notice that a site that has pending URLs was proven; return the family it was of."""
        family = self._family[site]
        self._leave(family)
        return family

    def _leave(self, family: int) -> None:
        self.sites[family] -= 1
        self._large -= self.sites[family] == self._small
        if not self.sites[family]:
            del self.sites[family]

    def _born(self, by: int | None) -> Born:
        """Return what is to be kept of sites that are met on a page of the site ``by`` first.

        ``by`` is None for seeds.
        """
        if not self.is_on:
            return UNSAID
        if by is None:
            return SEED, 0, 0, ""
        if self.level[by] == UNPROVEN:
            return UNPROVEN, self._family[by], self._branch[by], ""
        return (PROVEN if self.level[by] == SEED else UNPROVEN), by, 0, str(by)

    def meet(self, sites: Collection[int], by: int | None, born: Born) -> dict[int, int]:
        """Count the links of a page, of the site ``by``, to others; None for seeds.

        Those that are new were ``born`` so. Returns the others that changed, with the level before.
        """
        level, known, last = self.level, len(self.level), max(sites)
        if last >= known:
            self._grow(last, born)
        if by is not None and level[by] == UNPROVEN:
            return {}
        # What a new site is born with says already that this one links to it.
        met = [site for site in sites if site < known and level[site] < KNOWN and site != by]
        if not met:
            return {}
        if by is not None:
            self._read(met)
        before = {site: level[site] for site in met}
        changed = [site for site in met if self._is_changed(site, by)]
        self._db.executemany(
            "UPDATE site SET level = ?, supporters = ? WHERE id = ?",
            [(level[site], " ".join(map(str, self._supporters.get(site, ()))), site)
             for site in changed],
        )  # fmt: skip
        return {site: before[site] for site in changed}

    def _grow(self, last: int, born: Born) -> None:
        level, family, branch, _ = born
        new = range(len(self.level), last + 1)
        self.level.extend(bytes([level]) * len(new))
        self._family.extend([family] * len(new))
        self._branch.extend([branch] * len(new) if branch else new)

    def _is_changed(self, site: int, by: int | None) -> bool:
        """Count a link of a proven site to another; tell whether that changed anything."""
        if by is None:
            self.level[site] = SEED
            return True
        supporters = self._supporters[site]
        if by in supporters:
            return False
        supporters.append(by)
        self.level[site] = level_with(self.level[site], len(supporters), self.level[by])
        return True

    def _read(self, sites: Iterable[int]) -> None:
        """Have the supporters of sites in memory."""
        if len(self._supporters) > SUPPORTED:
            self._supporters.clear()
        missing = [site for site in sites if site not in self._supporters]
        if missing:
            rows = self._db.execute(
                "SELECT id, supporters FROM site WHERE id IN (SELECT value FROM json_each(?))",
                (dumps(missing),),
            )
            self._supporters |= {site: [*map(int, text.split())] for site, text in rows}


class Sizes:
    """The number of URLs that wait or are leased, by the numbers of servers and sites.

    ``peak`` is the most that a site, and so a server, has had; ``place`` has the place of each
    server.
    """

    def __init__(self, db: sqlite3.Connection, families: Families) -> None:
        self._db = db
        self._families = families
        self._forget()

    def _forget(self) -> None:
        self.peak = 0
        # All by number: a dict would take ten times the memory for a million servers.
        self._site_of, self._servers, self._sites = array("i", [0]), array("i", [0]), array("i")
        self.place = array("i", [0])

    def load(self) -> None:
        """Forget all counts; take the servers that the file holds."""
        self._forget()
        self._meet()

    def add(self, server: int, number: int) -> None:
        """Count so many URLs more of a server."""
        if server >= len(self._site_of):
            self._meet()
        site = self._site_of[server]
        before = self._sites[site]
        size = before + number
        self._sites[site] = size
        if number and not before:
            self._families.begins(site)
        elif before and not size:
            self._families.ends(site)
        self._servers[server] += number
        if size > self.peak:
            self.peak = size

    def site(self, server: int) -> int:
        """Return the number of a server's site."""
        if server >= len(self._site_of):
            self._meet()
        return self._site_of[server]

    def _meet(self) -> None:
        """Take notice of the servers that were added since."""
        rows = self._db.execute(_SITES, (len(self._site_of),)).fetchall()
        sites = [site for site, _ in rows]
        self._site_of.extend(sites)
        self.place.extend([place for _, place in rows])
        self._servers.extend([0] * len(sites))
        self._sites.extend([0] * (1 + max(sites, default=0) - len(self._sites)))

    def of_server(self, server: int) -> int:
        """Return how many there are of a server."""
        return self._servers[server] if server < len(self._servers) else 0

    def of_site(self, site: int) -> int:
        """Return how many there are of a site."""
        return self._sites[site]
