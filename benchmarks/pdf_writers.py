"""Writers of PDFs, each by its package or program: a text in one font, as its users write it.

A writer that the machine lacks raises ImportError or OSError. ``Word`` is none, but what its files
say imitated: glyphs as they are drawn, in the map what the font's own table calls each, else what
the cluster has besides; the ring of a sara am is a blank.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import zlib
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SECONDS = 120
_HTML = (
    '<!doctype html><html lang="{language}"><meta charset="utf-8"><title>x</title><style>{face}'
    "body {{ font: 12pt 'Own' }}</style>{paragraphs}"
)
_FACE = "@font-face {{ font-family: Own; src: url('{url}') }} "
_OPEN_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:styles><style:default-style style:family="paragraph"><style:text-properties
 style:font-name="{font}" fo:font-family="{font}" style:font-family-complex="{font}"
 style:font-family-asian="{font}" fo:font-size="12pt" style:font-size-complex="12pt"
 style:font-size-asian="12pt" style:language-complex="{language}"/></style:default-style>
</office:styles><office:body><office:text>{paragraphs}</office:text></office:body>
</office:document>"""
_SCRIPTS = {"th": "Thai", "lo": "Lao", "km": "Khmer", "my": "Myanmar", "ja": "CJK", "vi": "Latin"}
_TEX = r"""\documentclass[12pt]{article}
\usepackage[a4paper,margin=2cm]{geometry}\usepackage{fontspec}
\setmainfont[Path=%s/,Script=%s%s]{%s}
%s\raggedright\setlength{\parindent}{0pt}\setlength{\parskip}{6pt}\begin{document}
%s
\end{document}"""
_TEX_SIGNS = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_WORD = re.compile("[\u3000-\u9fff\uff00-\uffef]{1,30}|[^\\s\u3000-\u9fff\uff00-\uffef]+")
_WIDTH, _SIZE, _LEADING = 500, 12, 24  # points


class Source(NamedTuple):
    """A text to be written: its paragraphs, its language, and a font by its family and file."""

    paragraphs: list[str]
    language: str
    family: str
    file: Path


def chromium(source: Source, out: Path) -> None:
    """Print by Chromium."""
    with tempfile.TemporaryDirectory() as home:
        page = Path(home, "page.html")
        page.write_text(_page(source, f"file://{source.file}"))
        _run(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu",
                "--allow-file-access-from-files", "--no-pdf-header-footer",
                f"--user-data-dir={home}/profile", f"--print-to-pdf={out}", str(page),
            ]
        )  # fmt: skip


def libreoffice(source: Source, out: Path) -> None:
    """Print by LibreOffice Writer."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "text.fodt")
        paragraphs = "".join(f"<text:p>{escape(line)}</text:p>" for line in source.paragraphs)
        about = {"font": source.family, "language": source.language, "paragraphs": paragraphs}
        file.write_text(_OPEN_DOCUMENT.format(**about))
        profile = f"-env:UserInstallation=file://{Path(tempfile.gettempdir(), 'writers-office')}"
        _run(["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", home, str(file)])
        shutil.move(Path(home, "text.pdf"), out)


def xelatex(source: Source, out: Path) -> None:
    """Set by XeLaTeX."""
    breaks = f'\\XeTeXlinebreaklocale "{source.language}"\\XeTeXlinebreakskip=0pt plus 1pt\n'
    _tex("xelatex", source, out, "", "" if source.language == "vi" else breaks)


def lualatex(source: Source, out: Path) -> None:
    """Set by LuaLaTeX with HarfBuzz."""
    _tex("lualatex", source, out, ",Renderer=HarfBuzz", "")


def _tex(program: str, source: Source, out: Path, options: str, before: str) -> None:
    lines = [line.translate(str.maketrans(_TEX_SIGNS)) for line in source.paragraphs]
    if program == "lualatex" and source.language != "vi":  # it breaks no line of these by itself
        lines = ["\n\n".join(_cut(line)) for line in lines]
    about = (source.file.parent, _SCRIPTS[source.language], options, source.file.name, before)
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "text.tex")
        file.write_text(_TEX % (*about, "\n\n".join(lines)))
        _run([program, "-interaction=batchmode", f"-output-directory={home}", str(file)], home)
        shutil.move(Path(home, "text.pdf"), out)


def _cut(line: str) -> list[str]:
    """Return a paragraph in lines of some words; of Japanese, of some letters."""
    rows = [""]
    for word in _WORD.findall(line):
        rows[-1] += f" {word}" if rows[-1] else word
        if len(rows[-1]) > 60:
            rows.append("")
    return [row for row in rows if row]


def typst(source: Source, out: Path) -> None:
    """Set by Typst."""
    import typst as library

    signs = str.maketrans({sign: f"\\{sign}" for sign in "\\#$*_`<>@=-+/[]~'\""})
    text = "\n\n".join(line.translate(signs) for line in source.paragraphs)
    head = f'#set text(font: "{source.family}", lang: "{source.language}", size: 12pt)\n'
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "text.typ")
        file.write_text(head + text)
        library.compile(str(file), output=str(out), font_paths=[str(source.file.parent)])


def weasyprint(source: Source, out: Path) -> None:
    """Print by WeasyPrint."""
    from weasyprint import HTML

    HTML(string=_page(source, source.file.as_uri())).write_pdf(str(out))


def pymupdf(source: Source, out: Path) -> None:
    """Print by MuPDF's stories."""
    import pymupdf as library

    archive = library.Archive(str(source.file.parent))
    story = library.Story(_page(source, source.file.name), archive=archive)
    box, inner = library.Rect(0, 0, 595, 842), library.Rect(40, 40, 555, 800)
    writer, more = library.DocumentWriter(str(out)), True
    while more:
        device = writer.begin_page(box)
        more, _ = story.place(inner)
        story.draw(device)
        writer.end_page()
    writer.close()


def fpdf2(source: Source, out: Path) -> None:
    """Write by fpdf2, with shaping."""
    from fpdf import FPDF

    document = FPDF()
    document.add_page()
    document.add_font("own", fname=str(source.file))
    document.set_font("own", size=12)
    document.set_text_shaping(True)
    wraps = "WORD" if source.language == "vi" else "CHAR"
    for line in source.paragraphs:
        rows = [line] if wraps == "WORD" or source.language == "ja" else _cut(line)
        for row in rows:
            document.multi_cell(0, 9, row, wrapmode=wraps, new_x="LMARGIN", new_y="NEXT")
    document.output(str(out))


def reportlab(source: Source, out: Path) -> None:
    """Write by reportlab, with shaping."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    name = source.file.stem
    pdfmetrics.registerFont(TTFont(name, str(source.file), shapable=True))
    style = ParagraphStyle("own", fontName=name, fontSize=12, leading=20, shaping=1)
    if source.language in ("ja", "th", "lo", "km", "my"):
        style.wordWrap = "CJK" if source.language == "ja" else None
    rows = [row for line in source.paragraphs for row in _cut(line)]
    SimpleDocTemplate(str(out)).build([Paragraph(escape(row), style) for row in rows])


def word(source: Source, out: Path) -> None:
    """Write glyph by glyph, with a map as Word makes it."""
    import uharfbuzz
    from fontTools.ttLib import TTFont

    font = TTFont(source.file)
    called = {
        font.getGlyphID(name): code for code, name in sorted(font.getBestCmap().items())[::-1]
    }
    shaper = uharfbuzz.Font(uharfbuzz.Face(source.file.read_bytes()))
    scale = 1000 / shaper.face.upem
    names: dict[int, str] = {}
    widths: dict[int, float] = {}
    lines = [
        _shown(row, shaper, uharfbuzz, called, names, widths, scale)
        for line in source.paragraphs
        for row in _cut(line)
    ]
    out.write_bytes(_by_hand(lines, source.file.read_bytes(), names, widths))


def _shown(
    row: str, shaper: Any, library: Any, called: Mapping[int, int], names: dict[int, str],
    widths: dict[int, float], scale: float,
) -> str:  # fmt: skip
    """Return a line as operands of TJ; what glyphs are called, and their widths, are added."""
    buffer = library.Buffer()
    buffer.add_str(row)
    buffer.guess_segment_properties()
    library.shape(shaper, buffer)
    infos, places = buffer.glyph_infos, buffer.glyph_positions
    begins = sorted({info.cluster for info in infos})
    ends = dict(zip(begins, [*begins[1:], len(row)], strict=True))
    out, seen = "", set[int]()
    glyphs: dict[int, list[int]] = {}
    for info in infos:
        glyphs.setdefault(info.cluster, []).append(info.codepoint)
    for info, place in zip(infos, places, strict=True):
        glyph, cluster = info.codepoint, row[info.cluster : ends[info.cluster]]
        told = [chr(called[one]) for one in glyphs[info.cluster] if one in called]
        if glyph in called:
            said = chr(called[glyph])
            said = " " if said in "\u0e4d\u0ecd" and said not in cluster else said
        else:
            for letter in told:
                cluster = cluster.replace(letter, "", 1)
            said = "" if info.cluster in seen else cluster
            seen.add(info.cluster)
        names.setdefault(glyph, said or " ")
        widths[glyph] = shaper.get_glyph_h_advance(glyph) * scale
        shift = place.x_offset * scale
        after = widths[glyph] - place.x_advance * scale + shift
        out += f"{-shift:.0f} <{glyph:04x}> {after:.0f} "
    return out


def _by_hand(
    lines: list[str], font: bytes, names: Mapping[int, str], widths: Mapping[int, float]
) -> bytes:
    """Return a PDF of lines in one font, of one page that is as long as they need."""
    height = 100 + _LEADING * len(lines)
    shown = "".join(f"[{line}] TJ T*\n" for line in lines)
    content = f"BT /F {_SIZE} Tf {_LEADING} TL 40 {height - 50} Td\n{shown}ET".encode()
    pairs = [f"<{glyph:04x}> <{said.encode('utf-16-be').hex()}>" for glyph, said in names.items()]
    parts = [pairs[place : place + 100] for place in range(0, len(pairs), 100)]
    listed = "\n".join(f"{len(one)} beginbfchar\n{chr(10).join(one)}\nendbfchar" for one in parts)
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        f"1 begincodespacerange <0000> <ffff> endcodespacerange\n{listed}\nendcmap end end"
    ).encode()
    of_glyphs = " ".join(f"{glyph} [{width:.0f}]" for glyph, width in widths.items())
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R /Resources"
        b" << /Font << /F 5 0 R >> >> >>" % (4 * _WIDTH, height),
        _stream(content),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H"
        b" /DescendantFonts [6 0 R] /ToUnicode 8 0 R >>",
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Own /CIDToGIDMap /Identity"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        b" /FontDescriptor 7 0 R /W [%s] >>" % of_glyphs.encode(),
        b"<< /Type /FontDescriptor /FontName /Own /Flags 4 /FontBBox [0 -300 1000 1000]"
        b" /Ascent 900 /Descent -300 /CapHeight 700 /StemV 80 /ItalicAngle 0 /FontFile2 9 0 R >>",
        _stream(cmap),
        _stream(font),
    ]
    out, places = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        len(out),
    )
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table) + end


def _stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    head = b"<< /Length %d /Length1 %d /Filter /FlateDecode >>" % (len(packed), len(content))
    return b"%s stream\n%s\nendstream" % (head, packed)


def _page(source: Source, url: str) -> str:
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in source.paragraphs)
    face = _FACE.format(url=url)
    return _HTML.format(language=source.language, face=face, paragraphs=paragraphs)


def _run(command: list[str], folder: str | None = None) -> None:
    subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS, cwd=folder)


WRITERS: dict[str, Callable[[Source, Path], None]] = {
    "Word": word,
    "LibreOffice": libreoffice,
    "Chromium": chromium,
    "XeLaTeX": xelatex,
    "LuaLaTeX": lualatex,
    "Typst": typst,
    "WeasyPrint": weasyprint,
    "MuPDF": pymupdf,
    "fpdf2": fpdf2,
    "reportlab": reportlab,
}
