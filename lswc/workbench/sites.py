"""Sites of a crawl as a list: what each brought, by which it is sorted, and whose name is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.frontier.rules.report import SiteOrder
from lswc.guest.control import ControlError, read
from lswc.monitor.questions import MOST_SITES, Sites
from lswc.urls import parse
from lswc.workbench import marks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.monitor.stored import StoredCrawl
    from lswc.workbench.watch import Watch

ROWS = 50
"""Sites of a page."""

COLUMNS = (
    (SiteOrder.NAME, "site"),
    (SiteOrder.PAGES, "pages"),
    (SiteOrder.RELEVANT, "relevant"),
    (SiteOrder.MISSED, "in vain"),
    (SiteOrder.LEFT_OUT, "left out"),
    (SiteOrder.PENDING, "pending"),
    (SiteOrder.BYTES, "received"),
)
"""What the list may be sorted by, and the heads of its columns."""


def listed(watch: Watch, given: Mapping[str, str]) -> dict[str, Any]:
    """Return a page of the sites. Raises LswcError."""
    text = searched(given.get("q", ""))
    order = next((one for one, _ in COLUMNS if one == given.get("order")), SiteOrder.PAGES)
    without = given.get("show") == "without"
    page = _page(given.get("page", ""))
    found = watch.crawl.sites(Sites(text, order, without, ROWS * page))
    pages = max(1, -(-min(found.number, MOST_SITES) // ROWS))
    return {
        "q": given.get("q", "")[: marks.NAME_OF_HOST],
        "order": str(order),
        "without": without,
        "columns": [(str(name), head) for name, head in COLUMNS],
        "number": found.number,
        "reached": MOST_SITES,
        "rows": found.sites[ROWS * (page - 1) :],
        "page": page,
        "pages": pages,
        "instructed": _instructed(watch.crawl),
        "marks": marks.read(watch.crawl.folders()),
    }


def searched(written: str) -> str:
    """Return what is looked for in names of hosts, which have no letters but those of ASCII."""
    text = written.strip().lower()[: marks.NAME_OF_HOST]
    url = None if text.isascii() else parse(f"http://{text}/")
    return text if url is None else url.hostname


def _page(written: str) -> int:
    number = int(written) if written.isascii() and written.isdecimal() and len(written) < 5 else 1
    return min(max(number, 1), MOST_SITES // ROWS)


def _instructed(crawl: StoredCrawl) -> dict[str, str]:
    """Return by name which whole domains are kept back, in words."""
    try:
        rules = read(crawl.kept).rules
    except ControlError:
        return {}
    return {
        place.domain: "blocked" if rule.block else "paused"
        for place, rule in rules
        if place.domain and (rule.block or rule.pause)
    }
