"""What the pages of the demo web need to look as they do: the same few files on every host."""

from __future__ import annotations

from io import BytesIO

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen

SCRIPTED = "www.webdirectory-demo.com"
"""The host whose script the pages of all hosts run."""

GIF = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b"
)

HEAD = (
    '<link rel="stylesheet" href="/site.css"><link rel="icon" href="/favicon.ico">'
    f'<script src="http://{SCRIPTED}/site.js"></script>'
)
"""Elements in the head of a page."""

IMAGES = (
    '<img src="/logo.gif" srcset="/logo.gif 1x, /logo-large.gif 2x" alt="">'
    '<img data-src="/photo.gif" alt="">'
)
"""Images at the top of a page, the last of which a script loads late."""

_SITE = '@import "fonts.css";\nbody { background: url(paper.gif); font-family: Demo, serif }\n'
_FONTS = '@font-face { font-family: Demo; src: url("/demo.ttf") format("truetype") }\n'
_SCRIPT = """for (const image of document.querySelectorAll("img[data-src]"))
  image.src = image.dataset.src;
"""


def files() -> dict[str, bytes]:
    """Return the files of a host by name."""
    images = ("logo.gif", "logo-large.gif", "photo.gif", "paper.gif", "favicon.ico")
    return {
        **dict.fromkeys(images, GIF),
        "site.css": _SITE.encode(),
        "fonts.css": _FONTS.encode(),
        "site.js": _SCRIPT.encode(),
        "demo.ttf": _font(),
    }


def _font() -> bytes:
    """Return a font of one empty glyph, the same in each year."""
    builder = FontBuilder(1000, isTTF=True)
    builder.font.recalcTimestamp = False
    builder.updateHead(created=0, modified=0)
    builder.setupGlyphOrder([".notdef"])
    builder.setupCharacterMap({})
    builder.setupGlyf({".notdef": TTGlyphPen(None).glyph()})
    builder.setupHorizontalMetrics({".notdef": (500, 0)})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Demo", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    written = BytesIO()
    builder.save(written)
    return written.getvalue()
