"""``scrapy wacz CRAWL``: a crawl's archive in one file, to replay it anywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import KEY, UserCommand, option
from lswc.cli.progress_lines import working
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the archive of a crawl as one WACZ file."""

    usage = "<crawl folder> [folders of other crawls, or workers] | redis://... [--key NAME]"
    summary = "Pack what crawls archived into one WACZ file, to replay it anywhere"
    options = (
        option("--out", "the file (default: <crawl folder>.wacz)", Path),
        option("--text", "add the text of pages, for searching", False),
        option("--sign", "file of a private key (PEM, P-384) to sign with; made if missing", Path),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.wacz import write
        from lswc.archive.wacz_signing import SigningKey
        from lswc.corpus.full_texts import texts

        crawls = self.folders(args, opts.key)
        out: Path = opts.out or crawls[0].with_name(f"{crawls[0].resolve().name}.wacz")
        key = SigningKey(opts.sign) if opts.sign else None
        with working() as say:
            written = write(crawls, out, say, texts if opts.text else None, key)
        for said in written.gone:
            print(said, file=sys.stderr)
        print(
            f"{out}: {numbered(written.pages, 'page')}; {numbered(written.captures, 'capture')} in "
            f"{numbered(written.files, 'WARC file')}"
        )
        if key is not None:
            print(f"signed; the public key is {key.public}")
