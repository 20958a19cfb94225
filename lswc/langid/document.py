"""A page on its way to an answer, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from lswc.langid.bounds import BOUNDS, Bounds
from lswc.langid.encoding import Decoded, decode
from lswc.langid.page import Page, parse


@dataclass(frozen=True, slots=True)
class Identification:
    """What a page is written in.

    ``language`` is an ISO 639 code, None if it can't be told. ``encoding`` is a WHATWG
    name, or that of a font's encoding such as zawgyi-one. ``confidence`` is from 0 to 1.
    ``how`` says by what evidence.
    """

    language: str | None
    encoding: str
    confidence: float
    how: str


class Document:
    """A page's bytes, decoded and parsed once, when first asked for."""

    def __init__(
        self, body: bytes, content_type: str | None, url: str, bounds: Bounds = BOUNDS
    ) -> None:
        self.body = body[: bounds.size]
        self.is_cut = len(body) > bounds.size
        self._bounds = bounds
        self.content_type = content_type
        self.url = url

    @cached_property
    def decoded(self) -> Decoded:
        """The text, its charset, and how that was found."""
        return decode(self.body, self.content_type)

    @cached_property
    def page(self) -> Page:
        """The parsed page."""
        decoded = self.decoded
        source = self.body if decoded.is_utf8 else decoded.text.encode("utf-8", "replace")
        return parse(source, self.url, decoded.encoding, self._bounds)

    def as_windows_1252(self) -> Page:
        """Parse the page as fonts with an encoding of their own want it read."""
        if not self.decoded.encoding.startswith(("windows-125", "iso-8859", "x-")):
            return self.page
        text = self.body.decode("cp1252", "replace")
        return parse(text.encode("utf-8", "replace"), self.url, bounds=self._bounds)
