"""The reference pages of docs/ are what the code says."""

from __future__ import annotations

from pathlib import Path

import pytest

from lswc import settings
from lswc.cli.reference import page, pages, sections

ROOT = Path(__file__).parents[2]
SOURCE = Path(settings.__file__).read_text(encoding="utf-8")
ALL = [setting for section in sections(SOURCE) for setting in section.settings]


def test_the_pages_are_up_to_date() -> None:
    made = pages()
    written = {name: (ROOT / "docs" / name).read_text(encoding="utf-8") for name in made}
    assert made == written, "run: python -m lswc.cli.reference docs"


def test_it_has_every_setting_once() -> None:
    assert sorted(name for name, _, _ in ALL) == sorted(n for n in dir(settings) if n.isupper())


@pytest.mark.parametrize(("name", "meaning"), [(name, meaning) for name, _, meaning in ALL])
def test_a_setting_of_our_own_has_a_sentence(name: str, meaning: str) -> None:
    assert meaning.endswith(".") or not name.startswith("LSWC_")


def test_a_title_a_meaning_and_each_kind_of_default() -> None:
    source = '''"""About."""

from lswc import __version__

# First

# Two lines, and `code`,
# as languages.md says.
ONE: list[str] = []
TWO = f"two/{__version__}"

# Second: more

# On.
THREE = True
FOUR = {
    # No meaning.
    "a": 1,
}
'''
    first, second = sections(source)
    assert (first.title, second.title) == ("First", "Second: more")
    assert first.settings == [
        ("ONE", "none", "Two lines, and `code`, as languages.md says."),
        ("TWO", "`two/<version>`", ""),
    ]
    assert second.settings == [("THREE", "on", "On."), ("FOUR", "as in the file", "")]
    assert "[languages.md](languages.md)" in page(source)
