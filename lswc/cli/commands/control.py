"""``scrapy control CRAWL``: block, pause and limit sites, also while the crawl runs."""

from __future__ import annotations

import tomllib
from contextlib import suppress
from getpass import getuser
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from lswc.cli.command import KEY, UserCommand, option
from lswc.cli.tables import table, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from lswc.guest.control import Change, Control
    from lswc.guest.control.store import Instructions

_EPILOG = """
Without more it shows what is in force, and its history. Or:
  block PLACE, unblock PLACE      nothing more of it is fetched or kept; with --family the same for
                                  all sites of its family: those that came through it
  pause [PLACE], unpause [PLACE]  its URLs wait; without a place the whole crawl waits
  stop, unstop                    the crawl ends, and doesn't start until unstop
  set KEY VALUE [PLACE]           delay, max_pages, max_bytes, max_depth, tolerate, priority;
                                  of the whole crawl: requests, hours, include, exclude
  unset KEY [PLACE]               removes it
PLACE: example.co.th with all its subdomains, www.example.co.th/ for one server,
www.example.co.th/~somchai/ for URLs that begin so."""


VERBS = ("block", "unblock", "pause", "unpause", "stop", "unstop", "set", "unset")
"""What a crawl can be instructed to do."""


class Command(UserCommand):
    """Instructs a crawl, which obeys within seconds; or shows its instructions."""

    usage = "<crawl folder> | redis://... [--key NAME] [block PLACE --why TEXT | ...]"
    summary = "Block, pause and limit sites, also while the crawl runs; show what is in force"
    details = f"{summary}\n{_EPILOG}"
    options = (
        option("--why", "the reason, for the history"),
        option("--family", "block or unblock all sites of its family, too", False),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("name one crawl folder, or one Redis", print_help=False)
        from lswc.guest.control import change

        where = self._where(args[0], opts.key)
        if len(args) == 1:
            _show(where)
            return
        key, value, place = _asked(args[1:])
        if opts.family and key == "block":
            key = "block_family"
        with suppress(KeyError, OSError):  # nobody's name
            opts.by = getuser()
        change(where, key, value, place, why=opts.why, by=getattr(opts, "by", ""))
        what = "taken back" if value is None else f"= {_written(value)}"
        print(f"{place or 'the whole crawl'}: {key} {what}; a running crawl obeys within seconds")

    def _where(self, name: str, key: str) -> Instructions:
        from lswc.monitor.stored import stored

        return stored(name, key, self.project_settings).kept


def _asked(words: Sequence[str]) -> tuple[str, Any, str]:
    """Return the key, its value (None to take it back) and the place that are asked for."""
    match list(words):
        case [("block" | "unblock") as word, place]:
            return "block", None if word.startswith("un") else True, place
        case [("pause" | "unpause") as word, *place] if len(place) < 2:
            return "pause", None if word.startswith("un") else True, "".join(place)
        case [("stop" | "unstop") as word]:
            return "stop", None if word.startswith("un") else True, ""
        case ["set", key, value, *place] if len(place) < 2:
            return key, _value(value), "".join(place)
        case ["unset", key, *place] if len(place) < 2:
            return key, None, "".join(place)
    raise UsageError(
        f"can't understand {' '.join(words)!r}; say block PLACE, unblock PLACE, pause [PLACE], "
        "unpause [PLACE], stop, unstop, set KEY VALUE [PLACE] or unset KEY [PLACE]",
        print_help=False,
    )


def _value(text: str) -> object:
    """Return a value as control.toml would have it."""
    try:
        value: object = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    return value


def _show(where: Instructions) -> None:
    from lswc.guest.control import ControlError, history, read

    console = terminal(200)
    changes = history(where)
    if changes:
        heads = ("when", "by", "place", "what", "why")
        console.print(table("history", heads, [_row(change) for change in changes]))
    try:
        control = read(where)
    except ControlError as error:
        raise ControlError(
            f"{error}; a running crawl goes on with the earlier instructions"
        ) from error
    rows = list(_in_force(control))
    if rows:
        console.print(table("in force", ("place", "what", "", "why"), rows))
    else:
        print("This crawl has no instructions.")


def _row(change: Change) -> tuple[object, ...]:
    taken_back = change.value is None
    what = f"{change.key} taken back" if taken_back else f"{change.key} = {_written(change.value)}"
    return change.time, change.by, change.place or "the whole crawl", what, change.why


def _in_force(control: Control) -> Iterator[tuple[object, ...]]:
    for name in ("pause", "stop", "requests", "hours", "include", "exclude"):
        value = getattr(control, name)
        if value not in (None, False, ()):
            yield "the whole crawl", name, _written(value), control.why
    for place, rule in control.rules:
        for key, value in rule.given.items():
            yield place.name, key, _written(value), rule.why


def _written(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
