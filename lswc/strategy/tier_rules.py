"""The strategies of the papers: for the facts of a link, its tier or DISCARD.

Tier 0 is fetched first. Inside a tier, first in first out. Each rule is a pure function;
the ones with a parameter are made by the function that takes it.
"""

from __future__ import annotations

from collections.abc import Callable

from lswc.strategy.facts import Anchor, Facts, Locality, PageLanguage, Status

DISCARD = -1
"""The link is not followed."""

REQUISITES = 20_000
"""The cell of all requisites of pages: beyond those of any strategy, and in no order."""

GUESSES = REQUISITES + 1
"""The cell of requisites that pages may need: they come after all others."""

Rule = Callable[[Facts], int]


def bfs(facts: Facts) -> int:
    """Follow every link, first in first out."""
    return 0


def hard_focused(facts: Facts) -> int:
    """Discard the links of irrelevant pages (Tamura 2007 §5.1; Somboonviwat 2006 §6.1)."""
    return 0 if facts.referrer == PageLanguage.TARGET else DISCARD


def soft_focused(facts: Facts) -> int:
    """Put links of relevant pages before all others (Tamura 2007 §5.1; Kumar & Sharma §III)."""
    return 0 if facts.referrer == PageLanguage.TARGET else 1


def distance(facts: Facts) -> int:
    """Order by distance from the latest relevant referrer (Kumar & Sharma §III)."""
    return facts.distance - 1


def limited_distance(n: int) -> Rule:
    """Return ``distance`` without the links farther than N = ``n`` (Kumar & Sharma §V)."""

    def rule(facts: Facts) -> int:
        return distance(facts) if facts.distance <= n else DISCARD

    return rule


def aggressive(facts: Facts) -> int:
    """Discard links to irrelevant servers, order the rest softly (Tamura 2007 §4.1, Fig. 3)."""
    return DISCARD if facts.target_server == Status.IRRELEVANT else soft_focused(facts)


def conservative(facts: Facts) -> int:
    """Add step 4.5 to ``aggressive`` (Tamura 2007 §4.2, §4.3).

    From a server (or directory) without a relevant page yet, links to unvisited ones are
    discarded too.
    """
    if facts.target_server == Status.UNVISITED and facts.referrer_server != Status.RELEVANT:
        return DISCARD
    return aggressive(facts)


def lswc(t: int) -> Rule:
    """Return the rule of the Language Specific Web Crawler (Somboonviwat 2006 §5).

    Discards distances beyond T = ``t`` and irrelevant servers. Tiers: 0 relevant servers;
    1 relevant referrer on the same server; 2 relevant referrer on another server, and
    "one step higher" the links two steps from a relevant page by way of an English one;
    then one tier per distance: 3 for 2, 4 for 3, ... No relevant page leads to an English seed,
    so its links aren't higher.
    """

    def rule(facts: Facts) -> int:
        if facts.distance > t or facts.target_server == Status.IRRELEVANT:
            return DISCARD
        if facts.target_server == Status.RELEVANT:
            return 0
        if facts.referrer == PageLanguage.TARGET:
            return 1 if facts.locality == Locality.SAME_SERVER else 2
        by_english = facts.referrer == PageLanguage.ENGLISH and not facts.from_seed
        if by_english and facts.distance == 2:
            return 2
        return facts.distance + 1

    return rule


def tld(facts: Facts) -> int:
    """Keep links whose top-level domain is the language's (half of Chan & Yamana 2010 §3)."""
    return 0 if facts.tld else DISCARD


def anchor(facts: Facts) -> int:
    """Keep links whose anchor text is in the language (half of Chan & Yamana 2010 §3)."""
    return 0 if facts.anchor == Anchor.TARGET else DISCARD


def tld_anchor(facts: Facts) -> int:
    """Keep links by top-level domain, else by anchor text (Chan & Yamana 2010 §3)."""
    return max(tld(facts), anchor(facts))


def site_queues(facts: Facts) -> int:
    """Take whole sites whose entry page is relevant (Mon 2010 §3.1, Algorithm 1).

    Tier 0 is the site queue, tier 1 the out-link queue. The strategy has ten levels besides.
    """
    if facts.locality == Locality.ELSEWHERE:
        return 1
    return 0 if facts.in_site or facts.referrer == PageLanguage.TARGET else DISCARD


def spiderling(facts: Facts) -> int:
    """Discard links to servers of a low yield rate (Suchomel & Pomikálek 2012).

    The rate is that of ``facts.status``: the mean of the server's pages, where the paper divides
    the sum of their clean bytes by that of all bytes.
    """
    return DISCARD if facts.target_server == Status.IRRELEVANT else 0


def perfect(facts: Facts) -> int:
    """Follow only links known to lead to a relevant page (Tamura 2007 §5.1). Simulation only."""
    return 0 if facts.oracle else DISCARD
