"""Documents that were made to hurt who reads them."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from lswc.safety.content_types import Kind
from tests.reading import made
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CUT = {
    "a zip bomb in Word", "a zip bomb in OpenDocument", "many paragraphs", "a billion laughs",
    "laughs in an attribute", "a file as an entity", "elements nested deep",
    "many files in a zip", "a part in itself", "an encrypted zip",
    "a zip packed in an unknown way", "broken XML", "a million pages",
    "text of nothing but brackets", "a thousand addresses", "a zip bomb in PowerPoint",
    "a bomb of many slides", "a zip bomb in Excel", "laughs in Excel",
    "a bomb of many pages in a book", "a page of a book that is a bomb", "a long RTF",
    "a book with a long order", "slides without end",
}  # fmt: skip
"""Those of which it is seen that they have more than is read."""

_BOMB = 60_000_000
_DOCTYPE = b'<?xml version="1.0"?><!DOCTYPE x [%s]><x>%s</x>'
_LAUGHS = b'<!ENTITY a0 "ha">' + b"".join(
    b'<!ENTITY a%d "%s">' % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 10)
)


def documents() -> dict[str, tuple[Kind, Callable[[], bytes]]]:
    """Return what is hostile, by a name that says how: its kind, and what makes it."""
    return {
        "a zip bomb in Word": (Kind.WORD, lambda: made.docx(parts={"word/document.xml": _zeros()})),
        "a zip bomb in OpenDocument": (Kind.OPENDOCUMENT, lambda: _packed("content.xml", _zeros())),
        "a bomb of elements": (Kind.WORD, lambda: _word(b"<w:r/>" * 100_000)),
        "many paragraphs": (Kind.WORD, lambda: _word(b"<w:p/>" * 300_000)),
        "a billion laughs": (Kind.WORD, lambda: _part(_DOCTYPE % (_LAUGHS, b"&a9;"))),
        "laughs in an attribute": (
            Kind.WORD,
            lambda: _part(_DOCTYPE % (_LAUGHS, b'<y z="&a9;"/>')),
        ),
        "a file as an entity": (
            Kind.OPENDOCUMENT,
            lambda: _packed(
                "content.xml", _DOCTYPE % (b'<!ENTITY f SYSTEM "file:///etc/passwd">', b"&f;")
            ),
        ),
        "elements nested deep": (Kind.WORD, lambda: _word(b"<w:p>" * 50_000)),
        "many files in a zip": (Kind.WORD, lambda: _many(20_000)),
        "a part in itself": (Kind.WORD, _overlapping),
        "a zip cut short": (Kind.WORD, lambda: made.docx(made.paragraph(THAI))[:400]),
        "an encrypted zip": (Kind.OPENDOCUMENT, _encrypted),
        "a zip packed in an unknown way": (Kind.WORD, _unknown),
        "broken XML": (Kind.WORD, lambda: _part(b"<w:document xmlns:w='w'><w:body></w:p>")),
        "relations to themselves": (
            Kind.WORD,
            lambda: made.docx(
                parts={
                    "_rels/.rels": b'<R><Relationship Target="_rels/.rels" '
                    b'Type="x/officeDocument"/></R>'
                }
            ),
        ),
        "a bomb in a PDF": (Kind.PDF, lambda: made.pdf(stream=_zeros(b" "))),
        "a bomb packed twice in a PDF": (Kind.PDF, _twice),
        "a PDF with a password": (Kind.PDF, made.encrypted_pdf),
        "a PDF cut short": (Kind.PDF, lambda: made.pdf([[THAI[:60]]])[:700]),
        "a PDF of nothing": (Kind.PDF, lambda: b"%PDF-1.7\n"),
        "a title that is no text": (
            Kind.PDF,
            lambda: made.pdf([["a"]]).replace(b"/Title <feff>", b"/Title <feffd800>"),
        ),
        "a zip of a later version": (Kind.WORD, _later),
        "pages in pages": (
            Kind.PDF,
            lambda: made.pdf([["a"]]).replace(b"/Kids [9 0 R]", b"/Kids [2 0 R]"),
        ),
        "a million pages": (
            Kind.PDF,
            lambda: made.pdf([["a"]]).replace(b"/Count 1 ", b"/Count 1000000 "),
        ),
        "a hundred million pages": (
            Kind.PDF,
            lambda: made.pdf([["a"]]).replace(b"/Count 1 ", b"/Count 100000000 "),
        ),
        "a form in itself": (Kind.PDF, lambda: form_in_itself(1)),
        "a table of objects that lies": (
            Kind.PDF,
            lambda: made.pdf([["a"]]).replace(b"/Size ", b"/Size 99999999"),
        ),
        "nested arrays": (Kind.PDF, lambda: made.pdf(extra="/X " + "[" * 200_000)),
        "many operators": (
            Kind.PDF,
            lambda: made.pdf(stream=b"BT ET q Q 0 0 m 1 1 l S\n" * 100_000),
        ),
        "many links": (
            Kind.PDF,
            lambda: made.pdf(links=[f"http://a.example/{n}" for n in range(10_000)]),
        ),
        "text of nothing but brackets": (Kind.TEXT, lambda: b"http://" + b"(" * 500_000),
        "a thousand addresses": (Kind.TEXT, lambda: b"http://a.example/x " * 27_000),
        "a zip bomb in PowerPoint": (
            Kind.POWERPOINT,
            lambda: made.zipped({"ppt/slides/slide1.xml": _zeros()}),
        ),
        "a bomb of many slides": (
            Kind.POWERPOINT,
            lambda: made.zipped(
                {f"ppt/slides/slide{n}.xml": _zeros(b"x", _BOMB // 30) for n in range(30)}
            ),
        ),
        "slides without end": (
            Kind.POWERPOINT,
            lambda: made.zipped({f"ppt/slides/slide{n}.xml": b"<a/>" for n in range(9_999)}),
        ),
        "a slide outside": (
            Kind.POWERPOINT,
            lambda: made.zipped(
                {"ppt/slides/../../../etc/passwd": b"root:", "/etc/passwd": b"root:"}
            ),
        ),
        "a zip bomb in Excel": (
            Kind.EXCEL,
            lambda: made.zipped({"xl/sharedStrings.xml": _zeros()}),
        ),
        "laughs in Excel": (
            Kind.EXCEL,
            lambda: made.zipped({"xl/sharedStrings.xml": _DOCTYPE % (_LAUGHS, b"&a9;")}),
        ),
        "laughs in a book": (
            Kind.EPUB,
            lambda: made.epub(parts={"OPS/package.opf": _DOCTYPE % (_LAUGHS, b"&a9;")}),
        ),
        "laughs in a page of a book": (
            Kind.EPUB,
            lambda: made.epub("a", parts={"OPS/page0.xhtml": _DOCTYPE % (_LAUGHS, b"&a9;")}),
        ),
        "a book of a file outside": (
            Kind.EPUB,
            lambda: made.epub("a").replace(b'href="page0.xhtml"', b'href="/etc/passwd"'),
        ),
        "a book of itself": (
            Kind.EPUB,
            lambda: made.epub("a").replace(b'OPS/package.opf"', b'META-INF/../x.x"'),
        ),
        "a bomb of many pages in a book": (
            Kind.EPUB,
            lambda: made.zipped(_book(b"a" * 400_000, _BOMB // 400_000)),
        ),
        "a page of a book that is a bomb": (Kind.EPUB, lambda: made.zipped(_book(_zeros(), 1))),
        "a page of a book nested deep": (Kind.EPUB, lambda: made.epub("<div>" * 90_000)),
        "a book of tags that are not closed": (
            Kind.EPUB,
            lambda: made.epub(b"<a b='c' ".decode() * 90_000, "<x/" * 150_000),
        ),
        "a book of sections that do not end": (Kind.EPUB, lambda: made.epub("<![CDATA[" * 90_000)),
        "a book with a long order": (
            Kind.EPUB,
            lambda: made.epub("a", parts={"OPS/package.opf": _order(range(10_000))}),
        ),
        "a book that goes on with one page": (
            Kind.EPUB,
            lambda: made.epub("a", parts={"OPS/package.opf": _order([0] * 10_000)}),
        ),
        "laughs in what a book encrypts": (
            Kind.EPUB,
            lambda: made.epub(parts={"META-INF/encryption.xml": _DOCTYPE % (_LAUGHS, b"&a9;")}),
        ),
        "groups without end in RTF": (Kind.RTF, lambda: b"{\\rtf1" + b"{" * 900_000),
        "ends of groups in RTF": (Kind.RTF, lambda: b"{\\rtf1" + b"}" * 900_000),
        "fonts without end in RTF": (Kind.RTF, lambda: b"{\\rtf1{\\fonttbl" + b"{\\f1" * 180_000),
        "many fonts in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1{\\fonttbl" + b"{\\f1\\fcharset1" * 60_000,
        ),
        "some fonts without an end in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1{\\fonttbl" + b"{\\f1\\fcharset1" * 499 + b"x" * 900_000,
        ),
        "fields without end in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1" + b'{\\field{\\*\\fldinst{HYPERLINK "x"}}{' * 25_000,
        ),
        "links without end in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1{\\field{\\*\\fldinst{" + b'HYPERLINK "' * 80_000,
        ),
        "quotes without end in RTF": (
            Kind.RTF,
            lambda: b'{\\rtf1{\\field{\\*\\fldinst{HYPERLINK "' + b'"}}{ }} ' * 100_000,
        ),
        "a long number in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1\\pict\\bin" + b"9" * 400_000 + b"\\u9999999999? \\uc x}",
        ),
        "an unknown letter in RTF": (Kind.RTF, lambda: b"{\\rtf1\\u99999999?a}"),
        "an unknown encoding in RTF": (
            Kind.RTF,
            lambda: b"{\\rtf1\\ansicpg99999\\fcharset99999 \\'ff\\'fe a}",
        ),
        "a long RTF": (Kind.RTF, lambda: b"{\\rtf1 " + b"a " * 900_000),
        "a PDF of noise": (Kind.PDF, lambda: b"%PDF-1.4" + zlib.compress(bytes(range(256)) * 100)),
    }


def _book(page: bytes, number: int) -> dict[str, bytes]:
    """Return the files of a book whose pages are all the same."""
    files = made.unzipped(made.epub(*["a"] * number))
    return {name: page if name.endswith(".xhtml") else files[name] for name in files}


def _order(numbers: Iterable[int]) -> bytes:
    """Return what a book says of its pages, by their numbers in their order."""
    names = [b"page%d.xhtml" % number for number in numbers]
    items = b"".join(b'<item id="%b" href="%b"/>' % (name, name) for name in dict.fromkeys(names))
    order = b"".join(b'<itemref idref="%b"/>' % name for name in names)
    return b"<package><manifest>%b</manifest><spine>%b</spine></package>" % (items, order)


def _zeros(sign: bytes = b"x", number: int = _BOMB) -> bytes:
    return sign * number


def _part(content: bytes) -> bytes:
    return made.docx(parts={"word/document.xml": content})


def _word(within: bytes) -> bytes:
    head = b"<w:document xmlns:w='w'><w:body>"
    return _part(head + within + b"</w:body></w:document>")


def _packed(name: str, content: bytes) -> bytes:
    return made.zipped({"mimetype": b"application/vnd.oasis.opendocument.text", name: content})


def _many(number: int) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", ZIP_STORED) as archive:
        for name in range(number):
            archive.writestr(str(name), b"")
    return out.getvalue()


def _overlapping() -> bytes:
    """Return a zip file whose directory says of a part that it is as large as all of it."""
    whole = bytearray(made.docx(made.paragraph(THAI), packed=ZIP_STORED))
    entry = whole.rindex(b"word/document.xml") - 46
    whole[entry + 20 : entry + 28] = len(whole).to_bytes(4, "little") * 2
    return bytes(whole)


def _encrypted() -> bytes:
    whole = bytearray(made.odt("<text:p>x</text:p>"))
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := whole.find(signature, place + 1)) >= 0:
            whole[place + flags] |= 1
    return bytes(whole)


def _unknown() -> bytes:
    whole = made.docx(made.paragraph(THAI), packed=ZIP_DEFLATED)
    return whole.replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x08", b"PK\x01\x02\x14\x03\x14\x00\x00\x00\x63"
    )


def _later() -> bytes:
    whole = made.docx(made.paragraph(THAI))
    return whole.replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xf4")


def _twice() -> bytes:
    packed = zlib.compress(zlib.compress(_zeros(b" ")))
    return made.pdf([["a"]], extra="").replace(
        b"/Kids [9 0 R]", b"/Kids [90 0 R]"
    ).replace(
        b"xref\n",
        b"90 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 91 0 R >> endobj\n"
        b"91 0 obj << /Length %d /Filter [/FlateDecode /FlateDecode] >> stream\n" % len(packed)
        + packed + b"\nendstream endobj\nxref\n", 1,
    )  # fmt: skip


def form_in_itself(times: int) -> bytes:
    """Return a PDF with a form that shows itself so often: three times take for ever."""
    content = b"/X Do " * times
    form = (
        b"90 0 obj << /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length %d /Resources"
        b" << /XObject << /X 90 0 R >> >> >> stream\n%s\nendstream endobj\nxref\n"
    ) % (len(content), content)
    page = made.pdf(stream=b"/X Do")
    return page.replace(b"/F 3 0 R >>", b"/F 3 0 R >> /XObject << /X 90 0 R >>").replace(
        b"xref\n", form, 1
    )
