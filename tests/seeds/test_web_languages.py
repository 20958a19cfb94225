"""A checkout of the Web Languages Project: which pages are a language's, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.seeds.candidates import Asked, SeedError
from lswc.seeds.formats import FORMATS, recognised

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

PAGES = {
    "welsh": ("Welsh", "cym", ["Cymraeg"]),
    "standard_arabic": ("Standard Arabic", "arb", []),
    "egyptian_arabic": ("Egyptian Arabic", "arz", []),
    "malay": ("Malay (macrolanguage)", "msa", []),
    "banjar": ("Banjar", "bjn", []),
    "jambi": ("Jambi Malay", "jax", []),
    "indonesian": ("Indonesian", "ind", []),
    "yue": ("Yue Chinese", "yue", []),
    "esperanto_": ("Nobody", "", ["Esperanto", "Lingvo Internacia"]),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a page for each of PAGES, with one site of its own."""
    for name, (title, code, names) in PAGES.items():
        page = tmp_path / "living" / f"{name}.md"
        page.parent.mkdir(exist_ok=True)
        called = "".join(f"- {other}\n" for other in names)
        said = f"- ISO-639-3 code: {code}\n" if code else ""
        page.write_text(
            f"# Web Language: {title}\n\nAdditional names:\n{called}- \n\nNews:\n- "
            f"https://{name.strip('_')}.example/\n\nAdditional Information:\n{said}"
        )
    (tmp_path / "living" / "README.md").write_text("- [Welsh](welsh.md)\n")
    (tmp_path / "README.md").write_text("# Web Languages Project\nhttps://commoncrawl.org/\n")
    return tmp_path


def sites(
    folder: Path, *codes: str, dialects: bool = False
) -> tuple[dict[str, str | None], Counter[str]]:
    """Return the host and language of each site of these languages, and what was left out."""
    asked = Asked(codes, dialects=dialects)
    assert recognised(folder) == "web-languages"
    found = FORMATS["web-languages"](folder, asked)
    return {one.url.split("/")[2].partition(".")[0]: one.language for one in found}, asked.passed


def test_a_language_by_its_code_and_several_at_once(checkout: Path) -> None:
    assert sites(checkout, "cy") == ({"welsh": "cy"}, {})
    assert sites(checkout, "cy", "zh")[0] == {"welsh": "cy", "yue": "zh"}


def test_a_macrolanguage_with_its_dialects_only_if_asked(checkout: Path) -> None:
    assert sites(checkout, "ar")[0] == {"standard_arabic": "ar"}
    both = {"standard_arabic": "ar", "egyptian_arabic": "ar"}
    assert sites(checkout, "ar", dialects=True)[0] == both
    malay = {"malay": "ms", "jambi": "ms"}
    left = "Indonesian and Banjar are languages of their own"
    assert sites(checkout, "ms", dialects=True)[0] == malay, left


def test_a_language_by_its_names_where_no_page_has_its_code(checkout: Path) -> None:
    assert sites(checkout, "eo")[0] == {"esperanto": "eo"}


def test_two_pages_of_one_code_are_both_read_and_counted(checkout: Path) -> None:
    page = checkout / "living" / "welsh.md"
    text = page.read_text().replace("welsh.example", "patagonia.example")
    (checkout / "special").mkdir()
    (checkout / "special" / "welsh.md").write_text(text)
    found, passed = sites(checkout, "cy")
    assert found == {"welsh": "cy", "patagonia": "cy"}
    assert passed == {"page with the code of another": 1}


def test_a_language_without_a_page_is_counted_or_one_line(checkout: Path) -> None:
    assert sites(checkout, "cy", "gd")[1] == {"no page for gd": 1}
    with pytest.raises(SeedError, match=r"has no page for Scots Gaelic \(gd\)") as raised:
        sites(checkout, "gd")
    assert "\n" not in str(raised.value)


def test_a_page_alone_and_a_folder_of_pages(checkout: Path) -> None:
    page = checkout / "living" / "welsh.md"
    assert recognised(page) == "web-languages"
    (one,) = FORMATS["web-languages"](page, Asked(("cy",)))
    assert (one.url, one.language, one.kind) == ("https://welsh.example/", "cy", "News")
    assert sites(checkout / "living", "cy")[0] == {"welsh": "cy"}


def test_a_folder_that_is_no_checkout_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\nhttps://a.com/\n")
    for read in (recognised, lambda path: list(FORMATS["web-languages"](path, Asked(("cy",))))):
        with pytest.raises(SeedError, match="checkout of the Web Languages Project") as raised:
            read(tmp_path)
        assert "\n" not in str(raised.value)
