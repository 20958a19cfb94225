"""The reference pages of docs/ are what the code says."""

from __future__ import annotations

import ast
import contextlib
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from lswc import settings
from lswc.cli import program
from lswc.cli.reference import commands_page, page
from lswc.cli.setting_facts import explained, sections
from lswc.errors import ConfigError
from lswc.outcomes import Outcome

ROOT = Path(__file__).parents[2]
SOURCE = Path(settings.__file__).read_text(encoding="utf-8")
ALL = [setting for section in sections(SOURCE) for setting in section.settings]


WORDS: dict[str, Any] = {"none": [], "empty": "", "on": True, "off": False}


def rows(name: str) -> dict[str, str]:
    """Return the first and second column of a page's tables."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([^`]+)` \| (.*?) \|", text, re.MULTILINE))


@pytest.mark.parametrize("name", [name for name in dir(settings) if name.startswith("LSWC_")])
def test_a_crawl_has_what_the_page_says_of_a_setting(name: str) -> None:
    said = rows("settings.md")[name]
    value = WORDS[said] if said in WORDS else ast.literal_eval(said.strip("`"))
    assert Settings({name: getattr(settings, name)}).get(name) == value


def test_every_outcome_is_on_its_page() -> None:
    assert {str(outcome) for outcome in Outcome} <= rows("outcomes.md").keys()


@pytest.mark.parametrize("name", program.NAMES)
def test_a_command_takes_the_options_on_its_page(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])  # which the program changes
    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    of_all = text.split("## Options of every command")[1].split("\n## ")[0]
    own = text.split(f"\n### {name}\n")[1].split("\n## ")[0].split("\n### ")[0]
    named, shared = (set(re.findall(r"^\| `(?:-\w, )?(--[\w-]+)", part, re.MULTILINE))
                     for part in (own, of_all))  # fmt: skip
    with contextlib.suppress(SystemExit):
        program.main([name, "--help"])
    taken = set(
        re.findall(r"^ +(?:-\w[^,\n]*, )?(--[\w-]+)", capsys.readouterr().out, re.MULTILINE)
    )
    assert named <= taken <= named | shared


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


def test_what_is_told_of_a_setting() -> None:
    first, _, meaning = explained("lswc_contact").partition("\n\n")
    assert first == "LSWC_CONTACT, default: empty"
    assert meaning.startswith("Who ")
    assert explained("lswc_on_") == f"  {'LSWC_ON_END':31}empty"
    assert explained("LSWC_READERS").startswith('LSWC_READERS, default: "cores"\n')
    assert f'  {"LSWC_READERS":31}"cores"' in explained("READERS").splitlines()
    with pytest.raises(
        ConfigError, match=r"x_y isn't a setting that lswc has or changes.*; `lswc settings` na"
    ):
        explained("x_y")
    with pytest.raises(ConfigError, match="do you mean LSWC_READERS"):
        explained("LSWC_READRES")


def test_an_option_is_shown_as_it_is_given() -> None:
    said = commands_page()
    for option in ("| `--dry-run` |", "| `--pages N` |", "| `--port PORT` |", "| `lang` |"):
        assert option in said, option


def test_links_to_a_page_keep_their_anchors() -> None:
    source = "# Title\n\n# See (safety.md#quotas), for-operators.md.\nLSWC_X = 1\n"
    assert "([safety.md](safety.md#quotas)), [for-operators.md](for-operators.md)." in page(source)
