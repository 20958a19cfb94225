"""PDF of the demo web: one page, whose text can be read."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SIZE, _LEADING, _LEFT, _TOP = 12, 18, 60, 780  # points


def pdf(lines: Sequence[str], font: bytes) -> bytes:
    """Return a PDF (ISO 32000-1) of lines of text; ``font`` is a TrueType font.

    Each character is its code in UTF-16, so the text is known whatever the font shows.
    """
    letters = sorted(set("".join(lines)))
    text = "T* ".join(f"<{line.encode('utf-16-be').hex()}> Tj " for line in lines)
    content = f"BT /F1 {_SIZE} Tf {_LEADING} TL {_LEFT} {_TOP} Td {text}ET"
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>",
            _stream(content.encode()),
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Demo /Encoding /Identity-H"
            b" /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Demo /FontDescriptor 8 0 R"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
            b" /DW 500 /CIDToGIDMap /Identity >>",
            _stream(_to_unicode(letters)),
            b"<< /Type /FontDescriptor /FontName /Demo /Flags 4 /FontBBox [0 0 0 0]"
            b" /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80"
            b" /FontFile2 9 0 R >>",
            _stream(font, f" /Length1 {len(font)}"),
        ]
    )


def _to_unicode(letters: Iterable[str]) -> bytes:
    """Return the CMap by which readers tell the text (ISO 32000-1 §9.10.3)."""
    codes = [letter.encode("utf-16-be").hex() for letter in letters]
    mapped = ""
    for start in range(0, len(codes), 100):  # no more are allowed in one
        part = codes[start : start + 100]
        pairs = "".join(f"<{code}> <{code}>\n" for code in part)
        mapped += f"{len(part)} beginbfchar\n{pairs}endbfchar\n"
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CMapName /Demo def /CMapType 2 def\n"
        f"1 begincodespacerange <0000> <FFFF> endcodespacerange\n{mapped}"
        "endcmap CMapName currentdict /CMap defineresource pop end end\n"
    ).encode()


def _stream(data: bytes, about: str = "") -> bytes:
    packed = zlib.compress(data)
    head = f"<< /Length {len(packed)} /Filter /FlateDecode{about} >>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _file(objects: Sequence[bytes]) -> bytes:
    written, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), list[int]()
    for number, described in enumerate(objects, start=1):
        offsets.append(len(written))
        written += b"%d 0 obj\n%b\nendobj\n" % (number, described)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size, start = len(objects) + 1, len(written)
    written += f"xref\n0 {size}\n0000000000 65535 f \n{table}".encode()
    written += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(written)
