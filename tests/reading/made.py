"""Documents as programs write them, as small as they may be, made by hand."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_CORE = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_DC = "http://purl.org/dc/elements/1.1/"
_OPEN = "urn:oasis:names:tc:opendocument:xmlns:"


def pdf(
    pages: Sequence[Sequence[str]] = (("",),),
    *,
    title: str = "",
    lang: str = "",
    links: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    mapped: bool = True,
    extra: str = "",
    stream: bytes | None = None,
    producer: str = "",
) -> bytes:
    """Return a PDF of pages, each of lines, whose glyphs a ToUnicode map names.

    ``names`` maps letters to those that the map calls them, ``mapped`` False leaves it out.
    ``links`` are annotations of the first page, ``extra`` goes into the catalog, ``stream`` is the
    content of the first page as it is.
    """
    letters = sorted({letter for page in pages for line in page for letter in line})
    codes = {letter: number for number, letter in enumerate(letters, 0x21)}
    called = names or {}
    pairs = "".join(
        f"<{codes[one]:04x}> <{called.get(one, one).encode('utf-16-be').hex()}>\n"
        for one in letters
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{pairs}endbfchar endcmap end end"
    )
    to_unicode = " /ToUnicode 5 0 R" if mapped else ""
    objects: dict[int, bytes] = {
        3: f"<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H"
        f" /DescendantFonts [4 0 R]{to_unicode} >>".encode(),
        4: b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW 500 /CIDSystemInfo"
        b" << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor 6 0 R >>",
        5: _stream(cmap.encode()),
        6: b"<< /Type /FontDescriptor /FontName /A /Flags 4 /FontBBox [0 0 1000 1000] /Ascent 800"
        b" /Descent -200 /CapHeight 700 /StemV 80 /ItalicAngle 0 >>",
        7: b"<< /Title %s /Producer %s >>" % (_string(title), _string(producer)),
    }
    kids, number = [], 8
    annotations = []
    for row, link in enumerate(links):
        box = f"50 {700 - 14 * row} 500 {712 - 14 * row}"
        target = link.replace("(", r"\(").replace(")", r"\)")
        objects[number] = (
            f"<< /Type /Annot /Subtype /Link /Rect [{box}] /A << /S /URI /URI ({target}) >> >>"
        ).encode()
        annotations.append(f"{number} 0 R")
        number += 1
    for place, page in enumerate(pages):
        content = _lines(page, codes) if stream is None or place else stream
        objects[number] = _stream(content)
        annots = f" /Annots [{' '.join(annotations)}]" if annotations and not place else ""
        objects[number + 1] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {number} 0 R{annots}"
            " /Resources << /Font << /F 3 0 R >> >> >>"
        ).encode()
        kids.append(f"{number + 1} 0 R")
        number += 2
    named = f" /Lang ({lang})" if lang else ""
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R{named} {extra} >>".encode()
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    return _file(objects)


def _lines(lines: Sequence[str], codes: Mapping[str, int]) -> bytes:
    shown = []
    for row, line in enumerate(lines):
        text = "".join(f"{codes[letter]:04x}" for letter in line)
        shown.append(f"BT /F 10 Tf 50 {702 - 14 * row} Td <{text}> Tj ET")
    return "\n".join(shown).encode()


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def _string(text: str) -> bytes:
    return b"<feff" + text.encode("utf-16-be").hex().encode() + b">"


def _file(objects: Mapping[int, bytes], trailer: str = "") -> bytes:
    out, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), {}
    for number, content in sorted(objects.items()):
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start, size = len(out), max(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        out += b"%010d 00000 n \n" % places.get(number, 0)
    out += f"trailer << /Size {size} /Root 1 0 R /Info 7 0 R {trailer} >>\n".encode()
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def encrypted_pdf() -> bytes:
    """Return a PDF that needs a password which nobody knows."""
    secret = "ab" * 32
    trailer = (
        f"/Encrypt << /Filter /Standard /V 1 /R 2 /O <{secret}> /U <{secret}> /P -4 >>"
        " /ID [<00> <00>]"
    )
    made = pdf([["secret"]])
    return made.replace(b"/Info 7 0 R", b"/Info 7 0 R " + trailer.encode())


def docx(
    body: str = "",
    *,
    title: str = "",
    lang: str = "",
    links: Mapping[str, str] | None = None,
    chunks: Mapping[str, str] | None = None,
    parts: Mapping[str, bytes] | None = None,
    packed: int = ZIP_DEFLATED,
) -> bytes:
    """Return a Word file of ``body``, XML of WordprocessingML; ``links`` are its relationships.

    ``chunks`` are names of ``parts``, by ids. Parts that are notes are related to.
    """
    relations = "".join(
        f'<Relationship Id="{id_}" Type="{_R}/hyperlink" Target={quoteattr(to)}'
        ' TargetMode="External"/>'
        for id_, to in (links or {}).items()
    )
    inner = {"footnotes": "footnotes.xml", "endnotes": "endnotes.xml"} | dict(chunks or {})
    relations += "".join(
        f'<Relationship Id="{id_}" Type="{_R}/{id_ if id_ not in (chunks or {}) else "aFChunk"}"'
        f" Target={quoteattr(to)}/>"
        for id_, to in inner.items()
        if f"word/{to.strip('/')}" in (parts or {})
    )
    files = {
        "[Content_Types].xml": '<Types xmlns="x"/>',
        "_rels/.rels": f'<Relationships xmlns="{_RELS}"><Relationship Id="m" Target='
        f'"word/document.xml" Type="{_R}/officeDocument"/></Relationships>',
        "docProps/core.xml": _about(title, lang),
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELS}">{relations}'
        "</Relationships>",
        "word/document.xml": f'<w:document xmlns:w="{_W}" xmlns:r="{_R}"><w:body>{body}</w:body>'
        "</w:document>",
    }
    return zipped({**{n: t.encode() for n, t in files.items()}, **(parts or {})}, packed)


def _about(title: str, lang: str = "") -> str:
    return (
        f'<cp:coreProperties xmlns:cp="{_CORE}" xmlns:dc="{_DC}"><dc:title>{escape(title)}'
        f"</dc:title><dc:language>{lang}</dc:language></cp:coreProperties>"
    )


def paragraph(text: str, within: str = "") -> str:
    """Return a paragraph of a Word file; ``within`` are properties of its run."""
    return f"<w:p><w:r><w:rPr>{within}</w:rPr><w:t>{escape(text)}</w:t></w:r></w:p>"


def odt(
    body: str = "", *, title: str = "", lang: str = "", parts: Mapping[str, bytes] | None = None
) -> bytes:
    """Return an OpenDocument text of ``body``, XML of ``office:text``."""
    office = (
        f'xmlns:office="{_OPEN}office:1.0" xmlns:text="{_OPEN}text:1.0" xmlns:dc="{_DC}"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    files = {
        "mimetype": "application/vnd.oasis.opendocument.text",
        "content.xml": f"<office:document-content {office}><office:body><office:text>{body}"
        "</office:text></office:body></office:document-content>",
        "meta.xml": f"<office:document-meta {office}><office:meta><dc:title>{escape(title)}"
        f"</dc:title><dc:language>{lang}</dc:language></office:meta></office:document-meta>",
    }
    return zipped({**{n: t.encode() for n, t in files.items()}, **(parts or {})}, ZIP_STORED)


_A = "http://schemas.openxmlformats.org/drawingml/2006/main"


def pptx(
    *slides: str,
    title: str = "",
    links: Mapping[str, str] | None = None,
    lang: str = "th-TH",
    parts: Mapping[str, bytes] | None = None,
) -> bytes:
    """Return a PowerPoint file of slides, each of a paragraph; ``links`` are of the first."""
    files = {
        "[Content_Types].xml": b'<Types xmlns="x"/>',
        "docProps/core.xml": _about(title).encode(),
        "ppt/slides/_rels/slide1.xml.rels": _hyperlinks(links or {}),
    }
    for number, text in reversed([*enumerate(slides, 1)]):
        files[f"ppt/slides/slide{number}.xml"] = (
            f'<p:sld xmlns:p="p" xmlns:a="{_A}"><a:p><a:r><a:rPr lang="{lang}"/><a:t>'
            f"{escape(text)}</a:t></a:r></a:p></p:sld>"
        ).encode()
    return zipped({**files, **(parts or {})})


def xlsx(
    *shared: str,
    inline: str = "",
    formula: str = "",
    title: str = "",
    links: Mapping[str, str] | None = None,
) -> bytes:
    """Return an Excel file with shared texts, if any, one in its cell, and a formula's."""
    texts = "".join(f"<si><t>{escape(one)}</t><rPh><t>sound</t></rPh></si>" for one in shared)
    sheet = (
        f"<worksheet><row><c><v>7</v></c><c><is><t>{escape(inline)}</t></is></c>"
        f'<c t="str"><f>A1</f><v>{escape(formula)}</v></c><c t="s"><v>0</v></c></row></worksheet>'
    )
    return zipped({
        "[Content_Types].xml": b'<Types xmlns="x"/>',
        "docProps/core.xml": _about(title).encode(),
        **({"xl/sharedStrings.xml": f"<sst>{texts}</sst>".encode()} if shared else {}),
        "xl/worksheets/sheet1.xml": sheet.encode(),
        "xl/worksheets/_rels/sheet1.xml.rels": _hyperlinks(links or {}),
    })  # fmt: skip


def _hyperlinks(links: Mapping[str, str]) -> bytes:
    rows = (
        f'<Relationship Id="{id_}" Type="{_R}/hyperlink" Target={quoteattr(to)}/>'
        for id_, to in links.items()
    )
    return f'<Relationships xmlns="{_RELS}">{"".join(rows)}</Relationships>'.encode()


def epub(
    *pages: str, title: str = "", lang: str = "", parts: Mapping[str, bytes] | None = None
) -> bytes:
    """Return a book of pages, each the content of a body."""
    names = [f"page{number}.xhtml" for number in range(len(pages))]
    items = "".join(f'<item id="{name}" href="{name}"/>' for name in names)
    order = "".join(f'<itemref idref="{name}"/>' for name in names)
    package = (
        f'<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="{_DC}"><dc:title>'
        f"{escape(title)}</dc:title><dc:language>{lang}</dc:language></metadata><manifest>{items}"
        f"</manifest><spine>{order}</spine></package>"
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/package.opf"/></rootfiles></container>'
    )
    head = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "x.dtd"><html><body>'
    files = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": container.encode(),
        "OPS/package.opf": package.encode(),
        **{
            f"OPS/{name}": f"{head}{page}</body></html>".encode()
            for name, page in zip(names, pages, strict=True)
        },
    }
    return zipped({**files, **(parts or {})}, ZIP_STORED)


def rtf(content: str) -> bytes:
    """Return an RTF file of a content, in a font of Thai's charset."""
    return (
        b"{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0\\fcharset222 Angsana;}}\\f0 "
        + content.encode()
        + b"}"
    )


def workbook(
    sheets: Mapping[str, str], shared: Sequence[str] = (), hidden: Sequence[str] = ()
) -> bytes:
    """Return an Excel file of sheets, XML of their rows by the names of their parts, in order."""
    texts = "".join(f"<si><t>{escape(one)}</t></si>" for one in shared)
    listed, relations = "", ""
    for number, name in enumerate(sheets):
        state = ' state="veryHidden"' if name in hidden else ""
        listed += f'<sheet name="{number}"{state} r:id="r{number}"/>'
        relations += f'<Relationship Id="r{number}" Type="{_R}/worksheet" Target="{name}"/>'
    rels = f'<Relationships xmlns="{_RELS}">{relations}</Relationships>'
    return zipped({
        "[Content_Types].xml": b'<Types xmlns="x"/>',
        "xl/workbook.xml": f'<workbook xmlns:r="{_R}">{listed}</workbook>'.encode(),
        "xl/_rels/workbook.xml.rels": rels.encode(),
        "xl/sharedStrings.xml": f"<sst>{texts}</sst>".encode(),
        **{f"xl/{name}": f"<x>{rows}</x>".encode() for name, rows in sheets.items()},
    })  # fmt: skip


def unzipped(body: bytes) -> dict[str, bytes]:
    """Return the files of a zip."""
    with ZipFile(BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(files: Mapping[str, bytes], packed: int = ZIP_DEFLATED) -> bytes:
    """Return a zip file."""
    out = BytesIO()
    with ZipFile(out, "w", packed) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()
