"""Named language of a link: in its URL, or by what its page says of the target.

``/th/about.html``, ``?lang=ja``, ``ko.example.org``, ``index_fr.html``, ``hreflang="de"``: codes of
ISO 639 and names of languages, as ``lswc.language.names`` lists them. A code of two letters may
mean something else (``/it/``, ``/my/``): what naming a language is worth is for a strategy to
learn.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from lswc.language.names import LONGEST_CODE, NOBODY, codes, countries, names
from lswc.language.registry import cached_by_languages, language
from lswc.strategy import Named
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.language.registry import Variant
    from lswc.urls import Url

SEGMENT_CHARACTERS = 40
"""A segment with more characters names no language: it is a title."""

_LONGEST_ESCAPED = 9 * SEGMENT_CHARACTERS  # three bytes a character, three characters a byte
_LONGEST_ADDRESS = 500
_REMEMBERED = 8_192  # hosts, words, texts and segments: most of the others come once
_SCRIPT = 4  # letters of a script's code
_FEW_WORDS = 4
_SHORT = 12
_BRACKETED = re.compile(r"[(（\[].*")
_EXTENSION = re.compile(r"\.(?:s?html?|xhtml|php\d?|aspx?|jsp|cgi|pl|txt|xml)$")
_LOCALE = re.compile(r"([a-z]{2,3})[-_](?:([a-z]{2})|[a-z]{4}|\d{3})(?:[-_.@].*)?")
_AT_THE_END = re.compile(r"(?:^|.*[._-])([a-z]{2})[-_]([a-z]{2}|arab|cyrl|hans|hant|latn)")
# All that isn't alphanumeric in ASCII, as _BETWEEN has it, and what may stand around a name.
_BLANKS = {n: " " for n in (*range(0x80), *map(ord, "（·•")) if not chr(n).isalnum()}
_SMALL_LETTERS = bytes(ord(chr(n).lower()) if chr(n).isalnum() else ord(" ") for n in range(0x80))
_SMALL_LETTERS += bytes(range(0x80, 0x100))
_AT_ENDS = 5  # words: a code is the first, or one of the last before an extension
_BETWEEN = re.compile(r"[\s!-/:-@\[-`{-~]+")  # not \W, which vowels of Burmese or Thai are


def named(target: str, url: Url, tag: str = "", text: str = "") -> Named:
    """Return the language that a link names, as a language with the code ``target`` sees it.

    ``target`` may be a variant's tag: then a link that names another one of the same language,
    as ``/zh-cn/`` does for zh-Hant, names another language.
    ``tag`` is the link's ``hreflang``, else its ``lang``: a BCP 47 tag in lower case, or "".
    ``text`` is its anchor text, as in a menu of languages. TARGET wins over OTHER where a link
    names several, as in ``/en/th/``.
    """
    return _seen_by(target, _languages(url, tag, text), url, tag, text)


def _languages(url: Url, tag: str, text: str) -> frozenset[str]:
    """Return the languages that a link names."""
    folder, _, last = url.path.rpartition("/")
    found = _of_host(url.hostname) | _of_folder(folder)
    if tag:
        found |= _of_tag(tag)
    if _may_name(last):
        found |= _of_segment(last)
    if text and _is_named_by(text):
        found |= _of_text(text)
    if url.query and _may_say(url.query):
        for parameter in url.query.split("&"):
            found |= _of_word(parameter.partition("=")[2] or parameter)
    return found


def _seen_by(target: str, found: frozenset[str], url: Url, tag: str, text: str) -> Named:
    if not found:
        return Named.NONE
    code, is_variant, _ = target.partition("-")
    if code not in found or (is_variant and _names_other_variant(target, url, tag, text)):
        return Named.OTHER
    return Named.TARGET


def named_by(targets: Sequence[str], url: Url, tag: str = "", text: str = "") -> Named:
    """Return what ``named`` does for several languages: TARGET, if a link names any of them."""
    languages = _languages(url, tag, text)
    if not languages:
        return Named.NONE
    sees = (_seen_by(target, languages, url, tag, text) for target in targets)
    return next((named for named in sees if named != Named.OTHER), Named.OTHER)


def _names_other_variant(target: str, url: Url, tag: str, text: str) -> bool:
    below = url.hostname.removesuffix(site(url.hostname))
    address = unquote(f"{below}{url.path}?{url.query}"[:_LONGEST_ADDRESS])
    said = f"{tag} {address} {text[:SEGMENT_CHARACTERS]}".casefold().replace("_", "-")
    patterns = _variants(target)
    return not patterns[target].search(said) and any(
        pattern.search(said) for pattern in patterns.values()
    )


@cached_by_languages
def _variants(target: str) -> dict[str, re.Pattern[str]]:
    """Return what names each of the variants of the language, by its tag."""
    variants = language(target).variants
    return {variant.tag: _words_of(variant) for variant in variants}


def _words_of(variant: Variant) -> re.Pattern[str]:
    """Return a pattern of its tags and names, its script's code, and countries that stand for it.

    Names in scripts that put no blanks between words may be within others.
    """
    code, _, script = variant.tag.lower().partition("-")
    regions = {tag.partition("-")[2] for tag in variant.all_tags}
    names = {name.casefold() for name in variant.names}
    words = {script, *variant.all_tags, *(name for name in names if name.isascii())}
    words |= {region for region in regions if code in codes().get(region, NOBODY)} - {code}
    within = "".join(f"|{re.escape(name)}" for name in names if not name.isascii())
    whole = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.compile(rf"(?<![a-z0-9])(?:{whole})(?![a-z0-9]){within}")


def _of_tag(tag: str) -> frozenset[str]:
    return codes().get(tag.partition("-")[0], NOBODY)


@lru_cache(maxsize=_REMEMBERED)
def _of_host(hostname: str) -> frozenset[str]:
    """Look at the labels below the registered domain."""
    labels = hostname.removesuffix(site(hostname)).split(".")
    return NOBODY.union(*(_of_word(label) for label in labels))


@lru_cache(maxsize=_REMEMBERED)
def _of_word(word: str) -> frozenset[str]:
    """Look at what should be a code, a locale or a name as a whole."""
    if len(word) > _LONGEST_ESCAPED:
        return NOBODY
    word = unquote(word).casefold()
    if word in codes():
        return codes()[word]
    if word in names():
        return names()[word]
    locale = None if word.isalnum() else _LOCALE.fullmatch(word)
    if locale and (locale[2] is None or locale[2] in countries() or locale[2] in codes()):
        return codes().get(locale[1], NOBODY)
    return NOBODY


def _is_named_by(text: str) -> bool:
    """Tell whether an anchor text may name a language, in a fraction of the time it takes to know.

    A code stands first in it.
    """
    if len(text) > SEGMENT_CHARACTERS:
        return False
    if text.isascii():
        in_ascii = text.encode().translate(_SMALL_LETTERS).split()
        return bool(in_ascii) and (
            in_ascii[0] in _words_or_codes() or not _words_in_ascii().isdisjoint(in_ascii)
        )
    folded = text.casefold()
    words = folded.translate(_BLANKS).split()
    if words and (words[0] in codes() or not _words_of_names().isdisjoint(words)):
        return True
    return _name_within().search(folded) is not None


def _may_name(segment: str) -> bool:
    """Tell whether a segment of a path may name a language, alike.

    A code is the first word, or one of the last, before an extension and what is after a locale.
    """
    if "%" in segment or not segment.isascii():
        return True
    words = segment.encode().translate(_SMALL_LETTERS).split()
    if len(words) > _AT_ENDS:
        if not _words_in_ascii().isdisjoint(words):
            return True
        words = [words[0], *words[1 - _AT_ENDS :]]
    return not _words_or_codes().isdisjoint(words)


def _may_say(query: str) -> bool:
    """Tell whether a query may name a language, alike: each of its words may be a code."""
    if "%" in query or not query.isascii():
        return True
    return not _words_or_codes().isdisjoint(query.encode().translate(_SMALL_LETTERS).split())


@cache
def _words_in_ascii() -> frozenset[bytes]:
    return frozenset(word.encode() for word in _words_of_names() if word.isascii())


@cache
def _words_or_codes() -> frozenset[bytes]:
    return _words_in_ascii() | {code.encode() for code in codes()}


@cache
def _words_of_names() -> frozenset[str]:
    """Return the words that names of languages have."""
    return frozenset(word for name in names() for word in name.translate(_BLANKS).split())


@lru_cache(maxsize=_REMEMBERED)
def _of_text(text: str) -> frozenset[str]:
    """Look at an anchor text: "ไทย", "EN", "Português (Brasil)", "English version", "日本語版"."""
    text = " ".join(text.split()).casefold()
    if not text or len(text) > SEGMENT_CHARACTERS:
        return NOBODY
    bare = _BRACKETED.sub("", text).rstrip()
    if whole := _of_word(text.strip("[](){}<>|/·•- ")) or names().get(bare, NOBODY):
        return whole
    words = [word for word in _BETWEEN.split(text) if word]
    if len(words) <= _FEW_WORDS:
        for word in words:
            if word in names():
                return names()[word]
    return _written_together(text) if len(text) <= _SHORT else NOBODY


def _written_together(text: str) -> frozenset[str]:
    """Look for a name in a script that puts no blanks between words."""
    if text.isascii():
        return NOBODY
    within = _name_within().search(text)
    return names()[within[0]] if within else NOBODY


@cache
def _name_within() -> re.Pattern[str]:
    """Return what finds a name that has a letter beyond ASCII: the longest where one begins."""
    beyond = sorted((name for name in names() if not name.isascii()), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, beyond)))


@lru_cache(maxsize=_REMEMBERED)
def _of_folder(folder: str) -> frozenset[str]:
    return NOBODY.union(*map(_of_segment, filter(_may_name, folder.split("/"))))


@lru_cache(maxsize=_REMEMBERED)
def _of_segment(segment: str) -> frozenset[str]:
    """Look at a segment of a path: as a whole, else at its pieces.

    A name counts anywhere, a code only at either end, as in ``index_th`` or ``th-index``.
    """
    if len(segment) > _LONGEST_ESCAPED:
        return NOBODY
    segment = unquote(segment).casefold()
    if "." in segment:
        segment = _EXTENSION.sub("", segment)
    if len(segment) > SEGMENT_CHARACTERS:
        return NOBODY
    if (whole := _of_word(segment)) or segment.isalnum():
        return whole
    pieces = [piece for piece in _BETWEEN.split(segment) if piece]
    for piece in pieces:
        if piece in names():
            return names()[piece]
    locale = _AT_THE_END.fullmatch(segment)
    if locale and (len(locale[2]) == _SCRIPT or locale[2] in countries()):
        return codes().get(locale[1], NOBODY)
    if len(pieces) < 2:
        return NOBODY
    ends = (piece for piece in (pieces[-1], pieces[0]) if len(piece) <= LONGEST_CODE)
    return next((codes()[piece] for piece in ends if piece in codes()), NOBODY)
