"""Facts of a link: everything a strategy may see, as small finite values; status of a server.

``Facts`` is the one declaration of them. A link's facts are frozen when it is found, except
those marked LIVE, which are asked again whenever they may have changed. So the frozen facts
are kept with a queued URL as one small integer, its *code*.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from functools import lru_cache
from itertools import product
from math import log10, prod
from operator import getitem
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_DISTANCE = 12
"""Distances from the latest relevant referrer are clipped to 1 .. MAX_DISTANCE."""

LIVE = object()
"""Marks a fact that isn't frozen when the link is found."""


class PageLanguage(IntEnum):
    """Language of a page, as far as a strategy tells languages apart."""

    TARGET = 0
    ENGLISH = 1
    OTHER = 2
    UNKNOWN = 3

    @classmethod
    def beside(cls, code: str | None) -> PageLanguage:
        """Return that of a page in no target language, by its language's code; None if unknown."""
        if code is None:
            return cls.UNKNOWN
        return cls.ENGLISH if code == "en" else cls.OTHER


class Status(IntEnum):
    """Status of a server or directory (Tamura 2007 §4.1; Somboonviwat 2006 §5)."""

    UNVISITED = 0
    UNDECIDED = 1
    RELEVANT = 2
    IRRELEVANT = 3


class Locality(IntEnum):
    """Where a link leads: to the page's own server, its registered domain, or elsewhere."""

    SAME_SERVER = 0
    SAME_SITE = 1
    ELSEWHERE = 2


class Anchor(IntEnum):
    """Language of a link's anchor text (Chan & Yamana 2010 §3); NONE without text."""

    TARGET = 0
    OTHER = 1
    NONE = 2


class Named(IntEnum):
    """Language that a link names, in its URL or as its ``hreflang``; NONE if it names none."""

    NONE = 0
    TARGET = 1
    OTHER = 2


class Source(IntEnum):
    """What named a URL: a link, or a listing of a relevant server's."""

    LINK = 0
    SITEMAP = 1
    FEED = 2


class Support(IntEnum):
    """Other registered domains that link to the target's, as far as they count (families: one)."""

    NONE = 0
    ONE = 1
    TWO = 2
    FEW = 3
    MANY = 4


_VISITED = (Status.UNDECIDED, Status.RELEVANT, Status.IRRELEVANT)


class Facts(NamedTuple):
    """The facts of one link. A field's values are those of its type, or those given with it.

    ``referrer_server`` and ``target_server`` are taken after the referring page was
    counted (Tamura 2007 Fig. 3), so the former is never UNVISITED. ``in_site`` says that the
    referring page was a seed or came from the site queue (Mon 2010, Algorithm 1), ``from_seed``
    that it was a seed. ``oracle`` is known in simulations only. A page that a sitemap or a feed
    names (``source``) has the facts of a link without words on a relevant page of that server.
    ``support`` is FEW for three to five registered domains, MANY for more, and for a seed's. Only
    proven ones count; one that others introduced has their family as one, while it has no other
    (``lswc.strategy.families``, after Lee et al. 2008). A strategy that asks for it is asked by the
    frontier alone, when the link is stored and whenever the support has changed.
    """

    referrer: PageLanguage
    distance: Annotated[int, range(1, MAX_DISTANCE + 1)]
    referrer_server: Annotated[Status, _VISITED]
    target_server: Annotated[Status, LIVE]
    locality: Locality
    tld: bool
    anchor: Anchor
    in_site: bool
    oracle: bool = False
    named: Named = Named.NONE
    same_folder: bool = False
    from_seed: bool = False
    source: Source = Source.LINK
    support: Annotated[Support, LIVE] = Support.NONE


class Field(NamedTuple):
    """A fact: its values in order, and what one step along them adds to a code, 0 if it is live."""

    name: str
    values: tuple[Any, ...]
    live: bool
    weight: int

    def of(self, code: int) -> Any:
        """Return the value of this fact in a code."""
        return self.values[code // self.weight % len(self.values)]


def _values(hint: Any) -> tuple[Any, ...]:
    """Return the values that a field's annotation stands for."""
    if get_origin(hint) is not Annotated:
        return (False, True) if hint is bool else tuple(hint)
    kind, given = get_args(hint)
    return _values(kind) if given is LIVE else tuple(given)


def _declared() -> tuple[Field, ...]:
    hints = get_type_hints(Facts, include_extras=True)
    live = {name for name, hint in hints.items() if LIVE in get_args(hint)}
    sizes = {name: 1 if name in live else len(_values(hint)) for name, hint in hints.items()}
    weights = {name: prod(list(sizes.values())[i + 1 :]) for i, name in enumerate(hints)}
    return tuple(
        Field(name, _values(hint), name in live, 0 if name in live else weights[name])
        for name, hint in hints.items()
    )


FIELDS = {field.name: field for field in _declared()}
"""Every fact by name, in the order of ``Facts``."""

FROZEN = tuple(field for field in FIELDS.values() if not field.live)
"""The facts that a code holds, in the order of ``Facts``."""

SEED = prod(len(field.values) for field in FROZEN)
"""Code of a seed. A seed has no referrer, so no strategy is asked: it is always fetched."""

CODES = SEED + 1
"""Number of codes, the seed's among them."""

REQUISITE = CODES
"""Code of what a page needs besides, such as an image: no link, so no strategy ever sees it."""

_STEPS = tuple(
    {value: step * field.weight for step, value in enumerate(field.values)}
    for field in FIELDS.values()
)


LISTING, SUBLISTING = REQUISITE + 1, REQUISITE + 2
"""Codes of a sitemap or feed, and of a sitemap that an index names: no strategy sees them."""

GUESS = SUBLISTING + 1
"""Code of a requisite that a page may need, as one of its scripts names it."""


def encode(facts: Facts) -> int:
    """Return the code of the frozen facts. Raises ValueError for a value that no link has."""
    try:
        return sum(map(getitem, _STEPS, facts))
    except KeyError as error:
        raise ValueError(f"no link has the fact {error}: {facts}") from error


def decode(code: int, target_server: Status, support: Support = Support.NONE) -> Facts:
    """Return the facts of a code, with the target's status and support as they are now.

    Raises ValueError for the seed's code, which stands for no link.
    """
    if not 0 <= code < SEED:
        raise ValueError(f"{code} is not the code of a link: 0 .. {SEED - 1}")
    frozen = {field.name: field.of(code) for field in FROZEN}
    return Facts(**frozen, target_server=target_server, support=support)


def all_facts() -> Iterator[Facts]:
    """Yield every combination of facts, as of targets that have no support."""
    values = {name: field.values for name, field in FIELDS.items()}
    values["support"] = (Support.NONE,)
    for chosen in product(*values.values()):
        yield Facts(*chosen)


# What a code says never changes, and is asked several times a page.
@lru_cache(maxsize=10_000)
def distance_of(code: int) -> int:
    """Return the distance from the latest relevant referrer; a seed's is 1."""
    return 1 if code >= SEED else int(FIELDS["distance"].of(code))


@lru_cache(maxsize=10_000)
def source_of(code: int) -> str:
    """Return what named a URL, in a word: ``seed``, ``link``, ``sitemap`` or ``feed``."""
    if code >= SEED:
        return "seed"
    source: Source = FIELDS["source"].of(code)
    return source.name.lower()


def next_distance(relevant: bool, distance: int) -> int:
    """Return the distance of the links of a page that has the given distance itself.

    A link on a relevant page has 1, a link on an irrelevant one the page's own plus 1
    (Kumar & Sharma §III), clipped to MAX_DISTANCE.
    """
    return 1 if relevant else min(distance + 1, MAX_DISTANCE)


@lru_cache(maxsize=10_000)
def from_site_queue(code: int) -> bool:
    """Tell whether a page with this code came from the site queue (Mon 2010, Algorithm 1).

    Seeds did, and same-site links found inside a site or on its relevant entry page.
    """
    if code == SEED:
        return True
    if FIELDS["locality"].of(code) == Locality.ELSEWHERE:
        return False
    return bool(FIELDS["in_site"].of(code) or FIELDS["referrer"].of(code) == PageLanguage.TARGET)


_LOCALITY, _LOCALITIES = FIELDS["locality"].weight, len(Locality)
_FOLDER = FIELDS["same_folder"].weight


def redirected(code: int, hop: int, same_folder: bool) -> int:
    """Return the code of a redirect's target, of the code of the link that led to the redirect.

    It has its own place: the farther Locality of the link and of ``hop``, which leads from the
    redirect to the target; ``same_folder`` says whether those two share a folder. So the front page
    that a link of another site leads to by ``/out?`` is an entry page (Mon 2010 §3.1). All else
    is the link's: the page that it stands on, its words, and its top-level domain. A seed's target
    is a seed.
    """
    if code >= SEED:
        return code
    near = code // _LOCALITY % _LOCALITIES
    if hop > near:
        code += (hop - near) * _LOCALITY
    if not same_folder and code // _FOLDER % 2:
        code -= _FOLDER
    return code


def effective_language(identified: PageLanguage, inherited: PageLanguage) -> PageLanguage:
    """Return the language that decides for a page (Somboonviwat 2006 §4.1).

    A page whose language isn't known takes ``inherited``: its referrer's identified
    language, and TARGET for a seed. A guess isn't passed on, so a second unknown page in
    a row stays unknown.
    """
    return inherited if identified == PageLanguage.UNKNOWN else identified


NEVER = 2**31 - 1
"""Tolerance of strategies that declare no server irrelevant."""

BY_YIELD = -1
"""Tolerance of a strategy that declares servers irrelevant by their yield rate."""


class Unit(Enum):
    """What Na and Nr are counted for."""

    SERVER = "server"
    DIRECTORY = "directory"


class Pages(NamedTuple):
    """Na and Nr: downloaded pages, and those of them that are relevant.

    If not pages count but their text, Nr is the sum of what they brought (``value``).
    """

    downloaded: int = 0
    relevant: float = 0


NO_PAGES = Pages()


def status(downloaded: int, relevant: float, tolerated: int) -> Status:
    """Return the status of a unit with Na = ``downloaded`` and Nr = ``relevant`` pages.

    Irrelevant when more than ``tolerated`` pages were downloaded and none was relevant:
    Tamura 2007 §4.1 with T = tolerated, Somboonviwat 2006 §5 with S = tolerated + 1. BY_YIELD:
    irrelevant when the mean yield rate is below 0.01 (log10 n - 1), n being the pages: 0 up to
    ten, 1 % of a hundred, 2 % of a thousand (Suchomel & Pomikálek 2012).
    """
    if tolerated == BY_YIELD:
        if downloaded > 0 and relevant < downloaded * 0.01 * (log10(downloaded) - 1):
            return Status.IRRELEVANT
        tolerated = NEVER
    if relevant > 0:
        return Status.RELEVANT
    if downloaded > tolerated:
        return Status.IRRELEVANT
    if downloaded == 0:
        return Status.UNVISITED
    return Status.UNDECIDED
