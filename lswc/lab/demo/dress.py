"""Requisites of the demo web's pages: the same few files on every host."""

from __future__ import annotations

from io import BytesIO
from struct import pack
from zlib import compress, crc32

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

SCRIPTED = "www.webdirectory-demo.com"
"""The host whose script the pages of all hosts run."""

HEAD = (
    '<link rel="stylesheet" href="/site.css"><link rel="icon" href="/favicon.ico">'
    f'<script src="http://{SCRIPTED}/site.js"></script>'
)
"""Elements in the head of a page."""

IMAGES = (
    '<img src="/logo.png" srcset="/logo.png 1x, /logo-large.png 2x" alt="">'
    '<picture><source srcset="/wide.png" media="(min-width: 600px)">'
    '<img src="/narrow.png" alt=""></picture><img data-src="/photo.png" alt="">'
)
"""Images at the top of a page, the last of which a script loads late."""

_PICTURES = {
    "logo.png": (120, 40, 0x1F6F8B), "logo-large.png": (240, 80, 0x1F6F8B),
    "wide.png": (360, 40, 0xE6A23C), "narrow.png": (90, 40, 0xE6A23C),
    "photo.png": (160, 40, 0x6A994E), "paper.png": (8, 8, 0xFBF7EF),
    "favicon.ico": (16, 16, 0x1F6F8B),
}  # fmt: skip
"""Width, height and colour of each."""

_SITE = """@import "fonts.css";
body { background: url(paper.png); font-family: Demo, serif }
h1::before { content: "\\25c6 " }
"""
DIAMOND = ((50, 350), (450, 750), (850, 350), (450, -50))
_FONTS = '@font-face { font-family: Demo; src: url("/demo.ttf") format("truetype") }\n'
_SCRIPT = """addEventListener("DOMContentLoaded", () => {
  for (const image of document.querySelectorAll("img[data-src]"))
    image.src = image.dataset.src;
});
"""


def files() -> dict[str, bytes]:
    """Return the files of a host by name."""
    return {
        **{name: _png(*shown) for name, shown in _PICTURES.items()},
        "site.css": _SITE.encode(),
        "fonts.css": _FONTS.encode(),
        "site.js": _SCRIPT.encode(),
        "demo.ttf": _font(),
    }


def _png(width: int, height: int, colour: int) -> bytes:
    """Return an image of one colour (PNG, third edition)."""
    header = pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\0" + colour.to_bytes(3) * width) * height
    chunks = ((b"IHDR", header), (b"IDAT", compress(rows)), (b"IEND", b""))
    written = b"".join(
        pack(">I", len(data)) + kind + data + pack(">I", crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + written


def _font() -> bytes:
    """Return a font of one glyph, a diamond, the same in each year."""
    pen = TTGlyphPen(None)
    pen.moveTo(DIAMOND[0])
    for point in DIAMOND[1:]:
        pen.lineTo(point)
    pen.closePath()
    builder = FontBuilder(1000, isTTF=True)
    builder.font.recalcTimestamp = False
    builder.updateHead(created=0, modified=0)
    builder.setupGlyphOrder([".notdef", "diamond"])
    builder.setupCharacterMap({0x25C6: "diamond"})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "diamond": pen.glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0), "diamond": (900, 50)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Demo", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    written = BytesIO()
    builder.save(written)
    return written.getvalue()
