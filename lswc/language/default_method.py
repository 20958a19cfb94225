"""The default method: letters and CLD2 give shares of the text, a fitted model weighs all evidence.

Measured against eight language detectors, the share of letters was at least as good for
every language with a script of its own, and ten times faster (docs/lab/languages.md).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lswc.language import evidence, scripts, vietnamese
from lswc.language.anchor_text import Anchors
from lswc.language.document import NOTHING, Finding, Shares
from lswc.language.evidence import ENOUGH, SMALLEST, SOURCES, Data, declared
from lswc.language.font_encodings import Fonts
from lswc.language.registry import detectable
from lswc.language.shares import Measured, measure, weight
from lswc.language.variants import variants_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.language.document import Document
    from lswc.language.html import ParsedPage
    from lswc.language.registry import Language

MIN_SHARE = 0.15
"""Share of the text from which on a page contains the target language (docs/lab/languages.md)."""

_CONTENT_SHARE = 0.2  # of all letters; then fewer decide alone as well
_HALF = 0.5
_MUCH = 600.0  # letters: so many decide alone, however unsure they are
_EXAMINED = 40_000  # characters
_SURE = 0.9  # confidence in another language that spares a look at fonts
_SPELT = 2_000  # characters whose words are looked at
_SYLLABLES = 0.7  # of the words of Vietnamese text
LETTER = re.compile(r"[^\W\d_]")
# With what each must hold: most text hasn't, which is found out far faster.
_ADDRESSES = (
    ("://", re.compile(r"https?://[^\s<>\"']+")),
    ("www.", re.compile(r"www\.[^\s<>\"']+")),
)
_SOURCE = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,500}>|!\[CDATA\[)")  # markup in a feed's text
_NAME = re.compile(
    r"\S{0,100}(?:@|\.(?:html?|php|aspx?|com|org|net|io|js|jpe?g|png|gif|pdf)\b)\S{0,100}"
)
# Lines that stand on pages of any language.
_BOILERPLATE = re.compile(
    r"^.*(?:java ?script|cookies|powered by|all rights reserved|copyright|©|loading|redirecting"
    r"|just a moment|checking your browser|not found|forbidden|index of /|untitled|react app"
    r"|vite app|vite \+ |next\.?js|nuxt|welcome to nginx|it works!|document).*$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_BOILERPLATE = 120
_NOT_ENGLISH = re.compile("[^\x00-\xbf\u2000-\u2bff\u3000-\u303f\uff00-\uff65]")
_SIGNS = b"-{}()[];:=<>_/\\$#*+|&.\"'`@%^~"
_MANY_SIGNS = 0.06  # of code's characters


class Weighed(NamedTuple):
    """The text that decides, what it is written in, and what else speaks for a language.

    ``own`` if the text is without that of links.
    """

    text: str
    measured: Measured
    declared: dict[str, str]
    own: bool


def weigh(document: Document) -> Weighed:
    """Take a page's own text if there is enough of it, else that of its links as well."""
    page, says = document.page, declared(document)
    hint = says.get("lang") or says.get("locale") or says.get("charset")
    own = _clean(f"{page.title}\n{_prose(page)}"[:_EXAMINED])
    han = says.get("charset")
    measured = measure(own, hint, han)
    if measured.total >= _MUCH or (measured.total >= ENOUGH and _is_clear(measured)):
        return Weighed(own, measured, says, True)
    anchors = weight(scripts.count(page.anchors[:_EXAMINED]).tolist())
    total = measured.total + anchors
    few = _CONTENT_SHARE if _is_clear(measured) else _HALF
    if total >= ENOUGH and measured.total >= few * total:
        return Weighed(own, measured, says, True)
    text = f"{own}\n{_clean(page.anchors)}"[:_EXAMINED]
    if total < ENOUGH:
        data = Data(document.utf8)
        if data.language:
            says["data"] = data.language
        text = _without_boilerplate(f"{text}\n{page.hints}\n{data.text}"[:_EXAMINED])
    return Weighed(text, measure(text, hint, han), says, False)


def _is_clear(measured: Measured) -> bool:
    """Tell whether a text's language is sure: that of a list of names and titles often isn't."""
    return any(
        share >= _HALF and measured.certainty[code] >= _SURE
        for code, share in measured.shares.items()
    )


def _prose(page: ParsedPage) -> str:
    """Return a page's text without its code, of which the letters are English on any page.

    What stands in PRE as it was typed, letters and poems, is no code: that has signs.
    """
    if page.prose is None:
        return page.content
    code = len(page.content) - len(page.prose)
    signs = _signs(page.content) - _signs(page.prose)
    return page.prose if signs > _MANY_SIGNS * code else page.content


def _signs(text: str) -> int:
    body = text.encode("utf-8", "replace")
    return len(body) - len(body.translate(None, _SIGNS))


def _clean(text: str) -> str:
    """Return text without addresses and markup."""
    if "<" in text:
        text = _SOURCE.sub(" ", text)
    for sign, address in _ADDRESSES:
        if sign in text:
            text = address.sub(" ", text)
    return text


def _without_boilerplate(text: str) -> str:
    return _NAME.sub(" ", _BOILERPLATE.sub(_unless_real, text))


def _unless_real(line: re.Match[str]) -> str:
    """Return a line that speaks of JavaScript or cookies only if it tells its language."""
    is_real = len(line[0]) > _LONGEST_BOILERPLATE or _NOT_ENGLISH.search(line[0])
    return line[0] if is_real else ""


class Auto:
    """The default method for the target languages."""

    def __init__(self, targets: Sequence[Language], min_share: float) -> None:
        self._targets = tuple(dict.fromkeys(target.code for target in targets))
        self._min_share = min_share
        fonts = {target.code: Fonts(target.code, target.fonts) for target in targets}
        self._fonts = {code: font for code, font in fonts.items() if font}
        self._anchors = [Anchors(target) for target in targets]
        self.may_be_ascii = any(anchors.may_be_ascii for anchors in self._anchors)

    def identify(self, document: Document) -> tuple[Finding, str]:
        """Return what a page is written in, and the encoding. Any bytes give an answer."""
        weighed = weigh(document)
        finding, encoding = self._weighed(weighed), document.decoded.encoding
        finding = finding._replace(variants=self._variants(document, weighed, finding.language))
        other = finding.language not in self._targets and finding.confidence < _SURE
        may_be_in_font = other or self._is_misread(document, weighed)
        if may_be_in_font and self._fonts and weighed.measured.is_latin:
            for code in self._fonts:
                in_font = self._by_font(document, finding, code)
                if in_font is not None:
                    return in_font
        name = weighed.measured.encoding
        return finding, name if name not in ("", "utf-8") else encoding

    def _weighed(self, weighed: Weighed) -> Finding:
        candidates = evidence.candidates(weighed.measured, weighed.declared)
        likely = evidence.probabilities(candidates)
        likely = evidence.doubted(likely, weighed.measured, weighed.declared)
        best, confidence, shares = evidence.leading(likely, weighed.measured)
        if best is None:
            return NOTHING._replace(shares=shares)
        return Finding(best, confidence, _how(best, weighed), shares)

    def _is_misread(self, document: Document, weighed: Weighed) -> bool:
        """Tell whether Vietnamese was read in another charset than its own.

        The detector takes any of eight bits for Windows-1258; then few of its words are syllables.
        """
        if "vi" not in self._targets or document.decoded.how != "detector":
            return False
        return vietnamese.share(weighed.text[:_SPELT]) < _SYLLABLES

    def _variants(self, document: Document, weighed: Weighed, leading: str | None) -> Shares:
        """Return the shares of the variants of the language that leads, and of the targets."""
        measured = weighed.measured
        found: Shares = ()
        for code in dict.fromkeys((leading, *self._targets)):
            known = variants_of(code) if code else None
            if code and known and (code == leading or code in measured.shares):
                declared = known.declared(document)
                found += known.shares(code, weighed.text, measured, measured.encoding, declared)
        return found

    def _by_font(
        self, document: Document, finding: Finding, code: str
    ) -> tuple[Finding, str] | None:
        """Return what a page is in one of the fonts of a language, None if it isn't."""
        fonts = self._fonts[code]
        page = document.as_windows_1252()
        text = page.content if len(page.content) >= ENOUGH else f"{page.content}\n{page.anchors}"
        match, name = fonts.match(text), fonts.named(document.body)
        if match is not None and match.share >= self._min_share:
            how = f"font n-grams: {match.encoding}" + (f", font {name}" if name else "")
            share = min(1.0, match.share)
            encoding = match.encoding if match.encoding != "unmarked" else document.decoded.encoding
            shares = ((code, round(share, 3)),)
            variants = _in_font(code, encoding, share)
            return Finding(code, share, how, shares, variants), encoding
        if name is not None and finding.confidence < 0.5 and len(text) >= ENOUGH:
            encoding = name.lower().replace(" ", "-")
            variants = _in_font(code, encoding, 0.0)
            return Finding(code, 0.5, f"font {name}", (), variants), encoding
        return None

    def anchor(self, text: str, hint: str | None, in_font: bool) -> bool:
        """Tell whether an anchor text is in a target language, in the light of its page's.

        ``in_font`` says that the page was identified by a font.
        """
        if any(anchors.is_target(text, hint) for anchors in self._anchors):
            return True
        return in_font and any(fonts.match(text) is not None for fonts in self._fonts.values())


def _in_font(code: str, encoding: str, share: float) -> Shares:
    known = variants_of(code)
    tag = known.of_font(encoding) if known else ""
    return ((tag, round(share, 3)),) if tag else ()


def _how(code: str, weighed: Weighed) -> str:
    """Say by what evidence a page is in a language."""
    measured, says = weighed.measured, weighed.declared
    if code in measured.by_letters and measured.shares[code] >= SMALLEST:
        if measured.letters[scripts.MYANMAR] and measured.encoding:
            return f"Myanmar n-grams: {code}, {measured.encoding}"
        return f"letters of {code}"
    if measured.shares.get(code, 0.0) >= SMALLEST:
        return "cld2" if code in detectable() else f"n-grams of {code}"
    where = ", ".join(source for source in SOURCES if says.get(source) == code)
    return f"declared: {where}"
