"""``lswc learn-language``: tables for a user's own language, and how well they tell it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, one
from lswc.cli.progress_lines import working

if TYPE_CHECKING:
    import argparse

    from lswc.lab.methods.evaluation import Score


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
        for learned in languages:
            print(f"{learned.code} pages    {_measures(learned.pages)}")
            print(f"{learned.code} anchors  {_measures(learned.anchors)}")
        print(f"tables in {folder / 'tables'}; crawl with -s LSWC_LANGUAGES={folder}")


def _measures(score: Score) -> str:
    wrong = ", ".join(
        f"{true} as {answer} {number}" for (true, answer), number in score.confusions.most_common(5)
    )
    found = f"precision {score.precision:.1%}  recall {score.recall:.1%}  of {score.pages} pieces"
    return f"{found}  {wrong}".rstrip()
