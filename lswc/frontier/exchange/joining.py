"""Joining: what a worker is in a crawl that others share, or that it begins."""

from __future__ import annotations

import secrets
from contextlib import suppress
from time import sleep, time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lswc.errors import AwayError, ConfigError
from lswc.frontier.exchange import messages, owners, status
from lswc.frontier.exchange.outbox import Part, State
from lswc.frontier.exchange.owners import PARTS, Owners
from lswc.frontier.rules.contract import FrontierError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.frontier.exchange.post import Post
    from lswc.frontier.store.frontier import Frontier

SEEN_ALIVE = 2.5
"""Seconds in which a worker that runs tells something anew."""


class Membership(NamedTuple):
    """A worker: its number, its name (host:folder), this process, the crawl (JSON), the table."""

    worker: int
    name: str
    process: str
    crawl: bytes
    owners: Owners


def join(frontier: Frontier, post: Post, name: str, identity: Mapping[str, str]) -> Membership:
    """Go on as the worker that a frontier's file is of, or become one.

    ``identity`` is what all workers must agree on. The first worker has all sites, be they those of
    a crawl that it ran alone; a later one begins with none, and is given its share. Raises
    LswcError.
    """
    kept = frontier.sharing.membership()
    mark = _mark(kept, identity)
    if kept:
        known, statuses = None, dict[int, bytes]()
        with suppress(AwayError):  # its own sites need no Redis
            if (there := post.begun()) is not None:
                found, known = there
                _check(found, mark, kept, post.name)
            statuses = post.statuses()
        member = _gone_on(kept, known, name)._replace(crawl=mark)
        _refuse_second(post, member, statuses)
    else:
        member = _begun(frontier, post, mark, name)
    with frontier.transaction():
        frontier.sharing.keep_membership(
            worker=str(member.worker),
            crawl=member.crawl.decode(),
            owners=msgspec.json.encode(member.owners).decode(),
        )
        if not kept and member.owners.version == 1:
            for part in range(PARTS):
                frontier.outbox.keep(part, Part(State.OWN))
    frontier.outbox.know(member.worker, member.owners)
    return member


def _mark(kept: Mapping[str, str], identity: Mapping[str, str]) -> bytes:
    """Return what the crawl is known by: as it is kept, or of one that begins."""
    if kept:
        return kept["crawl"].encode()
    about = {
        "mark": secrets.token_hex(8),
        "began": str(time()),
        **identity,
        "messages": str(messages.FORMAT),
    }
    return msgspec.json.encode(about, order="deterministic")


def is_younger(crawl: bytes, than: bytes) -> bool:
    """Tell whether a crawl was begun later, as in a Redis that had lost the other one."""
    try:
        began, before = (float(msgspec.json.decode(one)["began"]) for one in (crawl, than))
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return True
    return began > before


def _check(found: bytes, mark: bytes, kept: Mapping[str, str], name: str) -> None:
    """Raise FrontierError unless the crawl in Redis is this worker's, or one that it may join."""
    if found == mark or (kept and is_younger(found, mark)):
        return
    try:
        theirs: dict[str, Any] = msgspec.json.decode(found)
    except msgspec.MsgspecError:
        theirs = {}
    if kept:
        raise FrontierError(
            f"Redis has another crawl named {name} than this folder's: name the Redis that the "
            "folder's crawl is in, another LSWC_REDIS_KEY, or choose another folder with LSWC_CRAWL"
        )
    for key, value in msgspec.json.decode(mark).items():
        if key not in ("mark", "began") and theirs.get(key) != value:
            raise FrontierError(
                f"the crawl {name} in Redis has {key} {theirs.get(key)!r}, not {value!r}: go on "
                "with that, or choose another LSWC_REDIS_KEY"
            )


def _gone_on(kept: Mapping[str, str], known: Owners | None, name: str) -> Membership:
    worker, own = int(kept["worker"]), msgspec.json.decode(kept["owners"], type=Owners)
    latest = own if known is None else own.merged(known)
    if worker in latest.lost:
        raise FrontierError(
            f"the worker of this folder was called lost, and its sites were given to others: "
            f"choose another folder with LSWC_CRAWL for a new one; {name} keeps its archive"
        )
    return Membership(worker, name, secrets.token_hex(8), b"", latest)


def _begun(frontier: Frontier, post: Post, mark: bytes, name: str) -> Membership:
    """Begin a crawl, or become one more worker of the one that Redis has."""
    run = secrets.token_hex(8)
    while True:
        there = post.begun()
        if there is None:
            number = owners.a_number()
            table = owners.first(number)
            if post.begin(mark, table):
                return Membership(number, name, run, mark, table)
            continue
        found, known = there
        _check(found, mark, {}, post.name)
        if frontier.unfinished or frontier.tallies().get("finished"):
            raise FrontierError(
                f"Redis has a crawl named {post.name}, and the folder one of its own: choose "
                "another folder with LSWC_CRAWL, or another LSWC_REDIS_KEY"
            )
        if len(known.members) >= PARTS:
            raise ConfigError(f"a crawl has at most {PARTS} workers")
        number = known.new_number()
        if post.replace(table := known.joined(number), known.version):
            return Membership(number, name, run, found, table)


def _refuse_second(post: Post, member: Membership, statuses: Mapping[int, bytes]) -> None:
    """Raise FrontierError if another process is the same worker, and runs."""
    before = statuses.get(member.worker)
    if before is None or (seen := status.decode(before)).has_ended:
        return
    sleep(SEEN_ALIVE)
    after = post.statuses().get(member.worker)
    if after is not None and status.decode(after).beat != seen.beat:
        raise FrontierError(
            f"{seen.name} runs as worker {member.worker} of {post.name} already, from a copy of "
            "this folder: choose another one with LSWC_CRAWL"
        )
