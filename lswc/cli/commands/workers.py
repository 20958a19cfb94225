"""``scrapy workers CRAWL``: who takes part in a crawl of many workers, and who leaves it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import KEY, UserCommand, option
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse

    from lswc.monitor.members import Member, Members

_EPILOG = """
Without more it shows the workers of a crawl, and which parts of the sites each has. Or:
  remove NUMBER          it gives its sites to the others, while it runs, and gets no more
  lost NUMBER --confirm  its disk is lost: others get its sites, and fetch its pages again
To add a worker, start it with the same Redis and its own folder."""


class Command(UserCommand):
    """Shows the workers of a crawl; lets one leave, or gives the sites of a lost one to others."""

    usage = "<crawl folder> | redis://... [--key NAME] [remove NUMBER | lost NUMBER --confirm]"
    summary = "Show who takes part in a crawl of many workers; remove one, or call it lost"
    details = f"{summary}\n{_EPILOG}"
    options = (
        option("--confirm", "the worker's disk is lost, with its archive", False),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("name one crawl folder, or one Redis", print_help=False)
        from lswc.monitor.members import Members
        from lswc.monitor.stored import post_of

        members = Members(post_of(args[0], opts.key, self.project_settings))
        match args[1:]:
            case []:
                _show(members)
            case ["remove", number]:
                _removed(members.removed(_number(number)))
            case ["lost", number]:
                _lost(members.lost(_number(number), confirmed=opts.confirm))
            case words:
                raise UsageError(
                    f"can't understand {' '.join(words)!r}; say remove NUMBER or lost NUMBER",
                    print_help=False,
                )


def _number(written: str) -> int:
    if not (written.isascii() and written.isdecimal() and len(written) < 10):
        raise ConfigError(f"{written!r} isn't the number of a worker: `lswc workers` shows these")
    return int(written)


def _show(members: Members) -> None:
    heads = ("number", "worker", "", "parts", "to come", "waiting", "finished", "in outbox")
    rows = [
        (
            str(one.number), one.name, one.state, one.parts, one.to_come, one.waiting, one.finished,
            one.outbox,
        )
        for one in members.all()
    ]  # fmt: skip
    terminal(200).print(table(f"workers of {members.name}", heads, rows))
    for remark in members.remarks():
        print(f"{remark}.")


def _removed(member: Member) -> None:
    what = f"gives {numbered(member.parts, 'part')} of the sites to the others"
    if not member.parts:
        print(f"worker {member.number} ({member.name}) has no sites, and gets no more")
    elif member.runs:
        print(f"worker {member.number} ({member.name}) {what}: stop it once it has none")
    else:
        print(f"worker {member.number} ({member.name}) {what} once it runs: start it again")


def _lost(member: Member) -> None:
    print(
        f"worker {member.number} ({member.name}) is lost: {numbered(member.parts, 'part')} of the "
        "sites belong to the other workers now, which fetch its pages again; its folder can't go on"
    )
