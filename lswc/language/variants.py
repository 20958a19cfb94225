"""Variants that a language is written in: zh-Hans or zh-Hant, sr-Cyrl or sr-Latn."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from lswc.language import scripts
from lswc.language.charset import canonical
from lswc.language.registry import cached_by_languages, language
from lswc.language.scripts import HANGUL, HIRAGANA, KATAKANA, LATIN

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from lswc.language.document import Document, Shares
    from lswc.language.registry import Variant
    from lswc.language.shares import Measured

_DECLARED = 0.5  # characters that a declaration counts for: it decides where no character does
_SENTENCE = re.compile("[\n。！？]")
_JAPANESE_OR_KOREAN = re.compile("[\u3041-\u30fa\uac00-\ud7a3]")
_BMP = 0x10000


class Variants:
    """Tells the variants of one language from each other."""

    def __init__(self, variants: tuple[Variant, ...]) -> None:
        self._variants = variants
        self._by_encoding = {name: v.tag for v in variants for name in v.encodings}
        self._by_script = {
            script: v.tag for v in variants for script in scripts.scripts_of(v.scripts)
        }
        self._classes = _classes(variants)

    def shares(
        self, code: str, text: str, measured: Measured, encoding: str, declared: str
    ) -> Shares:
        """Return the share of a text in each variant, the largest first; empty if none is known.

        ``encoding`` is the page's or a font's, ``declared`` the tag that the page declares. By the
        characters that only one of the variants has, or by script.
        """
        whole = measured.shares.get(code, 0.0)
        if encoding in self._by_encoding:
            return ((self._by_encoding[encoding], round(whole, 3)),)
        amounts: dict[str, float] = dict(self._by_characters(text, measured))
        for script, amount in measured.by_script.get(code, {}).items():
            if script in self._by_script:
                amounts[self._by_script[script]] = amount
        if declared:
            amounts[declared] = amounts.get(declared, 0.0) + _DECLARED
        total = sum(amounts.values())
        largest = sorted(amounts, key=lambda tag: -amounts[tag])
        return tuple((tag, round(whole * amounts[tag] / total, 3)) for tag in largest)

    def of_font(self, encoding: str) -> str:
        """Return the variant of text in a font for Latin letters, "" if there is none."""
        return self._by_encoding.get(encoding) or self._by_script.get(LATIN, "")

    def of_words(self, text: str, encoding: str) -> str:
        """Return the tag of the variant of a few words, or "" if nothing tells it."""
        if encoding in self._by_encoding:
            return self._by_encoding[encoding]
        amounts = self._count(text)
        letters = scripts.count(text)
        for script, tag in self._by_script.items():
            amounts[tag] += int(letters[list(scripts.with_parts(frozenset({script})))].sum())
        return max(amounts, key=amounts.__getitem__) if amounts.total() else ""

    def declared(self, document: Document) -> str:
        """Return the tag of the variant that a page declares: by a tag, charset or domain."""
        page, charset = document.page, document.decoded.encoding
        address = document.url[:500].lower().replace("_", "-")
        host = address.partition("//")[2].partition("/")[0].partition(":")[0]
        named = (
            *(self._of_tag(tag) for tag in (page.lang, page.locale)),
            self._first(v for v in self._variants if charset in map(canonical, v.charsets)),
            self._first(v for v in self._variants if _is_named(v, address)),
            self._first(v for v in self._variants if host.rpartition(".")[2] in v.tlds),
        )
        return next(filter(None, named), "")

    def _of_tag(self, tag: str) -> str:
        tag = f"{tag.replace('_', '-')}-"
        return self._first(
            v for v in self._variants if any(tag.startswith(f"{own}-") for own in v.all_tags)
        )

    @staticmethod
    def _first(found: Iterable[Variant]) -> str:
        return next((variant.tag for variant in found), "")

    def _by_characters(self, text: str, measured: Measured) -> Counter[str]:
        if any(measured.letters[kind] for kind in (HIRAGANA, KATAKANA, HANGUL)):
            sentences = _SENTENCE.split(text)
            text = "".join(s for s in sentences if _JAPANESE_OR_KOREAN.search(s) is None)
        return self._count(text)

    def _count(self, text: str) -> Counter[str]:
        if self._classes is None or text.isascii():
            return Counter()
        units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
        counts = np.bincount(self._classes[units], minlength=len(self._variants) + 1)[1:]
        tags = (variant.tag for variant in self._variants)
        return Counter({tag: n for tag, n in zip(tags, counts.tolist(), strict=True) if n})


def _is_named(variant: Variant, address: str) -> bool:
    return any(
        re.search(rf"[^a-z0-9]{re.escape(tag)}(?![a-z0-9])", address) for tag in variant.all_tags
    )


def _classes(variants: tuple[Variant, ...]) -> npt.NDArray[np.uint8] | None:
    """Return the number of the variant that alone has a character, for each; 0 for no such one."""
    sets = [scripts.repertoire(v.repertoire) if v.repertoire else set() for v in variants]
    if not any(sets):
        return None
    table = np.zeros(_BMP, np.uint8)
    for number, characters in enumerate(sets, 1):
        others = set().union(*(other for other in sets if other is not characters))
        table[[ord(c) for c in characters - others if c.isalpha() and ord(c) < _BMP]] = number
    return table


@cached_by_languages
def variants_of(code: str) -> Variants | None:
    """Return what tells the variants of a language; None if it has none."""
    variants = language(code).variants
    return Variants(variants) if variants else None
