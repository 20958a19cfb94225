"""A host with thousands of new links a page doesn't flood the queue; what it loses is counted."""

from __future__ import annotations

from lswc.archive.check.agreement import check
from lswc.outcomes import Outcome
from tests import forks
from tests.scenarios.site import ROOT, THAI, Site, page

LINKS, MOST = 2_900, 60


def test_a_host_with_2900_new_links_a_page(site: Site) -> None:
    site.seeds("http://flood.co.th/", "http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, *(f"/{number}.html" for number in range(5))))
    for number in range(5):
        site.add(f"www.one.co.th/{number}.html", page(f"{THAI} {number}"))
    for name in ("", *(f"{number}.html" for number in range(3))):
        links = [f"/{name or 'front'}/{number}.html" for number in range(LINKS)]
        first = [f"/{number}.html" for number in range(3)] if not name else []
        site.add(f"flood.co.th/{name}", page(f"{THAI} {name}", *first, *links))
    site.crawl(LSWC_MAX_WAITING_PER_SERVER=MOST)
    summary = site.summary
    found = 4 * LINKS + 3 + 2 + 5  # links of the flood, seeds, links of the other
    discarded = summary["discarded"][Outcome.SERVER_QUEUE_FULL]
    assert sum(summary["finished"].values()) + discarded == found
    assert summary["finished"]["html"] == 4 + 6
    assert summary["finished"]["status 404"] == MOST
    assert check(site.folder).agrees
    asked = ["why", str(site.folder), f"http://flood.co.th/front/{LINKS - 1}.html"]
    told = forks.run(asked, ROOT, {})
    assert "discarded, server's queue full" in told.stdout
