"""Evidence: what a page says of its own language, beside its text, and what that weighs.

The model is a multinomial logit over the languages that anything speaks for. Each candidate has
features, the model their weights; "unknown" is a candidate without any. So P(language) =
exp(weights · features) / (1 + sum of these for all candidates), fitted by
``python -m lswc.lab.methods.model_fit`` to labelled pages: the answer's probability is its
confidence (McFadden 1974, the conditional logit).
"""

from __future__ import annotations

import html
import json
import math
import re
from functools import cache
from importlib.resources import files
from operator import mul
from typing import TYPE_CHECKING, Any

from lswc.language.charset import canonical
from lswc.language.registry import cached_by_languages, known, known_code, language

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.language.document import Document, Shares
    from lswc.language.shares import Measured

SOURCES = ("lang", "locale", "data", "url", "domain", "charset")
"""Where a language may be declared: the ``lang`` attribute of HTML or BODY or Content-Language;
og:locale; inLanguage or a locale in JSON-LD or in a program's state; a part of the URL; the
top-level domain; a charset that is used for one language alone.
"""

_IN_URL = re.compile(
    r"//([a-z]{2,3})\.|[/?&](?:(?:hl|lang|locale|language|l)=)?([a-z]{2,3})(?:[-_]\w{2,4})?(?=[/&]|\Z|\.html)"
)
_DATA = re.compile(
    rb"<script[^>]{0,200}(?:application/ld\+json|__NEXT_DATA__|__NUXT_DATA__)[^>]{0,200}>"
    rb"([^<]{0,100000})",
    re.IGNORECASE,
)
_LABELS = re.compile(
    rb"\s(?:alt|placeholder|aria-label)\s{0,9}=\s{0,9}(?:\"([^\"<>]{1,300})\"|'([^'<>]{1,300})')",
    re.IGNORECASE,
)
_MOST_DATA = 5
_NAMES = frozenset({"inlanguage", "locale", "lang", "language"})
_TEXTS = frozenset(
    {"name", "headline", "description", "title", "text", "articlebody", "alternatename", "content"}
)
_MOST_TEXT = 4_000
_DEEPEST = 30


def declared(document: Document) -> dict[str, str]:
    """Return the languages that a page declares by where it does: some of SOURCES."""
    page = document.page
    _, encoding, how, _ = document.decoded
    charset = encoding if how in ("header", "meta", "escapes", "detector") else ""
    in_url = (parts[0] or parts[1] for parts in _IN_URL.findall(document.url[:500].lower()))
    found = {
        "lang": known_code(page.lang),
        "locale": known_code(page.locale),
        "url": next(filter(None, map(known_code, in_url)), None),
        "domain": languages_by_tld().get(_tld(document.url)),
        "charset": languages_by_charset().get(charset),
    }
    return {source: code for source, code in found.items() if code}


def _tld(url: str) -> str:
    host = url.partition("//")[2].partition("/")[0].partition(":")[0]
    return host.rpartition(".")[2].lower()


class Data:
    """What a page without text has: alternative texts, labels, and the data in its scripts."""

    def __init__(self, body: bytes) -> None:
        self.language: str | None = None
        self._texts: list[str] = []
        self._left = _MOST_TEXT
        for label in _LABELS.finditer(body):
            self._take("text", html.unescape((label[1] or label[2]).decode("utf-8", "replace")))
        for _, script in zip(range(_MOST_DATA), _DATA.finditer(body), strict=False):
            try:
                self._read(json.loads(script[1]), 0)
            except (ValueError, RecursionError):
                continue

    @property
    def text(self) -> str:
        """Labels, names, headlines and descriptions, one a line."""
        return "\n".join(self._texts)

    def _read(self, value: Any, depth: int) -> None:
        if depth > _DEEPEST:
            return
        for name, member in _members(value):
            if isinstance(member, (dict, list)):
                self._read(member, depth + 1)
            elif isinstance(member, str):
                self._take(name.lower(), member)

    def _take(self, name: str, value: str) -> None:
        if name in _NAMES:
            self.language = self.language or known_code(value[:20])
        elif (name in _TEXTS or " " in value) and self._left > 0:
            self._texts.append(value[: self._left])
            self._left -= len(value)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from (("", member) for member in value)


@cached_by_languages
def languages_by_charset() -> dict[str, str]:
    """Return the languages that charsets are used for alone."""
    return {canonical(charset): code for code in known() for charset in language(code).charsets}


@cached_by_languages
def languages_by_tld() -> dict[str, str]:
    """Return the languages of top-level domains."""
    return {tld: code for code in known() for tld in language(code).tlds}


WEIGHTS = files(__package__) / "weights.json"
"""The fitted weights, by feature."""

ENOUGH = 150.0
"""Letters from which on more of them say no more."""

SMALLEST = 0.01
"""Share that is reported."""

_CERTAIN = 0.9
_LIKELY = 0.45
_DOUBT = 0.25
_LEAST = 0.3  # share of the language that leads much text
_SPREAD = 0.06  # of measured shares around what pages of two languages were made of
_BEHIND = 0.001  # share that a language has less than the one that leads
_PLACES = ("url", "domain")

FEATURES = (
    "candidate",
    "letters",
    "letters, little text",
    "guessed",
    "guessed, little text",
    "guessed, unsure",
    "guessed, certain",
    *SOURCES,
    *(f"{source}, little text" for source in SOURCES),
    "other script",
)
"""All evidence is from 0 to 1. ``letters`` and ``guessed`` are a language's share of the text by
its letters alone or by CLD2; ``other script``, of one that isn't in the text, the share of text in
scripts it isn't written in.
"""


def candidates(measured: Measured, declared: dict[str, str]) -> dict[str, list[float]]:
    """Return the features of each language that the page speaks for, in the order of FEATURES.

    Where it lies, its URL and top-level domain, may add to that; alone it says nothing of a page
    that says nothing.
    """
    says = (code for source, code in declared.items() if source not in _PLACES)
    codes = {*measured.shares, *says}
    return {code: _features(code, measured, declared) for code in sorted(codes)}


def _features(code: str, measured: Measured, declared: dict[str, str]) -> list[float]:
    much = min(1.0, math.log1p(measured.total) / math.log1p(ENOUGH))
    share, certainty = measured.shares.get(code, 0.0), measured.certainty.get(code, 0.0)
    by_letters = share if code in measured.by_letters else 0.0
    guessed = share - by_letters
    says = [float(declared.get(source) == code) for source in SOURCES]
    return [
        1.0,
        by_letters * much,
        by_letters * (1 - much),
        guessed * certainty * much,
        guessed * certainty * (1 - much),
        guessed * (1 - certainty),
        guessed * (certainty >= _CERTAIN and measured.total >= ENOUGH),
        *(one * much for one in says),
        *(one * (1 - much) for one in says),
        (
            0.0 if share else measured.in_other_scripts(code) * much**3
        ),  # a few Latin letters are a name's
    ]


def probabilities(candidates: dict[str, list[float]]) -> dict[str, float]:
    """Return how likely each candidate is; what is missing to 1 is that it's none of them."""
    weights = _weights()
    odds = {code: math.exp(sum(map(mul, weights, values))) for code, values in candidates.items()}
    total = 1 + sum(odds.values())
    return {code: value / total for code, value in odds.items()}


def doubted(
    likely: dict[str, float], measured: Measured, declared: dict[str, str]
) -> dict[str, float]:
    """Return how likely each is, by too little text, unless the page names one of both."""
    for code, (other, chance) in measured.doubted.items():
        if not {code, other} & set(declared.values()):
            likely[other] = likely.get(other, 0.0) + chance * likely[code]
            likely[code] *= 1 - chance
            if likely[other] > likely[code]:
                measured.shares[other] = measured.shares.pop(code)
                measured.certainty[other] = 1.0
                measured.by_letters |= {other}
    return likely


def believed(likely: dict[str, float], measured: Measured) -> dict[str, float]:
    """Return the shares of the languages that probably are in the text.

    CLD2 finds some language in any text: of one that is likeliest none that it knows, only letters
    that are a language's own tell a share.
    """
    unknown = 1 - sum(likely.values())
    is_known = max(likely.values(), default=0.0) > unknown
    return {
        code: share
        for code, share in measured.shares.items()
        if code in measured.by_letters or (is_known and _is_in(code, likely, measured))
    }


def _is_in(code: str, likely: dict[str, float], measured: Measured) -> bool:
    """Tell whether CLD2 is sure enough of a language, and the page doesn't speak against it."""
    unknown = 1 - sum(likely.values())
    return measured.certainty[code] >= _LIKELY and likely[code] > unknown * _DOUBT


def leading(likely: dict[str, float], measured: Measured) -> tuple[str | None, float, Shares]:
    """Return the language that leads a page, how likely it does, and the shares of all.

    None if it is likeliest none that is known. Of much text that with the largest share leads,
    whatever the page declares: how likely is that the languages are there, and that its share is
    the largest, though they aren't measured exactly. Of little text the likeliest one leads, and
    what CLD2 finds more of is none, or behind it if that is certain.
    """
    unknown = 1 - sum(likely.values())
    best = max(likely, key=likely.__getitem__, default=None)
    shares = believed(likely, measured)
    if best is None or likely[best] <= unknown:
        return None, 0.0, _rounded(shares)
    is_enough = measured.total >= ENOUGH and (
        best not in measured.shares or measured.certainty[best] >= _LIKELY
    )
    if shares and is_enough and max(shares.values()) >= _LEAST:
        first, *others = sorted(shares, key=lambda code: (-shares[code], code))
        there = sum(likely[code] for code in shares)
        if best not in shares:  # whatever the page declares
            there /= there + unknown
        ahead = shares[first] - (shares[others[0]] if others else 0.0)
        return first, there * _is_ahead(ahead), _rounded(shares)
    own = shares.get(best, 0.0)
    shares = {
        code: share if share <= own or code in measured.by_letters else max(own - _BEHIND, 0.0)
        for code, share in shares.items()
        if share <= own or code in measured.by_letters or measured.certainty[code] >= _CERTAIN
    }
    if max(shares.values(), default=0.0) >= _LEAST:  # of less, most of the text is untold
        best = max(shares, key=lambda code: (shares[code], code == best))
    return best, likely[best], _rounded(shares)


def _is_ahead(by: float) -> float:
    """Return how likely the larger of two shares is that of the language that leads."""
    return 1 / (1 + math.exp(-by / _SPREAD))


def _rounded(shares: dict[str, float]) -> Shares:
    rounded = ((code, round(share, 3)) for code, share in shares.items() if share >= SMALLEST)
    return tuple(sorted(rounded, key=lambda pair: (-pair[1], pair[0])))


@cache
def _weights() -> list[float]:
    weights = json.loads(WEIGHTS.read_text("utf-8"))
    return [weights[name] for name in FEATURES]
