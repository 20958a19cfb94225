"""``lswc learn-language``: tables for a user's own language, and how well they tell it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, one
from lswc.cli.progress_lines import working

if TYPE_CHECKING:
    import argparse

    from lswc.lab.methods.evaluation import Score


GOOD = 0.9
"""Precision below which a crawl would collect too much else."""


class Command(UserCommand):
    """Makes the n-gram tables of a folder of languages, and measures them on held-out text."""

    usage = "<folder with <code>.toml and texts/<code>.<encoding>.txt>"
    summary = "Learn your own language from texts, for LSWC_LANGUAGES"

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        folder = Path(one(args, "folder, with <code>.toml and texts/<code>.<encoding>.txt"))
        from lswc.lab.methods.own_language import learn

        with working() as say:
            say("learn", 0, 0)
            languages = learn(folder)
        if len(list((folder / "texts").glob("*.txt"))) <= len(languages):
            print(
                "no text of a neighbour: a relative that isn't known either may be taken for your "
                "language; put some of it in texts/<code>.utf-8.txt (no TOML is needed)"
            )
        for learned in languages:
            print(f"{learned.code} pages    {_measures(learned.pages)}")
            print(f"{learned.code} short    {_measures(learned.short)}")
            print(f"{learned.code} anchors  {_measures(learned.anchors)}")
            for what, score in (("pages", learned.pages), ("short texts", learned.short)):
                if score.precision is not None and score.precision < GOOD:
                    print(
                        f"{learned.code} isn't known well enough: of {what} that are taken for it "
                        f"{_share(score.precision)} are in it, where {GOOD:.0%} are wanted"
                    )
            if learned.asked:
                print(
                    f"{learned.code} was measured on no text of {', '.join(learned.asked)}: "
                    "only on what their tables make, which is identified better than what people "
                    "write. With some of their text, in texts/<code>.utf-8.txt, less of it is taken"
                )
            if learned.taken:
                most = sorted(learned.taken, key=lambda code: -learned.taken[code])
                pieces = ", ".join(f"{code} ({learned.taken[code]} pieces)" for code in most)
                print(f"{learned.code} takes text of {pieces}: more text of both tells them apart")
        print(f"tables in {folder / 'tables'}; crawl with -s LSWC_LANGUAGES={folder}")


def _measures(score: Score) -> str:
    wrong = ", ".join(
        f"{true} as {answer} {number}" for (true, answer), number in score.confusions.most_common(5)
    )
    found = f"precision {_share(score.precision)}  recall {_share(score.recall)}"
    return f"{found}  of {score.pages} pieces  {wrong}".rstrip()


def _share(share: float | None) -> str:
    return "none" if share is None else f"{share:.1%}"
