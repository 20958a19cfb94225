"""Which link next? Pure functions from the facts of a link to a tier; imports nothing of lswc."""

from lswc.strategy.facts import (
    CODES,
    MAX_DISTANCE,
    SEED,
    Anchor,
    Facts,
    Locality,
    PageLanguage,
    Status,
    all_facts,
    decode,
    distance_of,
    effective_language,
    encode,
    from_site_queue,
    next_distance,
)
from lswc.strategy.registry import NAMES, Strategy, StrategyError, strategy
from lswc.strategy.rules import DISCARD
from lswc.strategy.status import NEVER, Unit, status

__all__ = [
    "CODES",
    "DISCARD",
    "MAX_DISTANCE",
    "NAMES",
    "NEVER",
    "SEED",
    "Anchor",
    "Facts",
    "Locality",
    "PageLanguage",
    "Status",
    "Strategy",
    "StrategyError",
    "Unit",
    "all_facts",
    "decode",
    "distance_of",
    "effective_language",
    "encode",
    "from_site_queue",
    "next_distance",
    "status",
    "strategy",
]
