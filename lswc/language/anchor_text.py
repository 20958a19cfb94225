"""Anchor text: whether its few words are in the target language, in the light of their page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lswc.language import scripts
from lswc.language.font_encodings import myanmar
from lswc.language.scripts import MYANMAR, VIETNAMESE
from lswc.language.shares import guesses, letters_of, of_ideographs
from lswc.language.variants import variants_of
from lswc.language.vietnamese import could_be_vietnamese, is_vietnamese

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.language.registry import Language

_SHORT = 10  # characters; in a script of many languages, fewer can't tell one
_HALF = 0.5
_NAME = 4  # words at most
# A Vietnamese page's anchor texts without marks are names, or English.
_MENUS = (
    "a about all an and are as at back by can contact do download english error find for free "
    "from get help here home how if in is it last list login map menu more my news next not of on "
    "or our page policy post posted previous privacy products read register reply search see "
    "services share sign site support terms that the their this to up us use view was we welcome "
    "what with you your"
)
_ENGLISH = frozenset(_MENUS.split())
_WORD = re.compile("[a-z]+")
_FOREIGN = re.compile("[^\x00-\x7fÀ-ÃÈ-ÊÌÍÒ-ÕÙÚÝà-ãè-êìíò-õùúýĂăĐđĨĩŨũƠơƯưẠ-ỹ\\W]")


class Anchors:
    """Tells the anchor texts in one language."""

    def __init__(self, target: Language) -> None:
        self._target, self._scripts = target.code, target.scripts
        own = letters_of(target.code)
        self._letters = re.compile(f"[{re.escape(scripts.characters(*own))}]") if own else None
        self._is_target = self._how(scripts.scripts_of(target.scripts))
        self._variant = target.variant.tag if target.variant else ""
        self.may_be_ascii = self._is_target in (self._by_vietnamese, self._by_guess)

    def _how(self, classes: frozenset[int]) -> Callable[[str, str | None], bool]:
        if self._letters is not None:
            return self._by_letters
        if MYANMAR in classes:
            return self._by_myanmar
        if self._target in ("ja", "zh"):
            return self._by_ideographs
        return self._by_vietnamese if self._target == "vi" else self._by_guess

    def is_target(self, text: str, hint: str | None) -> bool:
        """Tell whether a text is in the target language; ``hint`` is its page's, or a link's."""
        return self._is_target(text, hint) and (
            not self._variant or self._may_be_variant(text, hint)
        )

    def _may_be_variant(self, text: str, hint: str | None) -> bool:
        """Tell whether nothing says that a text is in another variant than the target's."""
        known = variants_of(self._target)
        encoding = myanmar(text, hint)[1] if MYANMAR in scripts.scripts_of(self._scripts) else ""
        return known is None or known.of_words(text, encoding) in ("", self._variant)

    def _by_letters(self, text: str, _hint: str | None) -> bool:
        return not text.isascii() and self._letters is not None and bool(self._letters.search(text))

    def _by_myanmar(self, text: str, hint: str | None) -> bool:
        if text.isascii() or not scripts.count(text)[MYANMAR]:
            return False
        return myanmar(text, hint)[0] == self._target

    def _by_ideographs(self, text: str, hint: str | None) -> bool:
        return not text.isascii() and of_ideographs(text, hint) == self._target

    def _by_vietnamese(self, text: str, hint: str | None) -> bool:
        if not text.isascii():
            if scripts.count(text)[VIETNAMESE] or is_vietnamese(text):
                return True
            # On a Vietnamese page, names among its words and words run together are its own.
            return hint == "vi" and _FOREIGN.search(text) is None
        if hint != "vi":
            return False
        words = _WORD.findall(text.lower())
        return could_be_vietnamese(text) or (len(words) <= _NAME and not _ENGLISH & {*words})

    def _by_guess(self, text: str, hint: str | None) -> bool:
        if len(text) < _SHORT:
            return hint == self._target
        found = guesses(text, scripts.leading(text), hint)
        return bool(found) and found[0].language == self._target and found[0].share >= _HALF
