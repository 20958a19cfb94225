"""Thai web graph of July-August 2004: what the papers publish about it.

Numbers of Tamura 2007 (§2, Tables 1, 4, 5) and of Somboonviwat 2006 (Tables 4, 5), and the
numbers of links of each kind that follow from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lswc.lab.synthetic.assumptions import ASSUMED
from lswc.lab.trace.links import End
from lswc.strategy import Locality

if TYPE_CHECKING:
    from lswc.lab.synthetic.assumptions import Assumptions

SERVERS, THAI_SERVERS = 574_111, 26_671
URLS, LINKS = 39_078_795, 123_836_342
NON_HTML, REDIRECTS = 360_404, 420_946

PAGES = {
    ("thai", ".th"): 591_683,
    ("thai", "others"): 1_131_088,
    ("english", ".th"): 108_149,
    ("english", "others"): 7_971_458,
    ("other", ".th"): 155_628,
    ("other", "others"): 8_386_121,
}
"""Tamura 2007, Table 1: pages by language and top-level domain."""

PAGE_LINKS = {
    ("Thai page", "Thai page"): (23_980_308, 3_833_048),
    ("Thai page", "non-Thai page"): (9_428_677, 6_421_570),
    ("non-Thai page, Thai server", "Thai page"): (1_542_513, 791_862),
    ("non-Thai page, Thai server", "non-Thai page"): (5_625_911, 1_452_123),
    ("non-Thai page, non-Thai server", "Thai page"): (74_094, 74_094),
    ("non-Thai page, non-Thai server", "non-Thai page"): (48_137_407, 24_731_356),
}
"""Tamura 2007, Table 4: links between downloaded pages, (all, between servers)."""

SERVER_LINKS = {
    ("Thai server", "Thai server"): (41_653_154, 6_886_986),
    ("Thai server", "non-Thai server"): (6_013_026, 6_013_026),
    ("non-Thai server", "Thai server"): (286_429, 286_429),
    ("non-Thai server", "non-Thai server"): (61_175_697, 25_655_607),
}
"""Tamura 2007, Table 5: links to any URL of a server with a page, (all, between servers)."""

SITE_SHARES = {
    ("Thai page", "same domain"): 0.830,
    ("Thai page", "other domain"): 0.307,
    ("non-Thai page", "same domain"): 0.023,
    ("non-Thai page", "other domain"): 0.062,
}
"""Somboonviwat 2006, Table 4: share of the links that lead to Thai pages."""

ANCHOR_SHARES = {
    ("Thai page", "Thai anchor"): 0.811,
    ("Thai page", "other anchor"): 0.660,
    ("non-Thai page", "Thai anchor"): 0.026,
    ("non-Thai page", "other anchor"): 0.027,
}
"""Somboonviwat 2006, Table 5: share of the links that lead to Thai pages."""

THAI_ANCHORS = {"Thai page": 0.27, "non-Thai page": 0.04}
"""Share of the links that have Thai anchors; follows from the counts of the same table."""

TLDS = {"com": 0.563, "de": 0.079, "jp": 0.076, "org": 0.075, "net": 0.069, "th": 0.047}
"""Tamura 2007, §2: share of the pages."""

# Kinds of source and destination of a link, as plain numbers. The first three are pages.
THAI, ON_THAI_SERVER, ON_OTHER_SERVER, OF_THAI_SERVER, OF_OTHER_SERVER, OF_NO_SERVER = map(int, End)
"""A Thai page; a non-Thai page on a server with a Thai page, on another; a URL that is no page
of a server with a Thai page, of another with pages, of a server without any page."""

SAME_SERVER, SAME_SITE, ELSEWHERE = map(int, Locality)


class Kind(NamedTuple):
    """A kind of link: from, to, and how far."""

    source: int
    target: int
    locality: int


def links(assumed: Assumptions = ASSUMED) -> dict[Kind, float]:
    """Return the number of links of each kind.

    Tables 4 and 5 fix most of them. What they leave open is split in proportion, except for the
    split of links between servers into same site and elsewhere, which follows from the shares
    of Somboonviwat 2006, Table 4, and is chosen where those leave it open.
    """
    t4 = [value for pair in PAGE_LINKS.values() for value in pair]
    (tt, tt_inter, tn, tn_inter, nt, nt_inter, nn, nn_inter, ot, ot_inter, oo, oo_inter) = t4
    t5 = [value for pair in SERVER_LINKS.values() for value in pair]
    (ss, ss_inter, _, so_inter, _, os_inter, xx, xx_inter) = t5
    from_thai_page = (tt + tn) / (tt + tn + nt + nn)
    to_other_inter = tn_inter + nn_inter

    # Between servers, from Thai servers: to pages, and to what isn't a page.
    left = ss_inter - tt_inter - nt_inter
    page_share = to_other_inter / (left + so_inter)
    near, far = left * page_share / to_other_inter, so_inter * page_share / to_other_inter
    # The same from other servers.
    to_thai_server = (os_inter - ot_inter) * oo_inter / (os_inter - ot_inter + xx_inter)
    other_pages = oo_inter - to_thai_server

    # Links to other domains: d_thai of all links on Thai pages, d_other of all on others.
    elsewhere = _elsewhere(tt, tt + tn, "Thai page")
    elsewhere_thai = elsewhere * SITE_SHARES["Thai page", "other domain"]
    site_thai, site_other = tt_inter - elsewhere_thai, tn_inter - (elsewhere - elsewhere_thai)
    elsewhere_2 = _elsewhere(nt + ot, nt + nn + ot + oo, "non-Thai page")
    elsewhere_2_thai = elsewhere_2 * SITE_SHARES["non-Thai page", "other domain"]
    site_2_thai = nt_inter + ot_inter - elsewhere_2_thai
    site_nn = assumed.site_links * nn_inter
    site_oo = (nn_inter + oo_inter) - (elsewhere_2 - elsewhere_2_thai) - site_nn

    own_other = ss - ss_inter - (tt - tt_inter + tn - tn_inter + nt - nt_inter + nn - nn_inter)
    own_thai = (tt - tt_inter + tn - tn_inter) / (ss - ss_inter - own_other)
    unknown = LINKS - sum(value for value, _ in SERVER_LINKS.values())
    to_server = assumed.site_to_thai_server
    from_other = assumed.unknown_from_other
    site_nn_to_server = site_nn * assumed.site_from_non_thai
    site_nn_to_other = site_nn - site_nn_to_server
    split = {THAI: from_thai_page, ON_THAI_SERVER: 1 - from_thai_page}
    kinds = {
        Kind(THAI, THAI, SAME_SERVER): tt - tt_inter,
        Kind(THAI, ON_THAI_SERVER, SAME_SERVER): tn - tn_inter,
        Kind(ON_THAI_SERVER, THAI, SAME_SERVER): nt - nt_inter,
        Kind(ON_THAI_SERVER, ON_THAI_SERVER, SAME_SERVER): nn - nn_inter,
        Kind(ON_OTHER_SERVER, ON_OTHER_SERVER, SAME_SERVER): oo - oo_inter,
        Kind(THAI, OF_THAI_SERVER, SAME_SERVER): own_other * own_thai,
        Kind(ON_THAI_SERVER, OF_THAI_SERVER, SAME_SERVER): own_other * (1 - own_thai),
        Kind(ON_OTHER_SERVER, OF_OTHER_SERVER, SAME_SERVER): xx - xx_inter - (oo - oo_inter),
        Kind(THAI, THAI, SAME_SITE): site_thai,
        Kind(THAI, ON_THAI_SERVER, SAME_SITE): site_other * to_server,
        Kind(THAI, ON_OTHER_SERVER, SAME_SITE): site_other * (1 - to_server),
        Kind(ON_THAI_SERVER, THAI, SAME_SITE): site_2_thai,
        Kind(ON_THAI_SERVER, ON_THAI_SERVER, SAME_SITE): site_nn_to_server,
        Kind(ON_THAI_SERVER, ON_OTHER_SERVER, SAME_SITE): site_nn_to_other,
        Kind(ON_OTHER_SERVER, ON_OTHER_SERVER, SAME_SITE): site_oo,
        Kind(THAI, THAI, ELSEWHERE): elsewhere_thai,
        Kind(THAI, ON_THAI_SERVER, ELSEWHERE): tn_inter * near - site_other * to_server,
        Kind(THAI, ON_OTHER_SERVER, ELSEWHERE): tn_inter * far - site_other * (1 - to_server),
        Kind(ON_THAI_SERVER, THAI, ELSEWHERE): nt_inter - site_2_thai,
        Kind(ON_THAI_SERVER, ON_THAI_SERVER, ELSEWHERE): nn_inter * near - site_nn_to_server,
        Kind(ON_THAI_SERVER, ON_OTHER_SERVER, ELSEWHERE): nn_inter * far - site_nn_to_other,
        Kind(ON_OTHER_SERVER, THAI, ELSEWHERE): ot_inter,
        Kind(ON_OTHER_SERVER, ON_THAI_SERVER, ELSEWHERE): to_thai_server,
        Kind(ON_OTHER_SERVER, ON_OTHER_SERVER, ELSEWHERE): other_pages - site_oo,
        Kind(ON_OTHER_SERVER, OF_THAI_SERVER, ELSEWHERE): os_inter - ot_inter - to_thai_server,
        Kind(ON_OTHER_SERVER, OF_OTHER_SERVER, ELSEWHERE): xx_inter - other_pages,
        Kind(ON_OTHER_SERVER, OF_NO_SERVER, ELSEWHERE): unknown * from_other,
    }
    for source, share in split.items():
        kinds[Kind(source, OF_THAI_SERVER, ELSEWHERE)] = left * (1 - page_share) * share
        kinds[Kind(source, OF_OTHER_SERVER, ELSEWHERE)] = so_inter * (1 - page_share) * share
        kinds[Kind(source, OF_NO_SERVER, ELSEWHERE)] = unknown * (1 - from_other) * share
    return kinds


def _elsewhere(to_thai: int, total: int, source: str) -> float:
    """Return how many of ``total`` links leave the domain, from the shares that lead to Thai."""
    inside, outside = SITE_SHARES[source, "same domain"], SITE_SHARES[source, "other domain"]
    return total * (inside - to_thai / total) / (inside - outside)
