"""ZipNum index: lines of a CDXJ in blocks of gzip, and where each begins.

A reader looks a URL up in the short list of the blocks, and then reads one. As ``cdxj-indexer`` and
Wayback machines have it.
"""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LINES = 1_024
"""Lines of a block: as many as those of WACZ files from other programs have."""

_LEVEL = 6


class ZipNum:
    """Iterates over the blocks of an index whose ``lines`` come in order; it counts them."""

    NAME = "index.cdx.gz"

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._source = lines
        self._blocks: list[bytes] = []
        self.lines = 0

    def __iter__(self) -> Iterator[bytes]:
        offset, lines = 0, iter(self._source)
        while block := list(islice(lines, LINES)):
            packed = gzip.compress(b"".join(block), _LEVEL, mtime=0)
            about = {
                "offset": offset,
                "length": len(packed),
                "digest": f"sha256:{sha256(packed).hexdigest()}",
            }
            begin = block[0].partition(b"{")[0].strip()
            self._blocks.append(b"%b %b\n" % (begin, json.dumps(about).encode()))
            self.lines += len(block)
            offset += len(packed)
            yield packed

    def blocks(self) -> Iterator[bytes]:
        """Yield the lines that say where each block begins, once all were written."""
        meta = {"format": "cdxj-gzip-1.0", "filename": self.NAME}
        yield f"!meta 0 {json.dumps(meta)}\n".encode()
        yield from self._blocks
