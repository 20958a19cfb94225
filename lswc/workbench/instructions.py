"""Instructions of people to a crawl: as pages show them, and what forms and scripts send."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.errors import ConfigError
from lswc.guest.control import ControlError, change, given, history
from lswc.guest.control.rules_in_force import KEEP, KEYS
from lswc.urls import site_of
from lswc.workbench.answers import texts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.guest.control import Control
    from lswc.guest.control.store import Change
    from lswc.monitor.stored import StoredCrawl
    from lswc.workbench.watch import Watch

MB = 1_000_000

BY = "watch"
"""Who instructs a crawl here, if nobody gives a name."""

FLAGS = {"block": True, "block_family": True, "pause": True, "generated": KEEP}
"""Instructions that a form gives without a number, and their values."""

_WORDS = {
    "block": "blocked",
    "block_family": "blocked, with the sites that it introduced",
    "pause": "paused",
    "delay": "each server rests {} s at least",
    "max_pages": "at most {} pages",
    "max_bytes": "at most {} bytes",
    "max_depth": "at most {} links from the seeds",
    "tolerate": "{} irrelevant pages tolerated",
    "priority": "priority {}",
    "generated": "if machines wrote it: {}",
}

CHANGES, CHANGES_OF_A_SITE = 100, 50
"""Changes of instructions that are shown, the latest."""


class Given(NamedTuple):
    """An instruction in force: ``seen`` is its value as ``instruct`` wants it back."""

    place: str
    key: str
    words: str
    why: str
    seen: str


def in_words(key: str, value: Any) -> str:
    """Return what an instruction says; None takes it back."""
    if value is None:
        return f"{key} taken back"
    if value is False:
        return f"not {_WORDS.get(key, key)}"
    words = _WORDS.get(key, f"{key} {{}}")
    return words.format(f"{value:,g}" if isinstance(value, float) else value)


def in_force(control: Control, site: str) -> list[Given]:
    """Return the instructions for a site, and for parts of it."""
    return [
        Given(place.name, key, in_words(key, value), rule.why, seen(control, place.name))
        for place, rule in control.rules
        if is_in(place.name, site)
        for key, value in rule.given.items()
    ]


def seen(control: Control, place: str) -> str:
    """Return all that is given for a place, as JSON, for a form that changes something of it."""
    return json.dumps({key: given(control, key, place) for key in KEYS})


def is_in(place: str, site: str) -> bool:
    """Tell whether a place, by its canonical name, is a site or a part of it."""
    return site_of(place.partition("/")[0]) == site


def earlier(crawl: StoredCrawl, site: str) -> list[Change]:
    """Return the changes of a site's instructions, the latest first."""
    return [one for one in history(crawl.kept) if is_in(one.place, site)][-CHANGES_OF_A_SITE:][::-1]


def changes(watch: Watch, _given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the changes of all instructions, the latest first. Raises LswcError."""
    latest = history(watch.crawl.kept)[-CHANGES:][::-1]
    return {"changes": [change._asdict() for change in latest]}


def say(watch: Watch, body: Mapping[str, Any]) -> None:
    """Change an instruction as the live page's script says. Raises LswcError."""
    texts = texts_of(body, "key", "place", "why")
    kept, key, place = watch.crawl.kept, texts["key"], texts["place"]
    change(kept, key, body.get("value"), place, why=texts["why"], by=BY)


def instruct(watch: Watch, body: Mapping[str, Any]) -> None:
    """Change an instruction as a form says. Raises LswcError.

    ``value`` is a text, "" of a flag that is given; "null" takes back. Of ``max_bytes`` it is
    in MB. ``seen`` is what the form showed of the place: if that isn't so any more, nothing is
    changed.
    """
    texts = texts_of(body, "place", "key", "value", "why", "who", "seen")
    place, key = texts["place"].strip(), texts["key"]
    if not place or key not in KEYS:
        raise ConfigError("choose a place, and one of the instructions")
    who = texts["who"].strip()[:100]
    change(
        watch.crawl.kept, key, _value(key, texts["value"].strip()), place,
        why=texts["why"].strip(), by=f"{BY}, {who}" if who else BY,
        seen=_seen(texts["seen"], key),
    )  # fmt: skip


def _seen(text: str, key: str) -> str:
    try:
        return str(json.loads(text)[key])
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ConfigError("the form is of an earlier page: load it again") from error


def _value(key: str, text: str) -> Any:
    """Return the value that a form gives."""
    if text == "null":
        return None
    if key in FLAGS:
        return FLAGS[key]
    try:
        number = float(text)
        if key == "delay":
            return number
        return int(number * MB) if key == "max_bytes" else int(number)
    except (ValueError, OverflowError) as error:
        raise ControlError(f"{key} needs a number") from error
