"""Plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.language.charset import decode
from lswc.reading.documents.text import Text

if TYPE_CHECKING:
    from lswc.reading.documents.text import Most


def read(body: bytes, content_type: str, most: Most) -> Text:
    """Return the text of bytes in any charset."""
    decoded = decode(body[: most.size], content_type or None)
    text = Text(
        text=decoded.text.replace("\r\n", "\n").replace("\r", "\n"),
        decoded=decoded,
        is_cut=len(body) > most.size,
    )
    # Fonts with an encoding of their own look like no letters: lswc.language knows them.
    return text.completed(most)._replace(text=text.text[: most.text])
