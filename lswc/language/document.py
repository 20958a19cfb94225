"""Document: a page on its way to an answer, and the answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

from lswc.language.charset import Decoded, decode
from lswc.language.html import BOUNDS, Bounds, ParsedPage, flattened, parse
from lswc.language.large_pages import reduced
from lswc.language.xhtml import as_html
from lswc.safety.content_types import is_xhtml

if TYPE_CHECKING:
    from lswc.language.registry import Language

Shares = tuple[tuple[str, float], ...]
"""Languages, or their variants, and how much of a text is in each."""


class Finding(NamedTuple):
    """A language, how sure, by what evidence, and the languages' shares of the text.

    ``variants`` are the shares of their variants, by BCP 47 tag.
    """

    language: str | None
    confidence: float
    how: str
    shares: Shares = ()
    variants: Shares = ()


NOTHING = Finding(None, 0.0, "nothing")
"""The answer where nothing tells a language."""


@dataclass(frozen=True, slots=True)
class Identification:
    """What a page is written in.

    ``language`` is the ISO 639 code of the language that leads, None if it isn't known.
    ``encoding`` is a WHATWG name, or that of a font's encoding such as zawgyi-one.
    ``confidence`` is the probability from 0 to 1 that the language is right. ``how`` says by
    what evidence. ``shares`` are the languages of the text and their shares of it, the largest
    first; what is missing to 1 isn't known. ``variants`` are the shares of the text in the
    variants of its languages, by BCP 47 tag, as far as these are known.
    """

    language: str | None
    encoding: str
    confidence: float
    how: str
    shares: Shares = ()
    variants: Shares = ()

    @property
    def variant(self) -> str:
        """The variant that the language is written in, by BCP 47 tag; "" if it isn't known."""
        return next(iter(self.variants_of(self.language or "")), "")

    def wanted(self, target: Language) -> str | None:
        """Return the language, or its variant if that is what ``target`` asks for and it is known.

        It equals the target's tag for what is written so.
        """
        is_variant = target.variant and self.language == target.code
        return (self.variant if is_variant else "") or self.language

    def variants_of(self, code: str) -> dict[str, float]:
        """Return the shares of a language's variants, the largest first."""
        return {tag: share for tag, share in self.variants if tag.startswith(f"{code}-")}

    def share(self, code: str) -> float:
        """Return the share of the text that is in a language, or in one of its variants."""
        return dict(self.shares + self.variants).get(code, 0.0)


class Document:
    """A page's bytes, decoded and parsed once, when first asked for."""

    def __init__(
        self, body: bytes, content_type: str | None, url: str, bounds: Bounds = BOUNDS
    ) -> None:
        is_large = len(body) > bounds.size
        self.body, self._lost, self.is_cut = (
            reduced(body, bounds.size) if is_large else (body, 0, False)
        )
        self._bounds = bounds
        self.content_type = content_type
        self.url = url

    @cached_property
    def decoded(self) -> Decoded:
        """The text, its charset, and how that was found."""
        return decode(self.body, self.content_type)

    @cached_property
    def utf8(self) -> bytes:
        """The page in UTF-8; one that is served as XML as HTML."""
        decoded = self.decoded
        source = self.body if decoded.is_utf8 else decoded.text.encode("utf-8", "replace")
        is_html = self.content_type is not None and self.content_type.startswith("text/html")
        is_xml = not is_html and is_xhtml(self.content_type or "", self.body)
        return as_html(source) if is_xml else source

    @cached_property
    def markup(self) -> bytes:
        """The page in UTF-8, without what would hold a parser."""
        return flattened(self.utf8, self._bounds)

    @cached_property
    def page(self) -> ParsedPage:
        """The parsed page. What was cut off before it was parsed counts as unread."""
        page = parse(self.utf8, self.url, self.decoded.encoding, self._bounds, self.markup)
        if self.is_cut:
            page = page._replace(unread=page.unread + self._lost, is_cut=True)
        return page

    def as_windows_1252(self) -> ParsedPage:
        """Parse the page as fonts with an encoding of their own want it read."""
        if not self.decoded.encoding.startswith(("windows-125", "iso-8859", "x-")):
            return self.page
        text = self.body.decode("cp1252", "replace")
        return parse(text.encode("utf-8", "replace"), self.url, bounds=self._bounds)


class TextDocument(Document):
    """A document that isn't HTML: ``page`` is what was read of it.

    ``decoded`` is how plain text was read of its ``body``; None for a format that says itself what
    its letters are.
    """

    def __init__(
        self,
        page: ParsedPage,
        url: str,
        body: bytes = b"",
        decoded: Decoded | None = None,
        bounds: Bounds = BOUNDS,
    ) -> None:
        text = f"{page.title}\n{page.content}"
        super().__init__(body if decoded else text.encode("utf-8", "replace"), None, url, bounds)
        self.decoded = decoded or Decoded(text, "utf-8", "content", True)
        self.page = page

    @override
    def as_windows_1252(self) -> ParsedPage:
        """Return the text as fonts with an encoding of their own want it read."""
        if not self.decoded.encoding.startswith(("windows-125", "iso-8859", "x-")):
            return self.page
        return self.page._replace(content=self.body.decode("cp1252", "replace"))
