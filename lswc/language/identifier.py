"""The one entry point: an Identifier reads pages for one target language."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from lswc.language.charset import decode
from lswc.language.default_method import LETTER, MIN_SHARE, Auto
from lswc.language.document import NOTHING, Document, Identification
from lswc.language.font_encodings import myanmar
from lswc.language.html import BOUNDS, Bounds
from lswc.language.methods import AUTO, IdentifierError, method
from lswc.language.registry import Language, Wanted
from lswc.language.shares import measure
from lswc.mishaps import LANGUAGE, LINK, Mishaps
from lswc.strategy import Anchor, PageLanguage

if TYPE_CHECKING:
    from lswc.language.document import Finding
    from lswc.language.html import ParsedLink
    from lswc.language.methods import Method

_ANCHORS = 16_384  # that are remembered, with no more characters than these
_LONGEST = 100

RELEVANT = ("contains", "leads")
"""What makes a page relevant: that it contains the target language, or that this one leads."""


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one parse of a page gives.

    ``anchors`` are the languages of the links' texts, in the order of ``links``. ``robots`` are
    the tokens of META robots in lower case, ``text`` the visible text: that outside links, then
    that of links. ``unread_links`` were too many; ``is_cut`` says that a part of the page wasn't
    looked at. ``document`` is the page itself, ``mishaps`` are errors that cost a part of it.
    """

    identification: Identification
    title: str
    links: list[ParsedLink]
    anchors: list[Anchor]
    robots: frozenset[str]
    text: str
    unread_links: int
    is_cut: bool
    document: Document
    mishaps: Mishaps


class Identifier:
    """Reads pages for a target language, or for several: then only by the default method.

    ``min_share`` is the share of the text from which on a page contains the target language;
    only the default method heeds it. ``relevant`` is one of RELEVANT. ``bounds`` say how much of a
    page is read. Raises ConfigError.
    """

    def __init__(
        self,
        target: Language | Wanted,
        method: str = AUTO,
        min_share: float = MIN_SHARE,
        bounds: Bounds = BOUNDS,
        relevant: str = "contains",
    ) -> None:
        if not 0 < min_share <= 1:
            raise IdentifierError(f"min_share must be above 0 and at most 1, not {min_share}")
        self.targets = target.languages if isinstance(target, Wanted) else (target,)
        self._tags = tuple(target.tag for target in self.targets)
        self.method = method
        self._other = None if method == AUTO else self._checked(method)
        if relevant not in RELEVANT:
            raise IdentifierError(f"unknown relevance {relevant!r}; known: {', '.join(RELEVANT)}")
        self.min_share = min_share
        self._contains = relevant == "contains"
        self._bounds = bounds
        self._auto = Auto(self.targets, min_share)
        # Menus stand on every page of a site.
        self._remembered = lru_cache(maxsize=_ANCHORS)(self._of_anchor)

    def load(self) -> None:
        """Load models and tables now (30 MB), not with the first page that needs them."""
        decode(b"\x80")
        myanmar("")
        measure("text")

    @property
    def bounds(self) -> Bounds:
        """How much of a page is read."""
        return self._bounds

    @property
    def target(self) -> Language:
        """The target language; the first, if there are several."""
        return self.targets[0]

    def _checked(self, name: str) -> Method:
        """Return a method that tells the target. Raises ConfigError."""
        found, target = method(name), self.target
        if len(self.targets) > 1:
            tags = ",".join(target.tag for target in self.targets)
            raise IdentifierError(f"method {name} finds one language only: {tags} need {AUTO}")
        found.check(target)
        if target.variant:
            raise IdentifierError(f"method {name} knows no variants: {target.tag} needs {AUTO}")
        return found

    def read(
        self, body: bytes, content_type: str | None, url: str, bounds: Bounds | None = None
    ) -> Reading:
        """Read a page: any bytes give an answer, never an exception. ``bounds`` are others."""
        return self.read_document(Document(body, content_type, url, bounds or self._bounds))

    def read_document(self, document: Document) -> Reading:
        """Read a page that was taken out of its bytes. Never fails."""
        mishaps = Mishaps()
        try:
            finding, encoding = self._identify(document)
        except Exception as error:  # of ours: the links are read all the same
            mishaps.take(LANGUAGE, error)
            finding, encoding = NOTHING, document.decoded.encoding
        identification = Identification(
            finding.language,
            encoding,
            round(finding.confidence, 3),
            finding.how,
            finding.shares,
            finding.variants,
        )
        page = document.page
        mishaps.update(page.mishaps)
        texts = [link.text for link in page.links]
        return Reading(
            identification,
            page.title,
            page.links,
            self._anchors(texts, finding, mishaps),
            page.robots,
            f"{page.content}\n{page.anchors}",
            page.unread,
            page.is_cut,
            document,
            mishaps,
        )

    def _anchors(self, texts: list[str], finding: Finding, mishaps: Mishaps) -> list[Anchor]:
        """Return the languages of links' texts."""
        remembered, link = self._remembered, self._of_anchor
        hint, in_font = finding.language, finding.how.startswith("font")
        try:
            if self._other is None and not in_font and not self._auto.may_be_ascii:
                # Most texts on most pages are.
                has_letter, of = LETTER.search, (Anchor.NONE, Anchor.OTHER)
                return [
                    of[has_letter(t) is not None]
                    if t.isascii()
                    else (remembered if len(t) <= _LONGEST else link)(t, hint, in_font)
                    for t in texts
                ]
            return [(remembered if len(t) <= _LONGEST else link)(t, hint, in_font) for t in texts]
        except Exception:  # of ours, with one of them
            return [self._anchor_or_none(text, hint, in_font, mishaps) for text in texts]

    def _anchor_or_none(
        self, text: str, hint: str | None, in_font: bool, mishaps: Mishaps
    ) -> Anchor:
        try:
            return self._of_anchor(text, hint, in_font)
        except Exception as error:
            mishaps.take(LINK, error)
            return Anchor.NONE

    def _identify(self, document: Document) -> tuple[Finding, str]:
        if self._other is None:
            return self._auto.identify(document)
        return self._other.identify(document, self.target)

    def relevance(self, identification: Identification) -> PageLanguage:
        """Return what a strategy sees of a page's language: the target, if it is any of them.

        Of a page in the target language whose variant isn't known, as little as of one whose
        language can't.
        """
        if any(self._is_in(tag, identification) for tag in self._tags):
            return PageLanguage.TARGET
        language = identification.language
        untold = {target.code for target in self.targets if target.tag != target.code}
        if language in untold and not identification.variant:
            return PageLanguage.UNKNOWN
        return PageLanguage.beside(language)

    def relevant_for(self, identification: Identification) -> list[str]:
        """Return the tags of the target languages that a page is relevant for."""
        return [tag for tag in self._tags if self._is_in(tag, identification)]

    def _is_in(self, tag: str, identification: Identification) -> bool:
        if tag in (identification.language, identification.variant):
            return True
        return self._contains and identification.share(tag) >= self.min_share

    def anchor(self, text: str, hint: str | None = None) -> Anchor:
        """Return the language of an anchor text.

        ``hint`` is the language of the page, for a text that alone can't tell.
        """
        return self._of_anchor(text, hint, False)

    def _of_anchor(self, text: str, hint: str | None, in_font: bool) -> Anchor:
        if not LETTER.search(text):
            return Anchor.NONE
        is_target = self._other.anchor(text, self.target) if self._other else None
        if is_target is None:
            is_target = self._auto.anchor(text, hint, in_font)
        return Anchor.TARGET if is_target else Anchor.OTHER
