"""Languages: their TOML files, and the detector's for all others."""

from __future__ import annotations

import pytest

from lswc.languages import LanguageError, known, language

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


def test_an_unknown_language_lists_the_known() -> None:
    with pytest.raises(LanguageError, match=r"unknown language 'xx'; known: .*\bth\b"):
        language("xx")


def test_servers_are_asked_by_each_tag_of_a_language() -> None:
    assert language("th").accepted == "th, *;q=0.5"
    assert language("zh").accepted == "zh, zh-CN, zh-TW, zh-HK, zh-Hans, zh-Hant, *;q=0.5"
