"""Members: who takes part in a crawl of many workers, with what; how one leaves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from lswc.errors import ConfigError
from lswc.frontier.exchange import status
from lswc.frontier.exchange.owners import PARTS
from lswc.frontier.rules.contract import FrontierError
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier.exchange.owners import Owners
    from lswc.frontier.exchange.post import Post
    from lswc.frontier.exchange.status import Status

RUNNING, ENDED, SILENT = "running", "ended", "not running"
LEAVING, LEFT, LOST = "leaving", "left", "lost"

TRIES = 20
"""Times that the table of owners is changed anew, as a worker changed it meanwhile."""


class Member(NamedTuple):
    """A worker, by its number and its name (host:folder), by its latest report.

    It has ``parts`` of the sites, of which and of others' it is to have ``to_come`` more or, below
    0, fewer. URLs that wait in it and that it finished, links that haven't arrived from it.
    """

    number: int
    name: str
    state: str
    runs: bool
    parts: int
    to_come: int
    waiting: int
    finished: int
    outbox: int


def crawl_in(post: Post) -> tuple[bytes, Owners]:
    """Return what crawl Redis has, and its table of owners. Raises FrontierError if it has none."""
    if (there := post.begun()) is None:
        raise FrontierError(f"no crawl: Redis has none named {post.name}")
    return there


class Members:
    """The workers of a crawl in Redis. Methods raise LswcError."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self.name = post.name

    def all(self) -> list[Member]:
        """Return all workers that took part, those that left or are lost the last."""
        _, owners = crawl_in(self._post)
        statuses = {number: status.decode(one) for number, one in self._post.statuses().items()}
        numbers = list(dict.fromkeys((*owners.members, *owners.gone, *owners.lost)))
        alive = self._post.alive(numbers)
        return [
            _member(number, owners, statuses.get(number), number in alive) for number in numbers
        ]

    def remarks(self) -> list[str]:
        """Return what people should know, in sentences."""
        (_, owners), members = crawl_in(self._post), {one.number: one for one in self.all()}
        lines = []
        moving = sum(1 for of, heir in zip(owners.of_part, owners.heirs, strict=True) if of != heir)
        if moving:
            lines.append(f"{numbered(moving, 'part')} of {PARTS} are to move to other workers")
        lines += [
            f"worker {one.number} doesn't run: {numbered(one.waiting, 'URL')} of its sites waiting"
            for one in members.values()
            if not one.runs and one.parts and (one.waiting or one.state == SILENT)
        ]
        return lines

    def removed(self, number: int) -> Member:
        """Let a worker give all that it has to the others; return it as it is now."""

        def leave(owners: Owners, member: Member) -> Owners:
            if number in owners.gone:
                raise ConfigError(f"worker {number} ({member.name}) leaves, or left, already")
            return owners.left(number)

        return self._changed(number, leave)

    def lost(self, number: int, *, confirmed: bool) -> Member:
        """Give others what a worker has whose disk is lost; return it as it was."""

        def forget(owners: Owners, member: Member) -> Owners:
            if number in owners.lost:
                raise ConfigError(f"worker {number} ({member.name}) was called lost already")
            if member.runs:
                raise ConfigError(
                    f"worker {number} ({member.name}) runs, or ran some seconds ago: it isn't lost;"
                    f" `remove {number}` lets it give its sites to the others"
                )
            if not confirmed:
                raise ConfigError(
                    f"worker {number} ({member.name}) can't go on after it is called lost, and its "
                    f"{numbered(member.finished, 'finished URL')} may be fetched again: add "
                    "--confirm if its disk is lost; otherwise start it again"
                )
            return owners.without(number)

        return self._changed(number, forget)

    def _changed(self, number: int, change: Callable[[Owners, Member], Owners]) -> Member:
        """Change the table of owners, anew if a worker changed it meanwhile."""
        for _ in range(TRIES):
            _, owners = crawl_in(self._post)
            member = next((one for one in self.all() if one.number == number), None)
            if member is None:
                known = ", ".join(map(str, owners.members))
                raise ConfigError(f"the crawl {self.name} has no worker {number}; it has {known}")
            if owners.members == (number,):
                raise ConfigError(
                    f"worker {number} ({member.name}) is the only one: start another one first"
                )
            if self._post.replace(change(owners, member), owners.version):
                return member
        raise FrontierError(f"the workers of {self.name} are exchanging sites: try again")


def _member(number: int, owners: Owners, latest: Status | None, runs: bool) -> Member:
    has, is_to_have = Counter(owners.of_part)[number], Counter(owners.heirs)[number]
    if number in owners.lost:
        state = LOST
    elif number in owners.gone:
        state = LEAVING if has else LEFT
    elif runs:
        state = RUNNING
    else:
        state = ENDED if latest is not None and latest.has_ended else SILENT
    if latest is None:
        return Member(number, "nobody knows where", state, runs, has, is_to_have - has, 0, 0, 0)
    return Member(
        number, latest.name, state, runs, has, is_to_have - has, latest.waiting, latest.finished,
        latest.outbox,
    )  # fmt: skip
