"""Files in a Word document, whose text is of it (ECMA-376-1 §17.17.2.1): HTML, RTF, text, Word."""

from __future__ import annotations

from email import message_from_bytes
from email.errors import MessageError
from typing import TYPE_CHECKING

from lswc.language.charset import decode
from lswc.language.xhtml import as_html
from lswc.reading.documents import markup, office, rtf
from lswc.reading.documents.text import Text, plain_text
from lswc.safety.content_types import Kind, has_other_signature, is_xhtml, kind_of

if TYPE_CHECKING:
    from email.message import Message

    from lswc.reading.documents.packed import Budget
    from lswc.reading.documents.text import Most

_MESSAGES = (".mht", ".mhtml", ".eml")
_LONGEST_NAME = 200


def read(content: bytes, name: str, most: Most, budget: Budget) -> Text:
    """Return what a part says; one that is cut has more, or can't be read.

    ``budget`` is that of the document. Of a Word file in one in it nothing is read.
    """
    name = name[-_LONGEST_NAME:].lower()
    if name.endswith(_MESSAGES):
        return _message(content[: markup.MAX_SIZE], most)
    kind = kind_of("text/plain" if name.endswith(".txt") else "", content, name)
    is_page = name.endswith((".html", ".htm", ".xhtml")) and not has_other_signature(content)
    if kind is Kind.HTML or (kind is None and is_page):
        return _html(content, None, most)
    if kind is Kind.RTF:
        return rtf.read(content, most)
    if kind is Kind.TEXT:
        return plain_text(content, "", most)
    if kind is Kind.WORD:
        return office.read(kind, content, most, budget)
    return Text(is_cut=True)


def _html(content: bytes, content_type: str | None, most: Most) -> Text:
    source = decode(content, content_type).text.encode("utf-8", "replace")
    return markup.read(as_html(source) if is_xhtml(content_type or "", content) else source, most)


def _message(content: bytes, most: Most) -> Text:
    """Return what the first part of a message says that is HTML (RFC 2557)."""
    try:
        for part in message_from_bytes(content).walk():
            if part.get_content_type() == "text/html":
                return _html(_payload(part), part.get("Content-Type"), most)
    except (MessageError, ValueError, LookupError, RecursionError):
        pass
    return Text(is_cut=True)


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""
