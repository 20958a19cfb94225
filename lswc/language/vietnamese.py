"""Vietnamese by its syllables: of those that its spelling allows, few are words elsewhere.

Each syllable is written as a word of its own: an onset, one of some 150 rhymes, one of six tones.
Syllables that end in c, ch, p or t have one of two tones only (Thompson 1987, A Vietnamese
Reference Grammar, §2-3).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_ONSETS = "ngh|ng|nh|ph|th|tr|ch|gh|gi|kh|qu|b|c|d|đ|g|h|k|l|m|n|p|r|s|t|v|x"
_OPEN = (
    "a ai am an ang anh ao au ay ăm ăn ăng âm ân âng âu ây e em en eng eo ê êm ên ênh êu i ia iêm "
    "iên iêng iêu im in inh iu o oa oai oam oan oang oanh oao oay oăm oăn oăng oe oen oeo oi om on "
    "ong oong ô ôi ôm ôn ông ơ ơi ơm ơn u ua uân uâng uây uê uênh ui um un ung uôi uôm uôn uông uy "
    "uya uyn uynh uyên uyu uơ ư ưa ưi ưm ưn ưng ươi ươm ươn ương ươu ưu y yêm yên yêng yêu"
)
_STOPPED = (
    "ac ach ap at ăc ăp ăt âc âp ât ec ep et êch êp êt ich iêc iêp iêt ip it oac oach oap oat oăc "
    "oăt oc oet ooc op ot ôc ôp ôt ơp ơt uât uc uêch uôc uôp uôt up ut uych uyt uyêt ưc ươc ươp "
    "ươt ưt yêt"
)
_TONES = re.compile("[\u0300\u0301\u0303\u0309\u0323]")
_STOPPED_TONES = ("\u0301", "\u0323")
_WORD = re.compile(r"[^\W\d_]+")
_MARKED = 4  # of so many syllables one has a mark
_LONGEST = 7  # letters: nghiêng
_LEAST = 0.7  # of the words


def _pattern(rhymes: str) -> re.Pattern[str]:
    return re.compile(f"(?:{_ONSETS})?(?:{'|'.join(rhymes.split())})")


_IS_OPEN, _IS_STOPPED = _pattern(_OPEN), _pattern(_STOPPED)


def is_vietnamese(text: str) -> bool:
    """Tell whether most of a text's words are syllables, one of them with a mark."""
    words = _WORD.findall(unicodedata.normalize("NFC", text.lower()))
    syllables = [word for word in words if len(word) <= _LONGEST and is_syllable(word)]
    marked = any(not word.isascii() for word in syllables)
    return marked and len(syllables) >= _LEAST * len(words)


def share(text: str) -> float:
    """Return the share of a text's words that are syllables; 0 if none has a mark."""
    words = _WORD.findall(text.lower())
    syllables = [word for word in words if len(word) <= _LONGEST and is_syllable(word)]
    marked = sum(not word.isascii() for word in syllables)
    return len(syllables) / len(words) if marked * _MARKED > len(syllables) else 0.0


def could_be_vietnamese(text: str) -> bool:
    """Tell whether each word may be a syllable whose marks were left out."""
    words = _WORD.findall(text.lower())
    return bool(words) and all(
        len(word) <= _LONGEST and (is_syllable(word) or is_syllable(word, is_toneless=True))
        for word in words
    )


@lru_cache(maxsize=20_000)
def is_syllable(word: str, is_toneless: bool = False) -> bool:
    """Tell whether a word in lower case (NFC) is one that Vietnamese spelling allows."""
    decomposed = unicodedata.normalize("NFD", word)
    tones = _TONES.findall(decomposed)
    if len(tones) > 1:
        return False
    bare = unicodedata.normalize("NFC", _TONES.sub("", decomposed))
    if _IS_OPEN.fullmatch(bare):
        return True
    is_stopped = _IS_STOPPED.fullmatch(bare) is not None
    return is_stopped and (is_toneless or tones in ([mark] for mark in _STOPPED_TONES))
