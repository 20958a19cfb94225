"""Annotations of a PDF: what fields of its form hold, and free text (ISO 32000-2 §12.5).

A page's content has neither. Importing this loads PDFium.
"""

from __future__ import annotations

import ctypes
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from pypdfium2 import PdfiumError, raw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from pypdfium2 import PdfDocument, PdfPage

ANNOTATIONS = 2_000
"""Annotations of a page that are looked at."""

_LONGEST = 200_000  # bytes of a text
# It warns of each form in XFA, which this build of PDFium doesn't show; its fields are read.
_LOG = logging.getLogger("pypdfium2")
_NOT_SEEN = raw.FPDF_ANNOT_FLAG_HIDDEN | raw.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # Table 231
_FILLED = (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)


def read_forms(document: PdfDocument) -> None:
    """Let what the fields of a document hold be read; not of a form that is broken."""
    _LOG.setLevel(logging.ERROR)
    with suppress(PdfiumError):
        document.init_forms()


def filled(document: PdfDocument, page: PdfPage) -> Iterator[str]:
    """Yield what is seen of a page's fields, and of its free texts, each without blank lines."""
    for place in range(min(raw.FPDFPage_GetAnnotCount(page), ANNOTATIONS)):
        annotation = raw.FPDFPage_GetAnnot(page, place)
        if not annotation:
            continue
        try:
            text = _text(document, annotation)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
        if text:
            yield text


def _text(document: PdfDocument, annotation: Any) -> str:
    kind = raw.FPDFAnnot_GetSubtype(annotation)
    if kind not in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT):
        return ""
    if raw.FPDFAnnot_GetFlags(annotation) & _NOT_SEEN:
        return ""
    if kind == raw.FPDF_ANNOT_FREETEXT:
        return _string(raw.FPDFAnnot_GetStringValue, annotation, b"Contents")
    form = document.formenv
    if form is None or raw.FPDFAnnot_GetFormFieldType(form, annotation) not in _FILLED:
        return ""
    if raw.FPDFAnnot_GetFormFieldFlags(form, annotation) & _PASSWORD:
        return ""
    return _string(raw.FPDFAnnot_GetFormFieldValue, form, annotation)


def _string(function: Any, *arguments: Any) -> str:
    size = function(*arguments, None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, function.argtypes[-2]), size)
    lines = buffer.raw.decode("utf-16-le", "replace").replace("\0", "").splitlines()
    return "\n".join(filter(None, map(str.strip, lines)))
