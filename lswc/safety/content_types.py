"""Content types: what kind of page a response is, by its server and by its first bytes."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Kind(StrEnum):
    """What a recorded page is: HTML, or one of the documents."""

    HTML = "html"
    PDF = "pdf"
    WORD = "word"
    OPENDOCUMENT = "opendocument"
    POWERPOINT = "powerpoint"
    EXCEL = "excel"
    EPUB = "epub"
    RTF = "rtf"
    TEXT = "text"
    CSV = "csv"


_XHTML = "application/xhtml+xml"
_HTML = frozenset({"text/html", _XHTML})
_XML = frozenset({"text/xml", "application/xml"})
# What browsers take for a root of XHTML: in its namespace, which it may name by a prefix.
_XML_ROOT = re.compile(rb"<(?:([\w.-]{1,20}):)?([\w.-]{1,40})([^<>]{0,2000}>?)")
_NAMESPACE = b"http://www.w3.org/1999/xhtml"
_BEFORE_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<\?[^>]*+>|<!--(?:[^-]++|-(?!->))*+-->|<!DOCTYPE[^>\[]*+(?:\[[^\]]*+\]\s*+)?+>)*+",
    re.IGNORECASE,
)
_ROOT_WITHIN = 65_536  # bytes
# RFC 9110 §5.6: a list, its members apart by commas that aren't quoted; the parameters of one.
_MEMBER = re.compile(r'(?:[^",]++|"(?:[^"\\]++|\\.)*+"?+)++')
_PARAMETER = re.compile(r';[\t\n\r ]*+([^;="]*+)=(?:"((?:[^"\\]++|\\.)*+)"?+[^;]*+|([^;]*+))')
_TYPE = re.compile(r"[!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+", re.ASCII)
# What follows is no media type by the standard, but one to browsers, which read it up to here.
_LENIENT = re.compile(r"[!#$%&'*+.^_`|~\w-]+/[!#$%&'*+.^_`|~\w-]+(?=[\t\n\r (])", re.ASCII)
_WHITESPACE = "\t\n\r "
_LONGEST = 2_000  # characters of all headers
_UNTOLD = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
_OPENDOCUMENT = "application/vnd.oasis.opendocument."
_EPUB = "application/epub+zip"
_OFFICE = "application/vnd.openxmlformats-officedocument."
_OF_OFFICE = {
    f"{_OFFICE}wordprocessingml.": Kind.WORD,
    f"{_OFFICE}presentationml.": Kind.POWERPOINT,
    f"{_OFFICE}spreadsheetml.": Kind.EXCEL,
    "application/vnd.ms-word": Kind.WORD,
    "application/vnd.ms-powerpoint": Kind.POWERPOINT,
    "application/vnd.ms-excel": Kind.EXCEL,
}
_DOCUMENTS = {
    "application/pdf": Kind.PDF,
    "application/x-pdf": Kind.PDF,
    "application/msword": Kind.WORD,
    "application/mspowerpoint": Kind.POWERPOINT,
    "application/msexcel": Kind.EXCEL,
    _EPUB: Kind.EPUB,
    "application/rtf": Kind.RTF,
    "text/rtf": Kind.RTF,
    "text/plain": Kind.TEXT,
    "text/csv": Kind.CSV,
    "application/csv": Kind.CSV,
}
_OF_TEXT = (Kind.TEXT, Kind.CSV)
# What servers say of files that they have no type for.
_VAGUE = frozenset({
    "application/octet-stream", "application/octetstream", "binary/octet-stream",
    "application/download", "application/x-download", "application/force-download",
    "application/save", "application/zip", "application/x-zip-compressed",
})  # fmt: skip
_BY_EXTENSION = {
    "pdf": Kind.PDF,
    "doc": Kind.WORD,
    "docx": Kind.WORD,
    "docm": Kind.WORD,
    "odt": Kind.OPENDOCUMENT,
    "odp": Kind.OPENDOCUMENT,
    "ods": Kind.OPENDOCUMENT,
    "ppt": Kind.POWERPOINT,
    "pptx": Kind.POWERPOINT,
    "pptm": Kind.POWERPOINT,
    "xls": Kind.EXCEL,
    "xlsx": Kind.EXCEL,
    "xlsm": Kind.EXCEL,
    "epub": Kind.EPUB,
    "rtf": Kind.RTF,
    "csv": Kind.CSV,
}
_EXTENSION = re.compile(r"\.([a-z]{3,4})$", re.IGNORECASE)
_FILE_NAME = re.compile(r"filename\*?\s*=\s*\"?([^;\"]{1,500})", re.IGNORECASE)
_MARKUP = re.compile(
    rb"<(?:!doctype html|!--|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|"
    rb"meta|frameset|center|link|base|ul)[\s>]",
    re.IGNORECASE,
)
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?[\t\n\f\r ]*")
# The signatures of the WHATWG MIME Sniffing Standard §6 and §7, and of programs.
_BINARY = re.compile(
    rb"\s{0,3}%PDF-|%!PS-Adobe-|PK\x03\x04|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|\x89PNG\r\n\x1a\n|GIF8[79]a"
    rb"|\xff\xd8\xff|RIFF....(?:WEBPVP|AVI |WAVE)|....ftyp|\x1a\x45\xdf\xa3|OggS\0|ID3|FORM....AIFF"
    rb"|MThd\0\0\0\x06|\.snd|FLV\x01|wOF[F2]|OTTO\0|\0\x01\0\0\0|\x7fELF|MZ[\x00-\xff]{4}\0"
    rb"|\0\0[\x01\x02]\0|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1|\{\\rtf",
    re.DOTALL,
)
# Where a zipped file of Office has its main part.
_FOLDERS = {Kind.WORD: b"word/", Kind.POWERPOINT: b"ppt/", Kind.EXCEL: b"xl/"}
_PART = re.compile(rb"PK\x03\x04.{26}(word/|ppt/|xl/)", re.DOTALL)
_FIRST_PARTS = (b"[Content_Types].xml", b"_rels/.rels", b"docProps/")
_GZIP = b"\x1f\x8b\x08"
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SNIFFED = 1_445  # bytes: MIME Sniffing §5.2
_PDF_WITHIN = 1_024  # bytes in which programs look for a PDF's header
_FIRST_NAME = 30  # bytes of a zip's entry that come before its name (APPNOTE 4.3.7)
# MIME Sniffing §3, "binary data byte"
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def kind_of(content_type: str, body: bytes, name: str = "") -> Kind | None:
    """Return what a response is, by its header, its bytes and its file's name; None for others.

    A type that says HTML is believed unless the bytes are another format's; without a type the
    bytes alone decide. A document is one by its bytes, whatever it is called; what is called
    one and is HTML, as many an error page, is HTML. What is called plain text, or CSV, stays that.
    """
    if is_html(content_type, body):
        return Kind.HTML
    declared = document_named(content_type, name)
    if (found := _by_signature(declared, body)) is not None:
        return found
    if declared is None or has_other_signature(body) or body.startswith(_GZIP):
        return None
    if declared not in _OF_TEXT:
        blank = _BLANK.match(body)
        is_markup = _MARKUP.match(body, blank.end() if blank else 0) is not None
        return Kind.HTML if is_markup else None
    return declared if is_text(body) else None


def is_html(content_type: str, body: bytes) -> bool:
    """Tell whether a response may be HTML, by its header and the bytes it begins with."""
    if has_other_signature(body) or body.startswith(_GZIP):
        return False
    essence = _essence(content_type)
    if essence in _UNTOLD:
        return _MARKUP.search(body[:_SNIFFED]) is not None
    return essence in _HTML or (essence in _XML and _has_root_of_html(body))


def is_xhtml(content_type: str, body: bytes) -> bool:
    """Tell whether a page is read as XML, as its server says it; or its first bytes, if none does.

    MIME Sniffing §7.1 takes what begins with an XML declaration for XML.
    """
    essence = _essence(content_type)
    if essence in _UNTOLD:
        return body[:100].lstrip(b"\xef\xbb\xbf\t\n\f\r ").startswith(b"<?xml")
    return essence == _XHTML or essence in _XML


def is_other_xml(content_type: str, body: bytes) -> bool:
    """Tell whether a response is XML by its header, and another than XHTML by its first bytes."""
    root = _root(body) if _essence(content_type) in _XML else None
    return root is not None and root[0].endswith(b">") and not _has_root_of_html(body)


def _has_root_of_html(body: bytes) -> bool:
    root = _root(body)
    return root is not None and root[2] == b"html" and _NAMESPACE in root[3]


def _root(body: bytes) -> re.Match[bytes] | None:
    """Return the tag with which the root of an XML document begins, if it is among its first."""
    head = body[:_ROOT_WITHIN]
    before = _BEFORE_ROOT.match(head)
    return _XML_ROOT.match(head, before.end() if before else 0)


def document_named(content_type: str, name: str) -> Kind | None:
    """Return the kind of document that a Content-Type says; if that says little, a file's name."""
    essence = _essence(content_type)
    if essence.startswith(_OPENDOCUMENT):
        return Kind.OPENDOCUMENT
    for begins, kind in _OF_OFFICE.items():
        if essence.startswith(begins):
            return kind
    if essence in _VAGUE | _UNTOLD:
        return by_extension(name)
    return _DOCUMENTS.get(essence)


def by_extension(name: str) -> Kind | None:
    """Return the kind of document that a path or a file's name says."""
    found = _EXTENSION.search(name)
    return _BY_EXTENSION.get(found[1].lower()) if found else None


def file_name(headers: Mapping[str, Sequence[str]], path: str) -> str:
    """Return a file's name as Content-Disposition says it (RFC 6266), else the URL's path."""
    named = _FILE_NAME.search(", ".join(headers.get("content-disposition", ()))[:2_000])
    return named[1].strip() if named else path


def is_text(body: bytes) -> bool:
    """Tell whether the first bytes may be plain text's (MIME Sniffing §7.2)."""
    return body.startswith(_WIDE) or _NOT_TEXT.search(body[:_SNIFFED]) is None


def _by_signature(declared: Kind | None, body: bytes) -> Kind | None:
    """Return the document that bytes are; ``declared`` helps where others begin so, too."""
    where = body[:_PDF_WITHIN] if declared is Kind.PDF else body[:8].lstrip()
    if where.startswith(b"%PDF-") or (declared is Kind.PDF and b"%PDF-" in where):
        return Kind.PDF
    if body.startswith(b"{\\rtf"):
        return Kind.RTF
    if body.startswith(_OLE):
        return declared if declared in _FOLDERS else None
    if not body.startswith(_ZIP):
        return None
    first = body[_FIRST_NAME : _FIRST_NAME + 100]
    if first.startswith(b"mimetype" + _OPENDOCUMENT.encode()):
        return Kind.OPENDOCUMENT
    if first.startswith(b"mimetype" + _EPUB.encode()):
        return Kind.EPUB
    where = body if first.startswith(_FIRST_PARTS) else first
    part = _PART.search(where)  # the first: files within it may be of other kinds
    for kind, folder in _FOLDERS.items():
        if folder == part[1] if part else folder in where:
            return kind
    return declared if declared in (*_FOLDERS, Kind.OPENDOCUMENT, Kind.EPUB) else None


def declared_type(headers: Mapping[str, Sequence[str]]) -> str:
    """Return the media type, and charset, that Content-Type headers say together; "" for none.

    As Fetch §2.2.2 extracts a MIME type: the last that is one counts, and a charset that an equal
    one before it had. What isn't one by the standard, but for its end, counts as browsers have it.
    """
    return _extracted(", ".join(headers.get("content-type", ())))


@lru_cache(maxsize=1_000)
def _extracted(value: str) -> str:
    essence = charset = ""
    for member in _MEMBER.findall(value[:_LONGEST]):
        found, name = _media_type(member)
        if found in ("", "*/*"):
            continue
        charset = name or (charset if found == essence else "")
        essence = found
    return f"{essence}; charset={charset}" if charset else essence


def _media_type(text: str) -> tuple[str, str]:
    """Return the essence of a media type and its charset, "" for what isn't one."""
    text = text.strip(_WHITESPACE)
    begin, _, _ = text.partition(";")
    begin = begin.rstrip(_WHITESPACE)
    found = _TYPE.fullmatch(begin)
    if found is None:
        found = _LENIENT.match(begin)
        return (found[0].lower() if found else ""), ""
    return begin.lower(), next(_charsets(text[len(begin) :]), "")


def _charsets(parameters: str) -> Iterator[str]:
    for name, quoted, plain in _PARAMETER.findall(parameters):
        if name.lower() == "charset" and (charset := quoted or plain.strip(_WHITESPACE)):
            yield charset


def is_among(content_type: str, wanted: Sequence[str]) -> bool:
    """Tell whether a Content-Type is one of media types, such as ``image/*``; ``*/*`` are all."""
    essence = _essence(content_type)
    top = essence.partition("/")[0]
    return any(one in (essence, f"{top}/*", "*/*") for one in wanted)


def _essence(content_type: str) -> str:
    return _extracted(content_type).partition(";")[0]


def may_be_html(content_type: str) -> bool:
    """Tell whether a Content-Type says HTML, or XML, or says nothing."""
    return _essence(content_type) in _HTML | _XML | _UNTOLD


def has_other_signature(body: bytes) -> bool:
    """Tell whether bytes begin as another format does; gzip's own signature isn't asked."""
    return _BINARY.match(body) is not None


def may_begin_document(content_type: str, name: str, first: bytes) -> bool:
    """Tell whether the first bytes of a response may be those of a document."""
    if first.startswith(_ZIP) and first[_FIRST_NAME:].startswith(b"[Content_Types].xml"):
        return True
    return _by_signature(document_named(content_type, name), first) is not None
