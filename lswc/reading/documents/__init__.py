"""Documents that aren't HTML: PDF, Office, OpenDocument, EPUB, RTF, text; reading never fails.

Only a process that reads pages does so: a document may take it down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.reading.documents import epub, office, old_excel, pdf, rtf
from lswc.reading.documents.text import Text, plain_text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from lswc.reading.documents.text import Most


def read(kind: Kind, body: bytes, content_type: str, most: Most) -> Text:
    """Return what a document says; of one that is broken or encrypted, as far as that goes.

    Of the older formats of Word and PowerPoint nothing is read.
    """
    match kind:
        case Kind.PDF:
            return pdf.read(body, most)
        case Kind.EXCEL if body.startswith(old_excel.SIGNATURE):
            return old_excel.read(body, most)
        case Kind.WORD | Kind.POWERPOINT | Kind.EXCEL | Kind.OPENDOCUMENT:
            return office.read(kind, body, most)
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
