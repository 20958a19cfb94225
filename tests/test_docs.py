"""Documents lead somewhere, and are short; a module says in its first words what it holds."""

from __future__ import annotations

import ast
import re
from statistics import median
from typing import TYPE_CHECKING

import pytest

from lswc import settings
from lswc.cli import program
from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("seeds/*.md")])
USERS = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
"""What users read. The lab has what was measured, in as many words as that needs."""
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")
WORD = re.compile(r"\S*\w\S*")
WORDS_IN_ALL, WORDS_OF_README, LONGEST_SENTENCE, MEDIAN_SENTENCE = 25_000, 1_000, 30, 12


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere_and_settings_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for path, anchor in LINK.findall(text):
        target = document.parent / path if path else document
        assert target.is_file(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"
    named = set(re.findall(r"\bLSWC_[A-Z_]+\b", text))
    assert named <= set(dir(settings))


def words(text: str) -> int:
    """Return how many words a text has: what stands between blanks and has a letter or digit."""
    return len(WORD.findall(text))


def sentences(text: str) -> list[str]:
    """Return a document's sentences, without headings and code; a cell of a table has its own."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|#|<).*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "code", text))
    parts = re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.) |\|", text, flags=re.MULTILINE)
    found = (re.split(r"(?<=[.!?])[)\"*]*\s+", " ".join(part.split())) for part in parts)
    return [sentence for part in found for sentence in part if words(sentence)]


def test_what_users_read_is_short() -> None:
    counts = {page.name: words(page.read_text(encoding="utf-8")) for page in USERS}
    assert counts["README.md"] <= WORDS_OF_README
    assert sum(counts.values()) <= WORDS_IN_ALL, sorted(counts.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("page", USERS, ids=lambda page: page.name)
def test_what_users_read_is_in_short_sentences(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    longest = max(sentences(text), key=words)
    assert words(longest) <= LONGEST_SENTENCE, longest
    prose = re.sub(r"^\|.*$", "\n", text, flags=re.MULTILINE)
    assert median(map(words, sentences(prose))) <= MEDIAN_SENTENCE


LAB = sorted((ROOT / "docs" / "lab").glob("*.md"))


@pytest.mark.parametrize("page", LAB, ids=lambda page: page.name)
def test_a_page_of_the_lab_names_version_machine_and_command(page: Path) -> None:
    if page.name not in ("README.md", "language-list.md"):  # the list of them; one made anew
        said = re.findall(r"^> (Version|Machine|Command): ", page.read_text("utf-8"), re.MULTILINE)
        assert said == ["Version", "Machine", "Command"]


CALL = re.compile(r"(?:^|`)(?: {4})?lswc ([a-z][a-z-]+)([^`|\n]*)", re.MULTILINE)
"""A command of lswc's in code, with what stands behind it in its line."""


def options_of(command: str) -> set[str]:
    """Return the options of a command, as docs/commands.md has them."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    shared = page.split("## Options of every command")[1].split("\n## ")[0]
    own = page.split(f"\n### {command}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return set(re.findall(r"^\| `(?:-\w, )?(--[\w-]+)", shared + own, re.MULTILINE))


@pytest.mark.parametrize("page", USERS, ids=lambda page: page.name)
def test_commands_and_their_options_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```.*?^```$", text, re.MULTILINE | re.DOTALL)
    code = [*blocks, *re.findall(r"^ {4}.*$|`[^`\n]+`", text, re.MULTILINE)]
    for command, rest in CALL.findall("\n".join(code)):
        assert command in program.NAMES, command
        given = set(re.findall(r"(?<=[\s\[])--[a-z-]+", rest.partition("#")[0]))
        assert given <= options_of(command) | {"--help", "--version"}, (command, rest)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_tests_and_benchmarks_that_are_named_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|benchmarks)/[\w/.-]*)`", text))
    assert not {path for path in named if not (ROOT / path).exists()}
    modules = set(re.findall(r"python -m ((?:tests|benchmarks)[\w.]*\w)", text))
    files = {ROOT / f"{name.replace('.', '/')}.py" for name in modules}
    assert not {path for path in files if not path.exists()}


MODULES = sorted(p for room in ("lswc", "benchmarks") for p in (ROOT / room).rglob("*.py"))
QUESTION = re.compile(r"(?:Wh(?:at|en|ere|ether|ich|o|y)|How|If|That)\b")


def test_a_module_begins_with_the_name_of_what_it_holds() -> None:
    for module in MODULES:
        said = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
        assert said, f"{module}: no docstring"
        wanted = "a noun is wanted first, such as 'Archive index: ...'"
        assert not QUESTION.match(said), f"{module}: {wanted}"
