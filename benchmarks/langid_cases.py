"""Cut the labelled cases of ``tests/language`` from a folder of freely licensed pages.

python -m benchmarks.langid_cases FOLDER [CASES.jsonl.gz]

Each is a stub, a shell, a mixed, a garbled or a legacy page, made of paragraphs of real pages in
the language that their path names and that most of their letters are in. A label says the
language, the kind and the reason. The cases measure: no weight and no table comes from them.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import random
import unicodedata
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from lswc.language import scripts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDERS = {
    "th": ("tourofrust.com/*_th.html", "thaiunitarians.github.io/**/*.html"),
    "ja": ("help.libreoffice.org/7.4/ja/**/*.html", "httpd.apache.org/**/*.ja*"),
    "ko": ("help.libreoffice.org/7.4/ko/**/*.html", "tourofrust.com/*_ko.html"),
    "zh": (
        "www.kernel.org/doc/html/v6.1/translations/zh_CN/**/*.html",
        "tourofrust.com/*_zh-*.html",
    ),
    "vi": ("help.libreoffice.org/7.4/vi/**/*.html", "debian-handbook.info/browse/vi-VN/**/*.html"),
    "km": ("help.libreoffice.org/7.4/km/**/*.html",),
    "lo": ("ricktu288.github.io/ray-optics/lo/**/*.html",),
    "my": ("aungkoman.github.io/**/*.html", "greenlikeorange.github.io/**/*.html"),
    "ru": ("www.mplayerhq.hu/DOCS/HTML/ru/*.html", "tourofrust.com/*_ru.html"),
    "de": ("www.mplayerhq.hu/DOCS/HTML/de/*.html", "tourofrust.com/*_de.html"),
    "en": ("www.mplayerhq.hu/DOCS/HTML/en/*.html", "httpd.apache.org/**/*.en*"),
}
SCRIPTS = {
    "th": "Thai", "ja": "Hira Kana", "ko": "Hang", "zh": "Hani Hanz", "km": "Khmr", "lo": "Laoo",
    "my": "Mymr", "ru": "Cyrl", "vi": "Viet", "de": "Latn", "en": "Latn",
}  # fmt: skip
LEAST = {"vi": 0.06, "ja": 0.25}  # of the letters; half of them elsewhere
CHARSETS = {
    "th": ("cp874", "windows-874"), "ja": ("cp932", "shift_jis"), "ko": ("cp949", "euc-kr"),
    "zh": ("gb18030", "gb18030"),
}  # fmt: skip
NAMES = (
    "https://www.example.org/{n}/index.html", "report_{n}.pdf", "IMG_{n}.jpg", "ACME v{n}.1",
    "GitHub", "FAQ", "404", "admin@example.org", "A – Z", "LibreOffice {n}",
)  # fmt: skip
NOSCRIPT = (
    "You need to enable JavaScript to run this app.",
    "We're sorry but this site doesn't work properly without JavaScript enabled. Please enable it.",
    "Please enable JavaScript to continue using this application.",
)
TARGETS = ("th", "ja", "ko", "zh", "vi", "km", "lo", "my")

Case = dict[str, str]


def main() -> None:
    """Write the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "cases", type=Path, nargs="?", default=Path("tests/language/cases.jsonl.gz")
    )
    options = parser.parse_args()
    chance = random.Random(400)
    texts = {code: paragraphs(options.folder, code, chance) for code in FOLDERS}
    makers = (stubs, shells, described, mixed, hangul, decomposed, read_twice, lying, wide)
    cases = [case for maker in makers for case in maker(texts, chance)]
    with gzip.GzipFile(options.cases, "wb", mtime=0) as file:
        for case in cases:
            file.write((json.dumps(case, ensure_ascii=False) + "\n").encode())
    print(
        len(cases), "cases in", options.cases, {code: len(found) for code, found in texts.items()}
    )


def paragraphs(folder: Path, code: str, chance: random.Random, most: int = 60) -> list[str]:
    """Return paragraphs of pages in a language, at most three of a page."""
    files = sorted(file for pattern in FOLDERS[code] for file in folder.glob(pattern))
    chance.shuffle(files)
    found: dict[str, None] = {}
    for file in files:
        nodes = LexborHTMLParser(file.read_bytes()).css("p, li")
        texts = (" ".join(node.text().split()) for node in nodes)
        fitting = [text for text in texts if 40 <= len(text) <= 400 and is_in(text, code)]
        found |= dict.fromkeys(fitting[:3])
        if len(found) >= most:
            break
    return list(found)[:most]


def is_in(text: str, code: str) -> bool:
    """Tell whether enough letters of a text are in a language's script."""
    counts = scripts.count(text)
    own = sum(int(counts[scripts.NAMES.index(name)]) for name in SCRIPTS[code].split())
    return bool(own >= LEAST.get(code, 0.5) * counts[1:].sum())


def case(code: str, kind: str, reason: str, page: str | bytes, **more: str) -> Case:
    """Return a labelled case."""
    body = {"html": page} if isinstance(page, str) else {"base64": b64encode(page).decode()}
    return {"language": code, "kind": kind, "reason": reason, **body, **more}


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
            korean = " ".join(chance.sample(texts["ko"], 20))[: int(len(much) * part / (1 - part))]
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
                yield case(code, "legacy", f"{codec} without a mark", text.encode(codec))
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
    main()
