"""What a page says against mining its text, and where it says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lswc.reading.headers import Headers

_USES = frozenset({"bots", "tdm", "train-ai"})
_RESERVED = "tdm-reservation=1"


def opt_outs(headers: Headers, in_headers: Iterable[str], in_page: Iterable[str]) -> list[str]:
    """Return the opt-outs of a page, each as what is said and where: "noai (META)".

    ``in_headers`` are the words of X-Robots-Tag that are meant for this robot, ``in_page`` those
    of META robots. Three ways are known: ``noai``; ``tdm-reservation`` in a header or in META
    (TDM Reservation Protocol, W3C Community Group 2024, §5); and ``Content-Usage`` that refuses
    automated processing, or training (draft-ietf-aipref-attach, draft-ietf-aipref-vocab).
    """
    said = [
        *(f"{word} (X-Robots-Tag)" for word in in_headers if word == "noai"),
        *(f"{word} (META)" for word in in_page if word in ("noai", _RESERVED)),
        *(f"{use}=n (Content-Usage)" for use in _refused(headers.get("content-usage", ()))),
    ]
    if any(value.strip() == "1" for value in headers.get("tdm-reservation", ())):
        said.append(f"{_RESERVED} (header)")
    return sorted(said)


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
