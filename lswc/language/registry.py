"""Registry of the languages that lswc can collect, and the tags that they are called by.

There is one TOML file each, and whatever else the detector knows. A user's own are in a folder
outside the package, LSWC_LANGUAGES: ``<code>.toml``, and if there are any ``seeds/<code>.txt`` and
``tables/<code>.<encoding>.json``. Codes are of ISO 639-1 where there is one, else of 639-3.
"""

from __future__ import annotations

import codecs
import re
import tomllib
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

import pycld2
from fontTools import unicodedata

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from importlib.resources.abc import Traversable

# CLD2 keeps codes that ISO 639 withdrew; its Kurdish is Sorani, in Arabic script; and pages in
# Nynorsk say that they are Norwegian.
RENAMED = {"iw": "he", "jw": "jv", "ku": "ckb", "nn": "no"}
"""Languages that CLD2 calls otherwise."""

_JOKES = frozenset({"tlh", "zzp"})  # Klingon and Pig Latin
_CODE = re.compile(r"[a-z]{2,3}")
_SUBTAG = re.compile(r"[A-Za-z0-9]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_TLD = re.compile(r"[a-z0-9-]+")
_NEAREST = 3  # names that are proposed where somebody may mean one
_own: list[Path] = []

_P = ParamSpec("_P")
_T = TypeVar("_T")
_caches: list[Callable[[], None]] = []


def cached_by_languages(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Cache what follows from the languages that there are: until ``use`` takes in others."""
    cached = cache(function)
    _caches.append(cached.cache_clear)
    return cast("Callable[_P, _T]", cached)


class LanguageError(ConfigError):
    """No such language, or a mistake in a user's own; the message says what is right."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A way in which a language is written, by its BCP 47 tag, such as ``zh-Hant``.

    It is known by one of three: ``encodings`` that nothing else is written in; ``scripts``; or the
    ``repertoire`` of a charset, of which those characters count that no other variant's has.
    ``charsets`` are used for it alone, ``tlds`` are the language's that are rather its own,
    ``tags`` others that mean the same, ``names`` what menus call it.
    """

    tag: str
    name: str
    encodings: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    repertoire: str = ""
    charsets: tuple[str, ...] = ()
    tlds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def all_tags(self) -> frozenset[str]:
        """All tags that mean this variant, in lower case."""
        return frozenset(tag.lower() for tag in (self.tag, *self.tags))


@dataclass(frozen=True, slots=True)
class Language:
    """A language to collect.

    ``code`` is ISO 639. ``scripts`` are Unicode script names, ``charsets`` WHATWG or IANA
    names of charsets that are used for this language alone, ``tlds`` top-level domains in
    their ASCII form, ``fonts`` names of fonts with an encoding of their own, ``tags`` the BCP 47
    tags to ask servers by, if the code isn't the only one. The last five may be empty. A script
    that no other language has tells this one. ``variants`` are the ways it is written in, and
    ``variant`` the one that is asked for, if only one is. ``quotas`` are what is taken of a server
    or a registered domain by default, by the names in QUOTAS, if the settings' own defaults don't
    suit the size of its web.
    """

    code: str
    name: str
    scripts: tuple[str, ...] = ()
    charsets: tuple[str, ...] = ()
    tlds: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = ()
    variant: Variant | None = None
    quotas: tuple[tuple[str, int], ...] = ()

    @property
    def tag(self) -> str:
        """The BCP 47 tag of what is asked for: the variant's, else the code."""
        return self.variant.tag if self.variant else self.code

    @property
    def accepted(self) -> str:
        """What to ask servers for in Accept-Language (RFC 9110 §12.5.4): this, else anything."""
        if self.variant:
            wanted = [self.variant.tag, *self.variant.tags, f"{self.code};q=0.8"]
        else:
            wanted = list(self.tags or (self.code,))
        return ", ".join([*wanted, _ANYTHING])

    def only(self, variant: Variant) -> Language:
        """Return the language in one of its variants, named after that."""
        tlds = variant.tlds or self.tlds
        return replace(self, name=variant.name, tlds=tlds, variant=variant)


class Wanted(NamedTuple):
    """The languages that one crawl collects, in the order of their tags."""

    languages: tuple[Language, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each."""
        return tuple(language.tag for language in self.languages)

    @property
    def tag(self) -> str:
        """All tags: ``th``, or ``lo,th``."""
        return ",".join(self.tags)

    @property
    def name(self) -> str:
        """What files and folders are named after."""
        return "-".join(self.tags)

    @property
    def tlds(self) -> frozenset[str]:
        """The top-level domains of any of them."""
        return frozenset(tld for language in self.languages for tld in language.tlds)

    def quota(self, name: str, default: float) -> float:
        """Return the largest that is taken by default for any of them; 0 is any number."""
        found = [dict(language.quotas).get(name, default) for language in self.languages]
        return max(found) if all(found) else 0

    @property
    def accepted(self) -> str:
        """What to ask servers for in Accept-Language: any of them alike, else anything."""
        wanted = [language.accepted.removesuffix(f", {_ANYTHING}") for language in self.languages]
        return ", ".join([*wanted, _ANYTHING])


QUOTAS = ("server_pages", "server_bytes", "domain_pages", "domain_bytes")
"""Names of quotas; the settings are called LSWC_MAX_SERVER_PAGES and so on."""

_ANYTHING = "*;q=0.5"
_LISTS = ("scripts", "charsets", "tlds", "fonts", "tags")
_VARIANT_LISTS = ("encodings", "scripts", "charsets", "tlds", "tags", "names")


def use(folder: str) -> None:
    """Take a user's own languages as well, for the rest of this process; "" for none.

    One of the same code as one of ours replaces it. Raises LanguageError.
    """
    own = [Path(folder)] if folder else []
    if own == _own:
        return
    for path in own:
        if not path.is_dir():
            raise LanguageError(f"LSWC_LANGUAGES: no such folder: {path}")
        if not any(path.glob("*.toml")):
            raise LanguageError(f"LSWC_LANGUAGES: no <code>.toml in {path}")
        _read_folder(path)
    _own[:] = own
    for clear in _caches:
        clear()


def own_folder() -> Path | None:
    """Return the folder of the user's own languages, if any."""
    return _own[0] if _own else None


def language(tag: str) -> Language:
    """Return the language of an ISO 639 code such as ``th``, or of a variant's tag: ``zh-Hant``.

    Raises LanguageError.
    """
    languages = _languages()
    if tag in languages:
        return languages[tag]
    code, mark, _ = tag.partition("-")
    if not mark or code not in languages:
        raise LanguageError(f"unknown language {tag!r}: {_nearest(tag, languages)}")
    known_variants = languages[code].variants
    for variant in known_variants:
        if tag.lower() in variant.all_tags:
            return languages[code].only(variant)
    tags = ", ".join(variant.tag for variant in known_variants) or "none"
    raise LanguageError(f"unknown variant {tag!r}; known of {code}: {tags}")


def wanted(tags: str) -> Wanted:
    """Return the languages of a list such as ``th`` or ``th,lo``. Raises LanguageError."""
    found = {known.tag: known for known in map(language, filter(None, _listed(tags)))}
    if not found:
        raise LanguageError(f"{tags!r} names no language: write ISO 639 codes, such as th,lo")
    return Wanted(tuple(found[tag] for tag in sorted(found)))


def _listed(tags: str) -> list[str]:
    return [tag.strip() for tag in tags.split(",")]


def _nearest(tag: str, languages: Mapping[str, Language]) -> str:
    """Say which languages somebody may mean, by their codes and their English names."""
    spelt = {known.name.lower(): code for code, known in languages.items()}
    near = get_close_matches(tag.lower(), [*spelt, *languages], _NEAREST)
    codes = dict.fromkeys(spelt.get(name, name) for name in near)
    if not codes:
        return f"write an ISO 639 code, such as th or ja; {len(languages)} are known"
    return "do you mean " + ", ".join(f"{code} ({languages[code].name})" for code in codes) + "?"


def known() -> tuple[str, ...]:
    """Return the codes of all languages, sorted."""
    return tuple(_languages())


def has_file(code: str) -> bool:
    """Tell whether a language has a file of its own, ours or the user's."""
    return is_known(code) and (
        code not in rarer_languages() | detectable()
        or any(code in _read_folder(folder) for folder in _own)
    )


def is_known(code: str) -> bool:
    """Tell whether there is a language of that code."""
    return code in _languages()


@cached_by_languages
def _languages() -> dict[str, Language]:
    named = rarer_languages() | detectable()
    languages = {code: Language(code, name) for code, name in named.items()}
    for folder in (files("lswc.language") / "data", *_own):
        languages |= _read_folder(folder)
    return dict(sorted(languages.items()))


def _read_folder(folder: Traversable) -> dict[str, Language]:
    return {
        entry.code: entry
        for file in folder.iterdir()
        if file.name.endswith(".toml")
        for entry in [_read(file)]
    }


def _read(file: Traversable) -> Language:
    """Read a language's file. Raises LanguageError."""
    code = file.name.removesuffix(".toml")
    if not _CODE.fullmatch(code):
        raise LanguageError(f"{file}: name it <code>.toml, with an ISO 639 code such as hsb")
    try:
        entry = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise LanguageError(f"{file}: {error}") from error
    wrong = _mistake(entry)
    if wrong:
        raise LanguageError(f"{file}: {wrong}")
    variants = tuple(_variant(code, *item) for item in entry.get("variants", {}).items())
    quotas = tuple(entry.get("quotas", {}).items())
    return Language(code, entry["name"], **_lists(entry, _LISTS), variants=variants, quotas=quotas)


def _variant(code: str, subtag: str, entry: dict[str, Any]) -> Variant:
    repertoire, lists = entry.get("repertoire", ""), _lists(entry, _VARIANT_LISTS)
    return Variant(f"{code}-{subtag}", entry["name"], repertoire=repertoire, **lists)


def _lists(entry: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: tuple(entry[name]) for name in names if name in entry}


def _mistake(entry: dict[str, Any]) -> str | None:
    """Say what is wrong with the entries of a language's file, if anything is."""
    variants = entry.get("variants", {})
    if not isinstance(variants, dict):
        return "variants are sections: [variants.Hant]"
    wrong = _mistake_within(entry, _LISTS, ("variants", "quotas")) or _wrong_quota(
        entry.get("quotas", {})
    )
    for subtag, variant in variants.items():
        if not isinstance(variant, dict) or _SUBTAG.fullmatch(subtag) is None:
            return f"variant {subtag!r}: a section with a BCP 47 subtag, such as [variants.Hant]"
        wrong = wrong or _mistake_within(variant, _VARIANT_LISTS, ("repertoire",))
        repertoire = variant.get("repertoire", "utf-8")
        if not isinstance(repertoire, str) or not is_charset(repertoire):
            wrong = wrong or f"{repertoire!r} is no charset that Python knows"
        if not {"encodings", "scripts", "repertoire"} & set(variant):
            wrong = wrong or f"variant {subtag}: one of encodings, scripts, repertoire tells it"
    return wrong


def _mistake_within(
    entry: dict[str, Any], lists: tuple[str, ...], others: tuple[str, ...]
) -> str | None:
    for key, value in entry.items():
        if key not in ("name", *lists, *others):
            return f"unknown entry {key!r}; known: name, {', '.join((*lists, *others))}"
        if key in lists and not (isinstance(value, list) and all(map(_is_text, value))):
            return f'{key} must be a list of texts, such as ["..."]'
    if not _is_text(entry.get("name")):
        return 'a name is needed: name = "..."'
    for values, is_right, what in (
        (entry.get("scripts", []), is_script, "Unicode script, such as Latin or Ol_Chiki"),
        (entry.get("tlds", []), _TLD.fullmatch, "top-level domain, such as th or xn--o3cw4h"),
    ):
        for value in values:
            if not is_right(value):
                return f"{value!r} is no {what}"
    return None


def _wrong_quota(quotas: object) -> str | None:
    if not isinstance(quotas, dict):
        return "quotas are a section: [quotas]"
    for name, most in quotas.items():
        if name not in QUOTAS:
            return f"unknown quota {name!r}; known: {', '.join(QUOTAS)}"
        if type(most) is not int or most < 0:
            return f"quota {name} must be a whole number, 0 for any, not {most!r}"
    return None


def is_charset(name: str) -> bool:
    """Tell whether Python has a codec of that name; fonts' encodings have none."""
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def is_script(name: str) -> bool:
    """Tell whether Unicode has a script of that name (UAX #24)."""
    return unicodedata.script_code(name, None) is not None


@cache
def detectable() -> dict[str, str]:
    """Return code and name of the languages CLD2 detects."""
    detected = {name.upper() for name in pycld2.DETECTED_LANGUAGES}
    return {
        RENAMED.get(code, code): name.replace("_", " ").title()
        for name, code in reversed(pycld2.LANGUAGES)  # Norwegian is before Nynorsk
        # Its entries with a hyphen are scripts.
        if name.upper() in detected and code.isalpha() and code not in _JOKES
    }


@cache
def rarer_languages() -> dict[str, str]:
    """Return code and name of the languages that CLD2 lacks and lswc.language.rarer tells."""
    text = (files("lswc.language") / "rarer.toml").read_text("utf-8")
    return dict(tomllib.loads(text))


_PAIRS = """
aar aa abk ab afr af aka ak amh am ara ar arb ar asm as aym ay ayr ay aze az azj az bak ba bel be
bul bg bis bi ben bn bod bo bre br bos bs cat ca cos co ces cs cze cs cym cy dan da deu de ger de
div dv dzo dz ell el gre el eng en epo eo spa es est et eus eu fas fa pes fa per fa fin fi fij fj
fao fo fra fr fre fr fry fy gle ga gla gd glg gl grn gn gug gn guj gu glv gv hau ha heb he hin hi
hrv hr hat ht hun hu hye hy ina ia ind id ile ie ibo ig ipk ik isl is ita it iku iu ike iu jpn ja
jav jv kat ka kaz kk kal kl khm km kan kn kor ko kas ks kur ku kmr ku kir ky lat la ltz lb lug lg
lin ln lao lo lit lt lav lv lvs lv mlg mg plt mg mri mi mkd mk mal ml mon mn khk mn mar mr msa ms
zlm ms zsm ms mlt mt mya my bur my nau na nep ne npi ne nld nl dut nl nor no nob no nb no
nbl nr nya ny oci oc orm om gaz om ori or ory or pan pa pol pl pus ps pbu ps por pt que qu quz qu
quy qu roh rm run rn ron ro rum ro rus ru kin rw san sa snd sd sag sg sin si slk sk slv sl smo sm
sna sn som so sqi sq als sq srp sr ssw ss sot st sun su swe sv swa sw swh sw tam ta tel te tgk tg
tha th tir ti tuk tk tgl tl fil tl tsn tn ton to tur tr tso ts tat tt uig ug ukr uk urd ur uzb uz
uzn uz ven ve vie vi vol vo wol wo xho xh yid yi ydd yi yor yo zha za zho zh chi zh cmn zh yue zh
zul zu iw he in id jw jv arg an ava av che ce chv cv cor kw ido io kom kv lim li oss os srd sc
sme se wln wa
"""
# Languages within one that is known (the macrolanguages of ISO 639-3), and what is written for one.
_WITHIN = """
ak fat twi; ar aao abh abv acm acq acw acx acy adf aeb aec afb apc apd arq ars ary arz auz avl
ayh ayl ayn ayp ajp pga shu ssh; ay ayr ayc; az azb azj; bh bho mai mag; el grc; et ekk; fa prs
pes; gn gug gui gun gnw nhd; hmn hnj mww hmd hmv blu; ik esi esk; iu ikt; lv ltg; mg bhr bmm bzc
msh skg tdx tkg txy xmv xmw; mn mvf; ne dty; om gax gaz hae orc; or spv; ps pbt pst; qu qub qud
quf qug quh quk qul qup qur qus quw qux qva qvc qve qvh qvi qvj qvl qvm qvn qvo qvp qvs qvw qvz
qwa qwc qwh qws qxa qxc qxh qxl qxn qxo qxp qxr qxt qxu qxw; sa cls vsn; sq aae aat aln; fy fri;
ms mly; no nn nno; oc lnc; syr aii cld; yi yih; zh lzh wuu gan; za ccx ccy zch zeh zgb zgm zgn
zhd zhn zlj zln zlq zqe zyb zyg zyj zyn zzj
"""
# What pages write that is no code of ISO 639, or another language's than they mean.
_MEANT = "jp ja cn zh tw zh kr ko vn vi"
_LONGEST = 40  # characters of a tag
_SUBTAGS = re.compile("[-_.]")
_OWN_CODES = dict(zip(*[iter(f"{_PAIRS} {_MEANT}".split())] * 2, strict=True))
_CODES: dict[str, str] = {
    member: code for code, *members in map(str.split, _WITHIN.split(";")) for member in members
} | _OWN_CODES


_THREE: dict[str, str] = {}
for _three, _two in zip(*[iter(_PAIRS.split())] * 2, strict=True):
    if len(_three) > len(_two):
        _THREE.setdefault(_two, _three)


@cache
def three_letters(code: str) -> str:
    """Return the code of ISO 639-3 for one that lswc uses, by which web archives know it."""
    return _THREE.get(code, code)


def is_within_another(code: str) -> bool:
    """Tell whether a code is a language's that counts as the one that it is within, as dialects."""
    return code in _CODES and code not in _OWN_CODES


def known_code(tag: str) -> str | None:
    """Return the code of a language tag, None if no such language is known."""
    code = code_of(tag)
    return code if is_known(code) else None


def code_of(tag: str) -> str:
    """Return the code of a language tag (BCP 47, RFC 5646), or of what is often written for one.

    Region and script are left out. A language within one that is known counts as that, if it isn't
    one of the user's own; Norwegian Bokmål counts as Norwegian, Mandarin and Cantonese as
    Chinese, each as they are written. A tag that isn't known is returned without its subtags.
    """
    given = tag.strip()[:_LONGEST].lower()
    if _own:
        own = _SUBTAGS.split(given, maxsplit=1)[0]
        if is_known(own) and own not in detectable():
            return own  # the user's, perhaps within one that we have
    return _code_of(given)


@lru_cache(maxsize=1_000)
def _code_of(tag: str) -> str:
    code = _SUBTAGS.split(tag, maxsplit=1)[0]
    return _CODES.get(code, code)
