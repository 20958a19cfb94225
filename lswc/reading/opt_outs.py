"""Opt-outs: what a page, its headers and its server say against mining its text, or for robots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Headers = Mapping[str, Sequence[str]]
"""The values of a response's header fields, by their names in lower case."""

RECORD_PAGES = "record-pages"
RECORDING = ("record", RECORD_PAGES)
"""Values of LSWC_OPT_OUT with which opt-outs are recorded, and no more."""

FIELD_CHARACTERS = 200
"""Characters of a field that are kept in a record."""


# A name and a colon, which these rules have too.
_AGENT = re.compile(
    r"\s*(?!unavailable_after|max-snippet|max-image-preview|max-video-preview)([a-z0-9_-]+)\s*:"
)


def said(headers: Headers, name: str) -> str:
    """Return a field as one text (RFC 9110 §5.3), cut where it is too long; "" without it."""
    return ", ".join(headers.get(name, ()))[:FIELD_CHARACTERS]


def robots_words(headers: Iterable[str]) -> frozenset[str]:
    """Return what X-Robots-Tag headers say to all robots or to this one, in lower case.

    A robot's name counts for all that follows in its header.
    """
    told: set[str] = set()
    for header in headers:
        agent = ""
        for part in header.lower().split(","):
            named = _AGENT.match(part)
            agent = named[1] if named else agent
            if agent in ("", "lswc"):
                told.add(part[named.end() if named else 0 :].strip())
    return frozenset(told)


_USES = frozenset({"bots", "tdm", "train-ai"})
_SIGNALS = frozenset({"ai-input", "ai-train", "search"})
_OF_SEARCH = "search=no"
_RESERVATION, _POLICY = "tdm-reservation", "tdm-policy"
_DISALLOWED = "disallow"  # AI crawlers, by their names


class OptOuts(NamedTuple):
    """What a page says against mining its text: each as what is said and where, "noai (META)".

    ``is_tdm_told`` says that it speaks of text and data mining itself, for or against: then its
    server's tdmrep.json doesn't count.
    """

    said: tuple[str, ...]
    is_tdm_told: bool


_NONE = OptOuts((), False)
_OF_OPT_OUTS = frozenset({"content-usage", "content-signal", _RESERVATION})


def opt_outs(headers: Headers, in_headers: Iterable[str], in_page: Iterable[str]) -> OptOuts:
    """Return the opt-outs of a page.

    ``in_headers`` are the words of X-Robots-Tag that are meant for this robot, ``in_page`` those
    of META robots, and "tdm-reservation=1". Four ways are known: ``noai``; ``tdm-reservation`` in
    META, else in a header (TDM Reservation Protocol, W3C Community Group 2024, "Processing
    priority"); ``Content-Usage`` that refuses automated processing, or training
    (draft-ietf-aipref-attach, draft-ietf-aipref-vocab); and ``Content-Signal``, whatever it refuses
    (https://contentsignals.org).
    """
    in_page, in_headers = set(in_page), set(in_headers)
    if not (in_page or in_headers or _OF_OPT_OUTS & headers.keys()):
        return _NONE
    tdm = _tdm(headers, in_page)
    said = [
        *(f"{word} (X-Robots-Tag)" for word in in_headers if word == "noai"),
        *(f"{word} (META)" for word in in_page if word == "noai"),
        *_usages(headers.get("content-usage", ()), "Content-Usage"),
        *_signals(headers.get("content-signal", ()), "Content-Signal"),
        *(tdm or ()),
    ]
    return OptOuts(tuple(sorted(said)), tdm is not None)


def _tdm(headers: Headers, in_page: set[str]) -> tuple[str, ...] | None:
    """Return what META says of a reservation, else the headers; None if neither does."""
    of_page = {name: value for name, _, value in (word.partition("=") for word in sorted(in_page))}
    of_headers = {
        name: values[-1].strip()
        for name in (_RESERVATION, _POLICY)
        if (values := headers.get(name))
    }
    for where, found in (("META", of_page), ("header", of_headers)):
        if found.get(_RESERVATION) in ("0", "1"):
            is_reserved = found[_RESERVATION] == "1"
            return reserved(found.get(_POLICY, ""), where) if is_reserved else ()
    return None


def reserved(policy: str, where: str) -> tuple[str, ...]:
    """Return the opt-outs of a page whose rights are reserved; ``policy`` is a URL, or ""."""
    said = (f"{_RESERVATION}=1 ({where})",)
    is_shown = (
        policy.isprintable() and not set(policy) & set(" ;") and len(policy) <= FIELD_CHARACTERS
    )
    return (*said, f"{_POLICY}={policy} ({where})") if policy and is_shown else said


def in_robots(usage: str, signal: str, crawlers: Iterable[str]) -> tuple[str, ...]:
    """Return the opt-outs in a robots.txt: its Content-Usage and Content-Signal for a page, and
    the AI crawlers that mustn't ask for it."""
    said = (*_usages([usage], "robots.txt"), *_signals([signal], "robots.txt"))
    names = " ".join(crawlers)
    return (*said, f"{_DISALLOWED}={names} (robots.txt)") if names else said


def forbids_mining(said: Iterable[str]) -> bool:
    """Tell whether any of a page's opt-outs is more than that it isn't to be found by a search."""
    return any(not one.startswith(_OF_SEARCH) for one in said)


def reasons(said: Iterable[str]) -> Iterator[str]:
    """Yield what in a page's opt-outs keeps its text from being mined, each AI crawler by name."""
    for one in said:
        key, _, names = one.partition("=")
        if key == _DISALLOWED:
            names, _, where = names.partition(" (")
            yield from (f"{_DISALLOWED}={name} ({where}" for name in names.split())
        elif key != _POLICY and not one.startswith(_OF_SEARCH):
            yield one


def _usages(values: Iterable[str], where: str) -> Iterator[str]:
    return (f"{use}=n ({where})" for use in _refused(values, _USES, "n"))


def _signals(values: Iterable[str], where: str) -> Iterator[str]:
    return (f"{use}=no ({where})" for use in _refused(values, _SIGNALS, "no"))


def _refused(values: Iterable[str], uses: frozenset[str], no: str) -> Iterator[str]:
    """Return the uses that a dictionary of preferences refuses (RFC 9651 §3.2).

    The last one of a name counts.
    """
    preferences: dict[str, str] = {}
    for item in ",".join(values).lower().split(","):
        use, _, preference = item.partition(";")[0].partition("=")
        preferences[use.strip()] = preference.strip()
    return (use for use, preference in preferences.items() if use in uses and preference == no)
