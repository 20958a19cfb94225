"""The one entry point: an Identifier reads pages for one target language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.langid.auto import LETTER, MIN_SHARE, Auto
from lswc.langid.document import Document, Identification
from lswc.strategy import Anchor, PageLanguage

if TYPE_CHECKING:
    from lswc.languages import Language

METHODS = ("auto",)


class IdentifierError(ValueError):
    """Unknown method, or a share out of range; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link as found: absolute URL, its anchor text and that text's language."""

    url: str
    anchor_text: str
    anchor: Anchor
    nofollow: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one parse of a page gives.

    ``robots`` are the tokens of META robots in lower case, ``text_length`` the characters
    of visible text.
    """

    identification: Identification
    title: str
    links: list[RawLink]
    robots: frozenset[str]
    text_length: int


class Identifier:
    """Reads pages for one target language.

    ``min_share`` is the share of the text from which on a page counts as written in the
    target language. Raises IdentifierError.
    """

    def __init__(
        self, target: Language, method: str = "auto", min_share: float = MIN_SHARE
    ) -> None:
        if method not in METHODS:
            raise IdentifierError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
        if not 0 < min_share <= 1:
            raise IdentifierError(f"min_share must be above 0 and at most 1, not {min_share}")
        self.target = target
        self.method = method
        self.min_share = min_share
        self._auto = Auto(target, min_share)

    def read(self, body: bytes, content_type: str | None, url: str) -> Reading:
        """Read a page: any bytes give an answer, never an exception."""
        document = Document(body, content_type, url)
        finding, encoding = self._auto.identify(document)
        identification = Identification(finding.language, encoding, finding.confidence, finding.how)
        page = document.page
        links = [
            RawLink(link.url, link.text, self.anchor(link.text, finding.language), link.nofollow)
            for link in page.links
        ]
        length = len(page.content) + len(page.anchors)
        return Reading(identification, page.title, links, page.robots, length)

    def relevance(self, identification: Identification) -> PageLanguage:
        """Return what a strategy sees of a page's language."""
        if identification.language == self.target.code:
            return PageLanguage.TARGET
        if identification.language is None:
            return PageLanguage.UNKNOWN
        return PageLanguage.ENGLISH if identification.language == "en" else PageLanguage.OTHER

    def anchor(self, text: str, hint: str | None = None) -> Anchor:
        """Return the language of an anchor text.

        ``hint`` is the language of the page, for a text that alone can't tell.
        """
        if not LETTER.search(text):
            return Anchor.NONE
        return Anchor.TARGET if self._auto.anchor(text, hint) else Anchor.OTHER
