"""Documents that aren't HTML: PDF, Office, OpenDocument, EPUB, RTF, text; reading never fails.

Only a process that reads pages does so: a document may take it down.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lswc.reading.documents import epub, office, old_excel, pdf, rtf
from lswc.reading.documents.old_excel import SIGNATURE
from lswc.reading.documents.text import LOCKED, OLDER, Text, plain_text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.reading.documents.packed import Budget
    from lswc.reading.documents.text import Most


_LOCKED = re.compile(b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0")


def read(
    kind: Kind,
    body: bytes,
    content_type: str,
    most: Most,
    scans: Mapping[int, str] | None = None,
) -> Text:
    """Return what a document says; of one that is broken or encrypted, as far as that goes.

    Of the older formats of Word and PowerPoint nothing is read. ``scans`` are the texts of pages of
    a PDF that are pictures, from 0 on, as someone else has read them.
    """
    if body.startswith(SIGNATURE) and _LOCKED.search(body):  # [MS-OFFCRYPTO] §2.3
        return Text(reason=LOCKED)
    match kind:
        case Kind.PDF:
            return pdf.read(body, most, scans)
        case Kind.EXCEL if body.startswith(SIGNATURE):
            return old_excel.read(body, most)
        case Kind.WORD | Kind.POWERPOINT if body.startswith(SIGNATURE):
            return Text(reason=OLDER)
        case Kind.WORD | Kind.POWERPOINT | Kind.EXCEL | Kind.OPENDOCUMENT:
            return office.read(kind, body, most, part=_part)
        case Kind.EPUB:
            return epub.read(body, most)
        case Kind.RTF:
            return rtf.read(body, most)
        case Kind.TEXT:
            return plain_text(body, content_type, most)
        case Kind.CSV:
            return plain_text(body, content_type, most, separators=",;")
        case _:
            return Text()


def _part(content: bytes, name: str, most: Most, budget: Budget) -> Text:
    # Not above: most documents have no others in them.
    from lswc.reading.documents import parts

    return parts.read(content, name, most, budget)
