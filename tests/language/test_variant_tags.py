"""The ways in which a language is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from lswc.crawl.configuration import Crawl
from lswc.language import Identifier, registry
from lswc.language.registry import LanguageError, known, language
from lswc.strategy import PageLanguage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """Return a folder for languages, which isn't used any more after the test."""
    yield tmp_path
    registry.use("")


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ("zh-Hant", "zh-Hant"),
        ("zh-hant", "zh-Hant"),
        ("zh-TW", "zh-Hant"),
        ("zh-HK", "zh-Hant"),
        ("zh-CN", "zh-Hans"),
        ("sr-Latn", "sr-Latn"),
        ("my-x-zawgyi", "my-Qaag"),
        ("zh", "zh"),
    ],
)
def test_a_variant_is_asked_for_by_its_tags(tag: str, meant: str) -> None:
    found = language(tag)
    assert (found.tag, found.code) == (meant, meant[:2])


def test_servers_are_asked_for_the_variant_first() -> None:
    accepted = language("zh-Hant").accepted.split(", ")
    assert accepted[0] == "zh-Hant"
    assert "zh-TW" in accepted
    assert not {"zh", "zh-CN"} & set(accepted)
    assert accepted[-2:] == ["zh;q=0.8", "*;q=0.5"]


@pytest.mark.parametrize(
    ("tag", "complaint"),
    [
        ("zh-Xxxx", "known of zh: zh-Hans, zh-Hant"),
        ("th-Latn", "known of th: none"),
        ("xx-Latn", "unknown language 'xx-Latn'"),
        ("zh-", "unknown variant 'zh-'"),
    ],
)
def test_an_unknown_variant_is_a_mistake(tag: str, complaint: str) -> None:
    with pytest.raises(LanguageError, match=complaint):
        language(tag)


def test_no_tag_means_two_variants() -> None:
    tags = [tag for code in known() for v in language(code).variants for tag in v.all_tags]
    assert len(tags) == len(set(tags)) > 6
    assert not set(tags) & set(known())


def test_a_crawl_of_a_variant_has_its_own_folder_and_seeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = Settings()
    settings.setmodule("lswc.settings")
    settings.set("LSWC_CONTACT", "https://library.example/crawl")
    settings.set("LSWC_STRATEGY", "bfs")
    both, hant, hans = (Crawl.of(settings, tag) for tag in ("zh", "zh-Hant", "zh-Hans"))
    assert hant.folder.name == "zh-Hant"
    assert hant.identity["language"] == "zh-Hant"
    assert hant.headers["Accept-Language"].startswith("zh-Hant")
    assert set(hant.seeds) | set(hans.seeds) == set(both.seeds)
    of_both = [seed for seed in hans.seeds if seed in hant.seeds]
    assert any(".com/" in seed for seed in of_both)
    for seeds, own, other in ((hant.seeds, ".tw/", ".cn/"), (hans.seeds, ".cn/", ".tw/")):
        assert any(own in seed for seed in seeds)
        assert not any(other in seed for seed in seeds)


def test_a_users_own_language_may_have_variants(own: Path) -> None:
    (own / "ff.toml").write_text(
        'name = "Fula"\nscripts = ["Adlam"]\n'
        '[variants.Adlm]\nname = "Fula in Adlam"\nscripts = ["Adlam"]\n'
        '[variants.Latn]\nname = "Fula in Latin"\nscripts = ["Latin"]\n'
    )
    registry.use(str(own))
    found = Identifier(language("ff-Latn"))
    for body, variant, relevance in (
        ("𞤋𞤲𞥆𞤢𞤥𞤢 𞤢𞤣𞤫𞥅𞤶𞤭 𞤬𞤮𞤬 𞤨𞤮𞤼𞤭", "ff-Adlm", PageLanguage.OTHER),
        ("<html lang=ff-Latn><title>Ndee", "ff-Latn", PageLanguage.TARGET),
    ):
        page = found.read(body.encode(), None, "http://a.test/").identification
        assert (page.language, page.variant) == ("ff", variant)
        assert found.relevance(page) is relevance


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        ('[variants.Latn]\nname = "a"', "one of encodings, scripts, repertoire"),
        ('[variants.Latn]\nscripts = ["Latin"]', "a name is needed"),
        ('[variants.Latn]\nname = "a"\nscripts = ["Klingon"]', "no Unicode script"),
        ('[variants.Latn]\nname = "a"\nrepertoire = "nonesuch"', "no charset"),
        ('[variants.Latn]\nname = "a"\nfonts = ["b"]', "unknown entry 'fonts'"),
        ('[variants."a b"]\nname = "a"\nscripts = ["Latin"]', "BCP 47 subtag"),
        ('variants = ["Latn"]', "variants are sections"),
    ],
)
def test_a_mistake_in_a_variant_is_named(own: Path, section: str, complaint: str) -> None:
    (own / "hsb.toml").write_text(f'name = "Upper Sorbian"\n{section}\n')
    with pytest.raises(LanguageError, match=complaint):
        registry.use(str(own))
