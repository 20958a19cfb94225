"""Families: sites that only sites of their own kind vouch for, and the share that these get.

After Lee, Leonard, Wang and Loguinov, "IRLbot: Scaling to 6 billion pages and beyond", WWW 2008,
whose STAR gives a domain a budget by the number of other domains that link to it. Relevant pages
cost a spam farm nothing, links from sites that aren't its own do.
"""

from __future__ import annotations

from lswc.strategy.facts import Support

SUPPORT = 6
"""Supporters of a site that are counted: proven sites that link to it. More are no other fact."""

PROOF = 2
"""Supporters that prove a site. One is enough if that is a seed's site."""

NEW, UNPROVEN, PROVEN, KNOWN, SEED = range(5)
"""Levels of a site: nothing is known of it; unproven; proven; proven with SUPPORT supporters; that
of a seed. Links to the last two are no longer counted."""

FAMILIES = 16
"""Families that are looked at, at most, for one that may have the next request."""

AGAIN = 3
"""A family that had the request before pays so many times as much for the next."""

BURST, DEBT = 4, 200
"""Requests that the unproven may have saved up, and that they may owe: what they had while all
others rested."""

SMALL = 8
"""A family with no more unproven sites that wait is as proven: of honest webs hardly one is larger,
and a farm of as few is no more than as many sites."""

OF_FAMILY = 10
"""A family may have one in so many of the unproven sites that wait."""

URLS = 1000
"""URLs of an unproven site that wait, at most: room for the requisites of a page, too. Of one
family, with a tenth of 200,000 sites, these are 20 million."""

_NONE, _ONE, _, _FEW, _MANY = (support.value for support in Support)


def level_with(level: int, supporters: int, by: int) -> int:
    """Return the level of a site of that level, now that a proven site of level ``by`` supports it.

    It is the last of so many ``supporters``. (The simulator compiles this.)
    """
    if supporters >= SUPPORT:
        return KNOWN
    return PROVEN if supporters >= PROOF or by == SEED else level


def support_of(level: int, supporters: int) -> int:
    """Return the Support of a site of that level, with so many supporters.

    One that an unproven site introduced has none: its family counts as one. (The simulator compiles
    this.)
    """
    if level >= KNOWN:
        return _MANY
    if level == NEW:
        return _NONE
    return min(max(supporters, _ONE), _FEW)
