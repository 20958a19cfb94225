"""Languages: their TOML files, and the detector's for all others."""

from __future__ import annotations

import pytest

from lswc.language.registry import (
    LanguageError,
    code_of,
    known,
    known_code,
    language,
    wanted,
)

OURS = ("th", "my", "lo", "km", "vi", "ja", "ko", "zh")


@pytest.mark.parametrize("code", OURS)
def test_a_language_with_a_file_has_scripts_and_domains(code: str) -> None:
    entry = language(code)
    assert entry.code == code
    assert entry.scripts
    assert entry.tlds
    assert all(tld == tld.lower() and not tld.startswith(".") for tld in entry.tlds)


def test_any_language_of_the_detector_is_known() -> None:
    assert language("sw").name == "Swahili"
    assert language("he").name == "Hebrew"
    assert {*OURS, "en", "de"} <= set(known())


def test_no_charset_belongs_to_two_languages() -> None:
    charsets = [charset for code in known() for charset in language(code).charsets]
    assert len(charsets) == len(set(charsets))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("thai", r"do you mean th \(Thai\)"),
        ("Burmese", r"do you mean my \(Burmese\)"),
        ("tha", r"th \(Thai\)"),
        ("qqq", "write an ISO 639 code, such as th or ja"),
    ],
)
def test_of_an_unknown_language_the_nearest_are_named(given: str, says: str) -> None:
    with pytest.raises(LanguageError, match=f"unknown language '{given}': .*{says}") as raised:
        language(given)
    assert len(str(raised.value)) < 150


def test_several_languages_are_one_wish() -> None:
    both = wanted(" th,zh-Hant, th,")
    assert (both.tag, both.name) == ("th,zh-Hant", "th-zh-Hant")
    assert wanted("zh-Hant,th") == both
    assert both.accepted == "th, zh-Hant, zh-TW, zh-HK, zh-MO, zh;q=0.8, *;q=0.5"
    assert {"th", "tw"} <= both.tlds
    assert wanted("th").accepted == language("th").accepted
    with pytest.raises(LanguageError, match="unknown language 'tai'"):
        wanted("th,tai")
    with pytest.raises(LanguageError, match="names no language"):
        wanted(" ,")


def test_servers_are_asked_by_each_tag_of_a_language() -> None:
    assert language("th").accepted == "th, *;q=0.5"
    assert language("zh").accepted == "zh, zh-CN, zh-TW, zh-HK, zh-Hans, zh-Hant, *;q=0.5"


@pytest.mark.parametrize(
    ("tag", "code"),
    [("arz", "ar"), ("bho", "bh"), ("grc", "el"), ("hnj", "hmn"), ("als", "sq"), ("twi", "ak")],
)
def test_a_language_within_one_that_is_known_counts_as_that(tag: str, code: str) -> None:
    assert (code_of(tag), known_code(tag.upper())) == (code, code)
