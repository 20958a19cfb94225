"""What the documents name is there, and a module says in its first words what it holds."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from lswc import settings
from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")


def anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere_and_settings_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for path, anchor in LINK.findall(text):
        target = document.parent / path if path else document
        assert target.is_file(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"
    named = set(re.findall(r"\bLSWC_[A-Z_]+\b", text))
    assert named <= set(dir(settings))


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
