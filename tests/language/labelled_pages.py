"""Labelled pages, made of the paragraphs beside this file: one of each kind of trouble.

``python -m tests.language.labelled_pages > pages.jsonl`` writes them for ``lswc identify
--evaluate``. A label says the language, the kind and the reason. The paragraphs were written for
this. They measure: no weight and no table comes from them.
"""

from __future__ import annotations

import html
import json
import random
import sys
import unicodedata
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TARGETS = ("th", "ja", "ko", "zh", "vi", "km", "lo", "my")
PARAGRAPHS = {
    file.stem: file.read_text("utf-8").splitlines()
    for file in sorted(Path(__file__).with_name("paragraphs").glob("*.txt"))
}
"""By language: those of ``TARGETS``, and de, en, ru, which pages are mixed with."""

CHARSETS = {
    "th": ("cp874", "windows-874"), "ja": ("cp932", "shift_jis"), "ko": ("cp949", "euc-kr"),
    "zh": ("gb18030", "gb18030"),
}  # fmt: skip
NAMES = (
    "https://www.example.org/{n}/index.html", "report_{n}.pdf", "IMG_{n}.jpg", "ACME v{n}.1",
    "GitHub", "FAQ", "404", "admin@example.org", "A – Z", "LibreOffice {n}",
)  # fmt: skip
NOSCRIPT = (
    "You need JavaScript to see this page.",
    "Sorry, but nothing can be shown here without JavaScript. Please turn it on.",
    "Please turn on JavaScript in your browser to go on.",
)
LONG, SHORT = 2_000, 40
"""Bytes of a page that is long enough for anything, characters of a short one."""

Case = dict[str, str]


def made() -> list[Case]:
    """Return the pages, the same every time."""
    chance = random.Random(400)
    makers = (
        clean, short, stubs, shells, described, mixed, hangul, decomposed, read_twice, lying, wide
    )  # fmt: skip
    return [case for maker in makers for case in maker(PARAGRAPHS, chance)]


def long_text(code: str, chance: random.Random) -> str:
    """Return paragraphs of a language, as HTML, of ``LONG`` bytes or all there are."""
    text = ""
    for paragraph in chance.sample(PARAGRAPHS[code], len(PARAGRAPHS[code])):
        if len(text.encode()) < LONG:
            text += f"<p>{html.escape(paragraph)}"
    return text


def case(code: str, kind: str, reason: str, page: str | bytes, **more: str) -> Case:
    """Return a labelled case."""
    body = {"html": page} if isinstance(page, str) else {"base64": b64encode(page).decode()}
    return {"language": code, "kind": kind, "reason": reason, **body, **more}


def clean(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages of nothing but text."""
    for code in texts:
        for _ in range(4):
            yield case(code, "clean", "nothing else is there", long_text(code, chance))


def short(texts: dict[str, list[str]], _chance: random.Random) -> Iterator[Case]:
    """Yield pages of half a sentence."""
    for code, paragraphs in texts.items():
        for text in paragraphs:
            yield case(code, "short", "half a sentence is enough", f"<p>{text[:SHORT]}")


def stubs(_texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages whose only text is a name or an address, with and without ``lang``."""
    for code in TARGETS:
        for name in NAMES:
            title = name.format(n=chance.randrange(1_000))
            page = f"<!DOCTYPE html><html lang={code}><title>{title}</title><body><img src=a.png>"
            yield case(code, "stub", "a name or address says nothing; lang does", page)
    for name in NAMES * 2:
        title = name.format(n=chance.randrange(1_000))
        page = f"<!DOCTYPE html><html><title>{title}</title><body><a href=x>{title}</a>"
        yield case("und", "stub", "a name or address says nothing, and nothing else does", page)


def shells(_texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages of programs that have no text yet."""
    for code in TARGETS:
        for head in (
            "", "<title>React App</title>", "<title>Loading...</title>",
            f"<meta property=og:locale content={code}_XX>",
            f'<script type="application/ld+json">{{"inLanguage": "{code}"}}</script>',
        ):  # fmt: skip
            lang = "" if "inLanguage" in head or "og:locale" in head else f" lang={code}"
            page = (
                f"<!DOCTYPE html><html{lang}><head><meta charset=utf-8>{head}<body>"
                f"<noscript>{chance.choice(NOSCRIPT)}</noscript><div id=root></div>"
            )
            yield case(code, "shell", "English for those without JavaScript isn't the page's", page)


def described(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield shells with some text outside their body; ``lang`` is the template's."""
    for code in TARGETS:
        for form in (
            '<meta name=description content="{}">',
            '<meta property="og:description" content="{}">',
            '<script type="application/ld+json">{{"@type":"WebSite","name":"{}"}}</script>',
            '<script id="__NEXT_DATA__">{{"props":{{"title":"{}"}}}}</script>',
            '<img src=a.png alt="{}">', "<button>{}</button>",
        ):  # fmt: skip
            text = html.escape(chance.choice(texts[code])[:60].replace("\\", ""))
            page = f"<html lang=en><title>App</title>{form.format(text)}<noscript>{NOSCRIPT[0]}"
            yield case(code, "described", "the only sentence is in this language", page)


def mixed(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages with a smaller part in another language."""
    pairs = [("zh", "ja"), ("zh", "ko"), ("ja", "zh"), ("ko", "ja"), ("th", "en"), ("en", "th"),
             ("my", "en"), ("vi", "en"), ("ru", "ko"), ("en", "zh")]  # fmt: skip
    for code, other in pairs:
        for part in (0.08, 0.15, 0.3):
            for _ in range(2):
                much = chance.sample(texts[code], min(12, len(texts[code])))
                size = sum(map(len, much)) * part / (1 - part)
                little: list[str] = []
                while sum(map(len, little)) < size:
                    little.append(chance.choice(texts[other])[: int(size) + 1])
                lines = [f"<p>{html.escape(text)}" for text in (*much, *little)]
                chance.shuffle(lines)
                reason = f"{part:.0%} of its characters are {other}"
                yield case(code, "mixed", reason, "".join(lines))


def hangul(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages in an alphabet of which a quarter of the letters are Hangul."""
    for code in ("ru", "de", "th", "km"):
        for part in (0.22, 0.25):
            much = "".join(
                f"<p>{text}" for text in chance.sample(texts[code], min(8, len(texts[code])))
            )
            korean = " ".join(chance.sample(texts["ko"], len(texts["ko"])))[
                : int(len(much) * part / (1 - part))
            ]
            yield case(code, "mixed", "a quarter of Hangul letters", f"{much}<p>{korean}")


def decomposed(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages in Unicode's decomposed form."""
    for code in ("vi", "ko", "ja"):
        for text in chance.sample(texts[code], min(15, len(texts[code]))):
            page = f"<p>{html.escape(unicodedata.normalize('NFD', text))}"
            yield case(code, "decomposed", "NFD is the same text", page)


def read_twice(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages whose bytes were once taken for Latin-1."""
    for code in (*TARGETS, "ru"):
        for text in chance.sample(texts[code], min(6, len(texts[code]))):
            page = f"<p>{html.escape(text).encode().decode('latin-1')}"
            yield case(code, "garbled", "UTF-8 read as Latin-1, and written as UTF-8", page)
    for code, (codec, _) in CHARSETS.items():
        for text in chance.sample(texts[code], min(6, len(texts[code]))):
            page = f"<p>{html.escape(text).encode(codec, 'ignore').decode('latin-1')}"
            yield case(code, "garbled", f"{codec} read as Latin-1, and written as UTF-8", page)


def lying(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages in legacy charsets that declare another, or none."""
    for code, (codec, name) in CHARSETS.items():
        for declared in (name, "", "windows-1251", "iso-8859-2", "windows-1256", "iso-8859-1"):
            for text in chance.sample(texts[code], min(3, len(texts[code]))):
                meta = f"<meta charset={declared}>" if declared else ""
                page = f"{meta}<p>{html.escape(text)}".encode(codec, "ignore")
                reason = f"{codec}, declared as {declared or 'nothing'}"
                yield case(code, "legacy", reason, page)


def wide(texts: dict[str, list[str]], chance: random.Random) -> Iterator[Case]:
    """Yield pages in UTF-16 without a mark, and in ISO-2022-CN."""
    for code in ("my", "th", "km", "ja"):
        for codec in ("utf-16-le", "utf-16-be"):
            for text in chance.sample(texts[code], min(2, len(texts[code]))):
                page = f"<html><p>{text}</html>".encode(codec)
                yield case(code, "legacy", f"{codec} without a mark", page)
    encoders: dict[str, Callable[[str], bytes]] = {
        "hz": lambda text: text.encode("hz", "ignore"),
        "iso-2022-cn": lambda text: (
            b"\x1b$)A\x0e%b\x0f"
            % bytes(byte & 0x7F for byte in text.encode("gb2312", "ignore") if byte > 0x7F)
        ),
    }
    for name, encode in encoders.items():
        for text in chance.sample(texts["zh"], min(4, len(texts["zh"]))):
            yield case("zh", "legacy", name, encode(text))


if __name__ == "__main__":
    for page in made():
        sys.stdout.write(json.dumps(page, ensure_ascii=False) + "\n")
