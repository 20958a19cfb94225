"""``lswc languages``: what is known of each, and what to do where something lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from lswc.cli.language_facts import BY_CLD2, BY_LETTERS, BY_TABLE, docs_page, every, facts, lines
from lswc.crawl.seed_files import read_seeds
from lswc.language import registry
from lswc.language.registry import known, language
from tests.scenarios.site import SCRAPY, run

ROOT = Path(__file__).parents[2]


def test_each_language_has_its_facts() -> None:
    found = {one.language.code: one for one in every()}
    assert set(found) == set(known())
    assert {one.told_by for one in found.values()} == {BY_LETTERS, BY_TABLE, BY_CLD2}
    told = {code: found[code].told_by for code in ("th", "ja", "my", "cy", "ar", "sr")}
    assert told == {
        "th": BY_LETTERS, "ja": BY_LETTERS, "my": BY_TABLE, "cy": BY_CLD2, "ar": BY_CLD2,
        "sr": BY_CLD2,
    }  # fmt: skip
    for one in found.values():
        assert one.measured is None or max(one.measured[:2]) <= 100
        assert all(map(registry.is_script, one.scripts)), one.language.code
        path = ROOT / "seeds" / f"{one.language.code}.txt"
        assert one.seeds == (len(read_seeds(path)) if path.exists() else 0)


def test_all_of_one_language_and_what_to_do_where_something_lacks() -> None:
    said = lines(facts(language("cy")))
    assert said["name"] == "Welsh, Cymraeg"
    assert said["countries"] == "GB (.uk)"
    assert said["seeds"].endswith(", seeds/cy.txt")
    lacking = lines(facts(language("fj")))
    assert "lswc seeds --lang fj --from web-languages" in lacking["seeds"]
    unmeasured = lines(facts(language("ckb")))
    assert "lswc identify --evaluate" in unmeasured["200 characters"]


def test_a_users_own_language(tmp_path: Path) -> None:
    (tmp_path / "kmr.toml").write_text('name = "Kurmanji"\nscripts = ["Latin"]\n')
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "kmr.txt").write_text("http://a.example/\n")
    registry.use(str(tmp_path))
    try:
        own = facts(language("kmr"))
        assert (own.told_by, own.seeds, own.measured) == (BY_TABLE, 1, None)
    finally:
        registry.use("")


def test_the_page_in_docs_is_made_from_the_same() -> None:
    assert (ROOT / "docs" / "lab" / "language-list.md").read_text("utf-8") == docs_page()


@pytest.mark.parametrize(("asked", "said"), [("cymraeg", "Welsh"), ("zulu", "zu"), ("th", "Thai")])
def test_one_is_found_by_its_code_or_either_name(asked: str, said: str) -> None:
    done = run([*SCRAPY, "languages", asked])
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "identified by" in done.stdout
