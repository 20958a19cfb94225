"""Relevance of what a server answered, told by none of the crawlers that are compared."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from lxml import html
from w3lib.encoding import html_to_unicode

from lswc.crawl.web import open_web, truth
from lswc.urls import parse

if TYPE_CHECKING:
    from lswc.crawl.web.answers import Answer

SCRIPTS = {
    "ja": "[\u3041-\u30ff]", "zh": "[\u3400-\u9fff]", "ko": "[\uac00-\ud7a3]",
    "th": "[\u0e01-\u0e5b]",
    "km": "[\u1780-\u17ff]", "my": "[\u1000-\u109f]", "lo": "[\u0e81-\u0edf]",
}  # fmt: skip
LEAST = 0.2
"""Share of a relevant page's letters that are of the language's script; Japanese has Han besides,
so Chinese is Han with hardly any kana."""

KANA = 0.03


class Relevance:
    """Tells pages of a language: by a web's ``truth.jsonl``, else by the letters of their text.

    Raises KeyError for a language without a script of its own, on a web without a truth.
    """

    def __init__(self, web: Path, lang: str) -> None:
        known = truth(web)
        self._web, self._lang = open_web(web), lang
        self._wanted = known and {
            (parsed.server, "/" + url.partition("://")[2].partition("/")[2])
            for url, page in known.items()
            if page.language == lang and (parsed := parse(url)) is not None
        }
        self._script = "" if known else SCRIPTS[lang]
        self.tells = lru_cache(None)(self._tells)

    def _tells(self, server: str, target: str) -> bool:
        if self._wanted is not None:
            return (server, target) in self._wanted
        answer: Answer = self._web.answer(server, target, self._lang)
        body = answer.body.read_bytes() if isinstance(answer.body, Path) else answer.body
        kind = dict(answer.headers).get("Content-Type", "")
        return answer.status == 200 and "html" in kind and self._is_of(kind, body)

    def _is_of(self, kind: str, body: bytes) -> bool:
        text = html_to_unicode(kind, body, default_encoding="utf-8")[1]
        if not text.strip():
            return False
        page = html.document_fromstring(text.encode(), parser=html.HTMLParser(encoding="utf-8"))
        for code in page.iter("script", "style"):
            code.text = ""
        words = page.text_content()
        letters = max(1, sum(map(str.isalpha, words)))
        if self._lang == "zh" and len(re.findall(SCRIPTS["ja"], words)) / letters > KANA:
            return False
        return len(re.findall(self._script, words)) / letters >= LEAST
