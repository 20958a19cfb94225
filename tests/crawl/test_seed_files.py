"""Where a crawl's seeds come from; lists of seeds as they are shipped: tests/seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.crawl.seed_files import list_of, outside, seeds_of
from lswc.errors import ConfigError
from lswc.language import registry
from lswc.language.registry import language, wanted
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from pathlib import Path


def tlds(seeds: tuple[str, ...]) -> set[str]:
    return {tld(url.hostname) for seed in seeds if (url := parse(seed)) is not None}


def test_a_variant_has_no_seeds_of_places_where_another_is_written() -> None:
    every = seeds_of(wanted("zh"), "", None)
    hant, hans = (seeds_of(wanted(tag), "", None) for tag in ("zh-Hant", "zh-Hans"))
    assert {"cn", "tw"} <= tlds(every)
    assert "cn" not in tlds(hant)
    assert "tw" in tlds(hant)
    assert "tw" not in tlds(hans)
    assert "cn" in tlds(hans)
    assert set(hant) | set(hans) == set(every)
    neither = [seed for seed in every if seed in hant and seed in hans]
    assert neither == [seed for seed in hant if seed in hans], "in their order"
    assert neither


def test_seeds_of_several_languages_stand_in_the_order_of_their_codes_each_once() -> None:
    thai, lao = (seeds_of(wanted(tag), "", None) for tag in ("th", "lo"))
    assert seeds_of(wanted("th,lo"), "", None) == tuple(dict.fromkeys(lao + thai))


def test_seeds_are_those_given_in_a_file_or_a_line(tmp_path: Path) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text("\ufeff# two\n\n http://b.example/#x \nhttp://a.example\nhttp://b.example/\n")
    given = "http://b.example/ http://a.example"
    for said in (str(file), given):
        assert seeds_of(wanted("th"), said, None) == ("http://b.example/", "http://a.example/")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("http://a.example/\nftp://a.example/", "line 2: not an http or https URL: 'ftp:"),
        ("\n\na.example", "line 3: not an http or https URL: 'a.example'"),
        ("# none", "names no URL"),
    ],
)
def test_a_mistake_in_a_file_is_named(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "seeds.txt"
    file.write_text(text)
    with pytest.raises(ConfigError, match=says) as wrong:
        seeds_of(wanted("th"), str(file), None)
    assert str(file) in str(wrong.value)


def test_a_frozen_web_has_seeds_of_a_variant_or_else_of_the_language(tmp_path: Path) -> None:
    target = wanted("zh-Hant")
    with pytest.raises(ConfigError, match=r"has no seeds-zh\.txt: give seeds with -a"):
        seeds_of(target, "", tmp_path)
    (tmp_path / "seeds-zh.txt").write_text("http://a.cn/")
    assert seeds_of(target, "", tmp_path) == ("http://a.cn/",)
    (tmp_path / "seeds-zh-Hant.txt").write_text("http://a.tw/")
    assert seeds_of(target, "", tmp_path) == ("http://a.tw/",)


def test_own_seeds_come_before_those_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "own_folder", lambda: tmp_path)
    shipped = seeds_of(wanted("th"), "", None)
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "th.txt").write_text("http://own.example/")
    assert seeds_of(wanted("th"), "", None) == ("http://own.example/",)
    assert len(shipped) > 1


def test_a_folder_of_lists_is_looked_into_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(seeds_of(wanted("cy"), "", None)) > 9, "as shipped"
    for name in ("seeds", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "cy.txt").write_text(f"http://{name}.example/  # 2026: Welsh 90%\n")
    assert seeds_of(wanted("cy"), "", None) == ("http://seeds.example/",)
    assert seeds_of(wanted("cy"), "mine", None) == ("http://mine.example/",)
    assert len(seeds_of(wanted("gd"), "mine", None)) > 9, "as shipped"


def test_without_a_list_two_lines_say_how_to_get_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="no seeds are shipped for 'fj'") as raised:
        seeds_of(wanted("fj"), "", None)
    first, second = str(raised.value).splitlines()
    assert "-a seeds=FILE" in first
    assert "lswc seeds --lang fj --from web-languages web-languages" in second


def test_languages_without_seeds_are_known() -> None:
    assert list_of(language("th")) is not None
    assert list_of(language("fj")) is None


def test_a_list_without_the_seeds_of_some_domains_keeps_its_groups(tmp_path: Path) -> None:
    (tmp_path / "th.txt").write_text(
        "# Thai\n\n# News · a · 2026-01-01\nhttp://a.co.th/  # 2026\nhttp://a.com/  # 2026\n\n"
        "# Blogs · b · 2026-01-01\nhttp://b.in.th/\n"
    )
    assert outside(tmp_path / "th.txt", {"th"}) == (
        "# News · a · 2026-01-01\nhttp://a.com/  # 2026\n"
    )
    assert outside(tmp_path / "th.txt", {"th", "com"}) == ""
