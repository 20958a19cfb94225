"""Rules as a user might write them, right and wrong."""

from __future__ import annotations

from typing import Any

from lswc.strategy import DISCARD, Facts, Named, Source, Status, Support

NOT_A_RULE = "a string"


def named_first(facts: Facts) -> int:
    """Links that name the language first; nothing from irrelevant servers."""
    if facts.target_server == Status.IRRELEVANT:
        return DISCARD
    return 0 if facts.named == Named.TARGET else 1


def one_corner(facts: Facts) -> int:
    """Looks at its last fact only if all those before are as they are nowhere else."""
    if facts.tld and facts.distance == 12 and facts.named == Named.OTHER:
        return 2 if facts.same_folder else 1
    return 0


def not_undecided(facts: Facts) -> int:
    """Drops the URLs of a server at its first page, to take those found later."""
    return DISCARD if facts.target_server == Status.UNDECIDED else 0


def raises(facts: Facts) -> int:
    return 1 // (facts.distance - 7)


def too_high(facts: Facts) -> int:
    return 100 * facts.distance


def a_word(facts: Facts) -> Any:
    return "high" if facts.tld else "low"


def misspelt(facts: Facts) -> int:
    name = "distanse"
    return int(getattr(facts, name))


def compares_all(facts: Facts) -> int:
    return int(facts == facts._replace(tld=True))


def listed_first(facts: Facts) -> int:
    """Pages that a sitemap or a feed names come before all links."""
    return 0 if facts.source is not Source.LINK else 1


def supported_first(facts: Facts) -> int:
    """Sites come by how many others link to them; one that nobody links to has no server left."""
    return Support.MANY - facts.support


def supported_and_near(facts: Facts) -> int:
    """The same, and of one site those come first that are near."""
    return 16 * supported_first(facts) + min(facts.distance, 15)


def only_supported(facts: Facts) -> int:
    """Nothing of a site with one supporter, or of an irrelevant server."""
    if facts.support < Support.TWO or facts.target_server == Status.IRRELEVANT:
        return DISCARD
    return 0 if facts.target_server == Status.RELEVANT else 1
