"""Budget of the browser: pages that were read pay for each that is shown and brings nothing.

A page takes as long there as a hundred that are read. One that turns out to be relevant, and like
no other, is what the crawl is for: it costs nothing, and lets its site try one more. So an app in
the language is read whole, and hosts that only take time are left after a few pages.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

AT_FIRST = 20
"""Pages that may be shown in vain whatever the share: a crawl's seeds may all need it."""

FAILED = 3
"""As much as so many pages costs one that hung, or that the browser died of."""

EXPLORED = 3
"""Pages of a site whose buttons led nowhere in a row, before no more are pressed there."""

_SITES = 10_000


@dataclass
class _Site:
    vain: float = 0.0
    brought: int = 0
    led_nowhere: int = 0


class Budget:
    """The browser's time, by registered domain (``site``).

    ``share`` of the pages that were read may be shown in vain, and ``tries`` of a site and as many
    as it brought. No more than the latest sites are known.
    """

    def __init__(self, share: float, tries: int) -> None:
        self._share, self._tries = share, tries
        self._sites: OrderedDict[str, _Site] = OrderedDict()
        self._vain = 0.0

    def allows(self, site: str, read: int, under_way: int) -> bool:
        """Tell whether a page is shown: ``read`` were, ``under_way`` are being shown of others."""
        if self.is_proven(site):
            return True
        known = self._sites.get(site) or _Site()
        is_worth_it = known.vain < self._tries + known.brought
        return is_worth_it and self._vain + under_way < AT_FIRST + self._share * read

    def is_proven(self, site: str) -> bool:
        """Tell whether most pages of a site that were shown brought something."""
        known = self._sites.get(site)
        return known is not None and known.brought > known.vain

    def explores(self, site: str) -> bool:
        """Tell whether buttons of the site's pages are still asked where they lead."""
        known = self._sites.get(site)
        return known is None or known.led_nowhere < EXPLORED

    def explored(self, site: str, addresses: int) -> None:
        """Take notice of how many addresses a page's buttons told."""
        known = self._known(site)
        known.led_nowhere = 0 if addresses else known.led_nowhere + 1

    def brought(self, site: str) -> None:
        """Take notice that a page of the site turned out to be relevant, and new."""
        self._known(site).brought += 1

    def vain(self, site: str, *, failed: bool = False) -> None:
        """Take notice that a page of the site brought nothing, or ``failed`` to be shown."""
        cost = FAILED if failed else 1
        self._known(site).vain += cost
        self._vain += cost

    def _known(self, site: str) -> _Site:
        known = self._sites.setdefault(site, _Site())
        self._sites.move_to_end(site)
        if len(self._sites) > _SITES:
            self._sites.popitem(last=False)
        return known
