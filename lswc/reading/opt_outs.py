"""Opt-outs: what a page, its headers and its server say against mining its text, or for robots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Headers = Mapping[str, Sequence[str]]
"""The values of a response's header fields, by their names in lower case."""

MOST = 200
"""Characters of a field that are kept in a record."""


# A name and a colon, which these rules have too.
_AGENT = re.compile(
    r"\s*(?!unavailable_after|max-snippet|max-image-preview|max-video-preview)([a-z0-9_-]+)\s*:"
)


def said(headers: Headers, name: str) -> str:
    """Return a field as one text (RFC 9110 §5.3), cut where it is too long; "" without it."""
    return ", ".join(headers.get(name, ()))[:MOST]


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
_RESERVATION, _POLICY = "tdm-reservation", "tdm-policy"


class OptOuts(NamedTuple):
    """What a page says against mining its text: each as what is said and where, "noai (META)".

    ``is_tdm_told`` says that it speaks of text and data mining itself, for or against: then its
    server's tdmrep.json doesn't count.
    """

    said: tuple[str, ...]
    is_tdm_told: bool


def opt_outs(headers: Headers, in_headers: Iterable[str], in_page: Iterable[str]) -> OptOuts:
    """Return the opt-outs of a page.

    ``in_headers`` are the words of X-Robots-Tag that are meant for this robot, ``in_page`` those
    of META robots, and "tdm-reservation=1". Three ways are known: ``noai``; ``tdm-reservation`` in
    META, else in a header (TDM Reservation Protocol, W3C Community Group 2024, "Processing
    priority"); and ``Content-Usage`` that refuses automated processing, or training
    (draft-ietf-aipref-attach, draft-ietf-aipref-vocab).
    """
    in_page = set(in_page)
    tdm = _tdm(headers, in_page)
    said = [
        *(f"{word} (X-Robots-Tag)" for word in in_headers if word == "noai"),
        *(f"{word} (META)" for word in in_page if word == "noai"),
        *(f"{use}=n (Content-Usage)" for use in _refused(headers.get("content-usage", ()))),
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
    is_shown = policy.isprintable() and not set(policy) & set(" ;") and len(policy) <= MOST
    return (*said, f"{_POLICY}={policy} ({where})") if policy and is_shown else said


def in_robots(preferences: str) -> tuple[str, ...]:
    """Return the opt-outs of the Content-Usage of a robots.txt."""
    return tuple(f"{use}=n (robots.txt)" for use in _refused([preferences]))


def _refused(values: Iterable[str]) -> Iterator[str]:
    """Return the uses that a dictionary of preferences refuses (RFC 9651 §3.2).

    The last one of a name counts.
    """
    preferences: dict[str, str] = {}
    for item in ",".join(values).lower().split(","):
        use, _, preference = item.partition(";")[0].partition("=")
        preferences[use.strip()] = preference.strip()
    return (use for use, preference in preferences.items() if use in _USES and preference == "n")
