"""Methods of the papers to tell a page's language, and three libraries, to compare and repeat.

Each is a function of a document and the target language. What the papers do for Thai is done
for the target: its charsets for TIS-620 and Windows-874, its profiles for the Thai one.
"""

from __future__ import annotations

import codecs
import re
from functools import cache
from typing import TYPE_CHECKING

from lswc.extras import require
from lswc.lab.methods import short_texts
from lswc.language.charset import canonical, decode
from lswc.language.document import NOTHING, Finding
from lswc.language.encodings import encoding
from lswc.language.evidence import languages_by_charset
from lswc.language.methods import IdentifierError, Method
from lswc.language.ngrams import RANKED, NgramTable, byte_trigrams, ranked, tables
from lswc.language.registry import cached_by_languages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lswc.language.document import Document
    from lswc.language.registry import Language


OTHER = "und"
"""Language of a page that is in another than the only one a method knows."""

_UNREGISTERED = "iso8859-11"  # at IANA, at the time of Tamura 2007
_SHORT = 25  # bytes; libtextcat says SHORT of less
_TIED = 1.05  # TextCat names all languages within 5 % of the best
_MOST_TIED = 10  # and gives up on more of them
_EXAMINED = 4_000  # bytes for the n-gram methods; Cavnar & Trenkle get by with 300
_THAI_PERCENT = 50
# Unclosed scripts, comments and tags end with the page: hostile ones would cost its square.
_MARKUP = re.compile(
    rb"<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)|<[^<>]*>?", re.IGNORECASE | re.DOTALL
)


def tamura2007(document: Document, target: Language) -> tuple[Finding, str]:
    """Tamura 2007 §2.2: the last META charset, else TextCat; UTF-8 converted and guessed again.

    The HTTP header is ignored, ISO-8859-1 as well, and so is a name that isn't registered:
    ISO-8859-11 wasn't then. Where the conversion fails, a UTF-8 profile of the target says nothing.
    Python's codecs stand for the IANA registry; a target without a charset of its own has
    nothing to convert to, and is guessed by its UTF-8 profile.
    """
    charset = _last_meta_charset(document, _UNREGISTERED)
    return _by_charset(document, target, charset) or _by_converted(document, target, charset)


def tamura2007_utf8(document: Document, target: Language) -> tuple[Finding, str]:
    """``tamura2007``, but a UTF-8 profile decides where conversion fails, and ISO-8859-11 counts.

    One dash or copyright sign of UTF-8 that the target's own charset lacks makes it fail.
    """
    charset = _last_meta_charset(document)
    found = _by_charset(document, target, charset)
    if found:
        return found
    text = _bytes_of_text(document.body)
    guess = textcat_guess(text)
    if _is_utf8(charset, guess):
        guess = _guess_converted(text, target.charsets) or guess
    return _among(guess, target, charset or "")


def somboonviwat2006(document: Document, target: Language) -> tuple[Finding, str]:
    """Somboonviwat 2006 §3.2: the language of the META charset combined with TextCat's.

    Target if either says so; if one is unknown, the other; if they differ, META.
    """
    charset = _last_meta_charset(document)
    meta = _language_of(charset) if charset else None
    guess = textcat_guess(_bytes_of_text(document.body))
    by_text, encoding = _among(guess, target, charset or "", prefer="en")
    if target.code in (meta, by_text.language):
        how = f"META {charset}" if meta == target.code else by_text.how
        return Finding(target.code, 1.0 if meta == by_text.language else 0.7, how), encoding
    if meta is None:
        return by_text, encoding
    return Finding(meta, 0.7, f"META {charset}"), encoding


def meta(document: Document, target: Language) -> tuple[Finding, str]:
    """Kumar & Sharma: the language of the charset, META's or else a detector's.

    For Thai META alone, as their detector lacked Thai.
    """
    charset = _last_meta_charset(document)
    source = "META"
    if charset is None and target.code != "th":
        charset, source = decode(_MARKUP.sub(b" ", document.body)).encoding, "detected"
    code = _language_of(charset) if charset else None
    if code is None:
        return NOTHING, charset or ""
    return Finding(code, 1.0, f"{source} {charset}"), str(charset)


def g2li(document: Document, target: Language) -> tuple[Finding, str]:
    """Mon 2010 §3.2-3.3: the language and encoding with the highest matching rate.

    The rate is the share of the text's distinct byte trigrams that the training text has;
    META is ignored. The paper doesn't state n: trigrams are what the tool's authors used
    before. Its nine Burmese encodings are here the three there was text for.
    """
    trigrams = set(byte_trigrams(_bytes_of_text(document.body)[:_EXAMINED]))
    if not trigrams:
        return NOTHING, ""
    hits, best = max(
        ((len(trigrams & trained), table) for table, trained in _trigram_sets()),
        key=lambda pair: pair[0],
    )
    how = f"matching rate of {best.language}.{best.encoding}"
    return Finding(best.language, hits / len(trigrams), how), best.encoding


def textcat(document: Document, target: Language) -> tuple[Finding, str]:
    """Cavnar & Trenkle 1994: out-of-place measure of the 400 most frequent byte n-grams."""
    return _among(textcat_guess(_bytes_of_text(document.body)), target, "")


def detected_by_langdetect(document: Document, target: Language) -> tuple[Finding, str]:
    """Ask langdetect, seeded. It lacks Burmese, Khmer and Lao."""
    import langdetect  # takes 60 MB

    page = document.page
    text = f"{page.title}\n{page.content}\n{page.anchors}"[:_EXAMINED]
    langdetect.DetectorFactory.seed = 0
    try:
        best = langdetect.detect_langs(text)[0]
    except langdetect.LangDetectException:
        return NOTHING, document.decoded.encoding
    code = best.lang.partition("-")[0]
    return Finding(code, min(1.0, best.prob), "langdetect"), document.decoded.encoding


def detected_by_pythainlp(document: Document, target: Language) -> tuple[Finding, str]:
    """Thai if at least half of the characters are (pythainlp's count_thai)."""
    from pythainlp.util import count_thai

    page = document.page
    text = f"{page.title}\n{page.content}\n{page.anchors}"
    percent = count_thai(text)
    if not text.strip():
        return NOTHING, document.decoded.encoding
    code = "th" if percent >= _THAI_PERCENT else OTHER
    return Finding(code, abs(percent - 50) / 50, "count_thai"), document.decoded.encoding


def anchor_by_words(text: str, target: Language) -> bool | None:
    """Tell whether an anchor text has a Thai word of two letters or more (Somboonviwat §4.2.4)."""
    if target.code != "th":
        return None
    from pythainlp import word_tokenize

    words = _thai_dictionary()
    return any(len(word) > 1 and word in words for word in word_tokenize(text, engine="newmm"))


def anchor_by_ngrams(text: str, target: Language) -> bool:
    """Tell whether the n-grams of an anchor text are the target's (Chan & Yamana 2010 §3).

    TextCat says SHORT of most anchors, so likelihoods decide.
    """
    return short_texts.language_of(text) == target.code


def _needs_words(target: Language) -> None:
    """Raise ConfigError if the words of a target's anchor texts isn't known."""
    if target.code == "th":
        require("lab", "pythainlp")


def _needs_thai(target: Language) -> None:
    """Raise IdentifierError for another target than Thai, ConfigError without the library."""
    if target.code != "th":
        raise IdentifierError(f"method pythainlp tells Thai only, not {target.code}")
    require("lab", "pythainlp")


METHODS = {
    "tamura2007": Method(tamura2007),
    "tamura2007_utf8": Method(tamura2007_utf8),
    "somboonviwat2006": Method(somboonviwat2006, _needs_words, anchor_by_words),
    "meta": Method(meta),
    "g2li": Method(g2li),
    "textcat": Method(textcat, anchor=anchor_by_ngrams),
    "langdetect": Method(detected_by_langdetect, lambda target: require("lab", "langdetect")),
    "pythainlp": Method(detected_by_pythainlp, _needs_thai, anchor_by_words),
}
"""The methods by the names that ``LSWC_IDENTIFIER`` gives them."""


def textcat_guess(text: bytes) -> list[NgramTable]:
    """Return TextCat's answer, best first; empty where it says UNKNOWN or SHORT."""
    profile = {ngram: rank for rank, ngram in enumerate(ranked(text[:_EXAMINED]))}
    if len(text.strip()) < _SHORT or not profile:
        return []
    distances = sorted(
        ((_distance(profile, ranks), table) for table, ranks in _profiles()),
        key=lambda pair: pair[0],
    )
    tied = [table for distance, table in distances if distance <= distances[0][0] * _TIED]
    return tied if len(tied) <= _MOST_TIED else []


def _distance(profile: dict[str, int], ranks: dict[str, int]) -> int:
    """Return the out-of-place measure (Cavnar & Trenkle 1994 §3.2)."""
    get = ranks.get
    return sum(
        abs(rank - other) if (other := get(ngram)) is not None else RANKED
        for ngram, rank in profile.items()
    )


def _among(
    guess: list[NgramTable], target: Language, charset: str, prefer: str = ""
) -> tuple[Finding, str]:
    """Choose from TextCat's answers: the target, else a preferred language, else the first."""
    for wanted in (target.code, prefer):
        for table in guess:
            if table.language == wanted:
                return Finding(wanted, 1 / len(guess), "TextCat"), charset or table.encoding
    if not guess:
        return NOTHING, charset
    return Finding(guess[0].language, 1 / len(guess), "TextCat"), charset or guess[0].encoding


def _by_charset(
    document: Document, target: Language, charset: str | None
) -> tuple[Finding, str] | None:
    """Answer by the META charset; None without one, and for UTF-8, which is of no language."""
    if charset in (None, "utf-8"):
        return None
    code = target.code if charset in _charsets(target) else _language_of(str(charset))
    return Finding(code or OTHER, 1.0, f"META {charset}"), str(charset)


def _by_converted(document: Document, target: Language, charset: str | None) -> tuple[Finding, str]:
    """Answer by TextCat; of UTF-8 converted to the target's own charset, if it has one."""
    text = _bytes_of_text(document.body)
    guess = textcat_guess(text)
    own = [name for name in target.charsets if _codec(name) not in (None, _UNREGISTERED)]
    if own and _is_utf8(charset, guess):
        converted = _guess_converted(text, own)
        guess = [t for t in guess if t.language != target.code] if converted is None else converted
    return _among(guess, target, charset or "")


def _is_utf8(charset: str | None, guess: list[NgramTable]) -> bool:
    return charset == "utf-8" or any(table.encoding == "utf-8" for table in guess)


def _guess_converted(text: bytes, charsets: Iterable[str]) -> list[NgramTable] | None:
    """Guess again after converting UTF-8 to one of these charsets; None if that fails."""
    for charset in charsets:
        try:
            return textcat_guess(text.decode("utf-8").encode(charset))
        except (UnicodeError, LookupError):
            continue
    return None


def _last_meta_charset(document: Document, unregistered: str = "") -> str | None:
    """Return the last charset named by a META, unless it's Latin-1 or not registered."""
    label = document.page.charset
    if encoding(label) is None:
        return None
    codec = _codec(label)
    if codec is None:
        return label if label in ("tis-620", "windows-874", "x-sjis") else None
    return None if codec in ("iso8859-1", unregistered) else canonical(label)


def _codec(label: str) -> str | None:
    try:
        return codecs.lookup(label).name
    except LookupError:
        return None


def _bytes_of_text(body: bytes) -> bytes:
    return _MARKUP.sub(b" ", body)


@cache
def _charsets(target: Language) -> frozenset[str]:
    return frozenset(canonical(charset) for charset in target.charsets)


def _language_of(charset: str) -> str | None:
    """Return the language that a charset is used for alone; ASCII counts as English."""
    return "en" if charset == "ascii" else languages_by_charset().get(charset)


@cached_by_languages
def _profiles() -> list[tuple[NgramTable, dict[str, int]]]:
    return [(t, {ngram: rank for rank, ngram in enumerate(t.ranked)}) for t in tables()]


@cached_by_languages
def _trigram_sets() -> list[tuple[NgramTable, set[str]]]:
    return [(table, set(table.trigrams)) for table in tables()]


@cache
def _thai_dictionary() -> frozenset[str]:
    from pythainlp.corpus import thai_words

    return frozenset(thai_words())
