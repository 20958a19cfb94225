"""``lswc index CRAWL``: the index of a crawl's pages, made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.cli.command import KEY, UserCommand
from lswc.cli.progress_lines import working
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Makes the index by which the watch lists and searches the pages of a crawl."""

    usage = "<crawl folder> [folders of its other workers] | redis://... [--key NAME]"
    summary = "Make the index of a crawl's pages anew, for `lswc watch`"
    options = (KEY,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.page_index import FILE
        from lswc.archive.page_index_remaking import remake
        from lswc.corpus.full_texts import texts

        for crawl in self.folders(args, opts.key):
            with working() as say:
                pages = remake(crawl, texts, say)
            print(f"{crawl / FILE}: {numbered(pages, 'page')}")
