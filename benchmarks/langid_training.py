"""Make rows to fit the model of langid to: labelled texts put into pages of all sorts.

python -m benchmarks.langid_training LABELLED.jsonl.gz ... [--rows ROWS.jsonl.gz] [--pages 8000]

A labelled line has "language" and "text". The texts are cut to 3 to 3,000 characters, alone or
with some English, or replaced by what stands on a page without text; around each comes what its
site says of its language. How often that is missing or wrong is set below: on 1,743 pages of 24
hosts the ``lang`` attribute was wrong for 28 %, half of them on one host, the URL for 28 %.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import math
import random
from pathlib import Path
from typing import Any

from lswc.language.default_method import weigh
from lswc.language.document import Document
from lswc.language.evidence import FEATURES, candidates
from lswc.language.registry import code_of, known, language

# Of sites in a language: how often they say nothing, the right, English, another.
SAYS = {
    "lang": (0.35, 0.51, 0.10, 0.04),
    "locale": (0.80, 0.16, 0.03, 0.01),
    "data": (0.85, 0.12, 0.02, 0.01),
    "url": (0.70, 0.22, 0.03, 0.05),
}
DOMAIN = (0.55, 0.40)  # a domain of another country or none; of its own, if it has one
CHARSETS = {"th": "tis-620", "ja": "shift_jis", "ko": "euc-kr", "zh": "gbk", "vi": "windows-1258"}
CHARSET = (0.15, 0.002)  # of pages in these languages, and of others
NO_TEXT = (
    "https://{word}.example/{word}/{word}.html", "{word}", "{word} {word}", "{word}.pdf", "v1.{n}",
    "{word}_{n}.jpg", "404", "{word}@{word}.com", "React App", "IMG_{n}", "{word} | {word}", "OK",
    "Login", "Home", "index", "FAQ", "WordPress", "Blog", "Error {n}", "", "", "", "",
)  # fmt: skip
FREQUENT = 5  # weight of English and of languages with charsets of their own
UNHEARD_OF = 0.03  # weight of a language that CLD2 lacks: of the web they are less still
SCRIPTLESS = "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root>"


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, default=Path("benchmarks/langid_rows.jsonl.gz"))
    parser.add_argument("--pages", type=int, default=8_000)
    options = parser.parse_args()
    chance = random.Random(19)
    texts = [text for file in options.texts for text in every_other(file)]
    english = [text for code, text in texts if code == "en" and len(text) > 200]
    by_language: dict[str, list[str]] = {}
    for code, text in texts:
        by_language.setdefault(code, []).append(text)
    # A language counts by the root of its texts, so that none is all there is.
    codes = list(by_language)
    weights = [
        math.sqrt(sum(map(len, by_language[code])))
        * (FREQUENT if code in CHARSETS or code == "en" else 1 if code in known() else UNHEARD_OF)
        for code in codes
    ]
    with gzip.GzipFile(options.rows, "wb", mtime=0) as file:
        for code in chance.choices(codes, weights, k=options.pages):
            row = of_page(code, chance.choice(by_language[code]), english, chance)
            file.write((json.dumps(row, separators=(",", ":")) + "\n").encode())


def every_other(file: Path) -> list[tuple[str, str]]:
    """Return language and text of every second line; the others are for measuring."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines][1::2]
    return [(code_of(entry["language"]), entry["text"]) for entry in entries]


def of_page(code: str, text: str, english: list[str], chance: random.Random) -> list[Any]:
    """Return a page's true language and the features of each candidate, those that aren't 0."""
    kind = chance.random()
    label = code
    size = int(10 ** chance.uniform(0.5, 3.5))
    start = chance.randrange(max(1, len(text) - size))
    own = text[start : start + size]
    if kind < 0.2:
        own = chance.choice(NO_TEXT).format(word=word(chance), n=chance.randrange(2_000))
        own, label = (
            own + SCRIPTLESS * (chance.random() < 0.5),
            chance.choice((code, code, code, "und")),
        )
    elif kind < 0.3 and len(own) > 100:
        # Both ways: some English on a page in the language, some of it on one in English.
        share = chance.uniform(0.05, 0.45)
        much, little = (
            (own, chance.choice(english)) if kind < 0.25 else (chance.choice(english), own)
        )
        label = code if kind < 0.25 else "en"
        own = f"{much}\n{little[: int(len(much) * share)]}"
    body = "<p>".join(own.split("\n")) if kind < 0.2 else "<p>" + html.escape(own)
    page, url = around(code, body, chance)
    weighed = weigh(Document(page.encode("utf-8", "replace"), "text/html", url))
    found = {
        candidate: {
            name: round(value, 4) for name, value in zip(FEATURES, values, strict=True) if value
        }
        for candidate, values in candidates(weighed.measured, weighed.declared).items()
    }
    return [label, found]


def around(code: str, body: str, chance: random.Random) -> tuple[str, str]:
    """Return a page of a site in a language, and its URL."""
    said = {source: says(code, odds, chance) for source, odds in SAYS.items()}
    head = ""
    if said["locale"]:
        head += f"<meta property=og:locale content={said['locale']}_XX>"
    if said["data"]:
        head += f'<script type="application/ld+json">{{"inLanguage":"{said["data"]}"}}</script>'
    own_charset = code in CHARSETS and chance.random() < CHARSET[0]
    if own_charset or chance.random() < CHARSET[1]:
        charset = CHARSETS[code] if own_charset else chance.choice(list(CHARSETS.values()))
        # As references the text is the same in any charset.
        body = body.encode("ascii", "xmlcharrefreplace").decode()
        head += f"<meta charset={charset}>"
    tlds = language(code).tlds if code in known() else ()
    own = tlds and chance.random() < DOMAIN[1]
    tld = chance.choice(tlds) if own else chance.choice(("com", "org", "net", "io", "de"))
    url = f"http://www.site.{tld}/{said['url'] + '/' if said['url'] else ''}page"
    lang = f" lang={said['lang']}" if said["lang"] else ""
    return f"<html{lang}><head>{head}</head><body>{body}", url


def says(code: str, odds: tuple[float, ...], chance: random.Random) -> str:
    """Return the language that a site in ``code`` declares; "" for none."""
    other = chance.choice(("de", "fr", "ru", "ja", "zh", "es", "it", "th", "vi", "ko", "no", "is"))
    return chance.choices(("", code, "en", other), odds)[0]


def word(chance: random.Random) -> str:
    """Return a name of no language."""
    return "".join(
        chance.choice("bdfgklmnprstvz") + chance.choice("aeiou")
        for _ in range(chance.randint(1, 4))
    ).title()


if __name__ == "__main__":
    main()
