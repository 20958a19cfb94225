"""HTML of the demo web's pages, in its host's charset and in its host's bad manners."""

from __future__ import annotations

import json
import re
from html import escape
from typing import TYPE_CHECKING

from lswc.lab.demo.dress import HEAD, IMAGES
from lswc.lab.demo.hosts import charset
from lswc.lab.demo.sitemaps_and_feeds import alternates
from lswc.lab.demo.vocabulary import VOCABULARIES, zawgyi

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from lswc.lab.demo.hypertext import DemoLink, DemoPage

SMALLEST, LARGEST = 1_200, 7_000  # bytes of running text
TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)([^>]*)>")
SHELL = (
    '<!DOCTYPE html><html><head><meta charset="utf-8"></head><body><div id="app"></div>'
    "<noscript>Please enable JavaScript to run this app.</noscript>"
    '<script src="/app.js"></script></body></html>\n'
)
"""A page that is empty until its script has run."""

ATTRIBUTE = re.compile(r'([a-z-]+)="([^" ]*)"')


def render(page: DemoPage, random: Random, edits: Iterable[Random] = ()) -> bytes:
    """Return the page's bytes; ``edits`` are the chance of each edit of its text, latest first."""
    if page.kind == "empty":
        return b""
    if page.kind == "binary":
        return random.randbytes(3_000)
    if page.kind == "shell":
        return SHELL.encode()
    html = f"{_head(page)}{_body(page, random, edits)}"
    return encode(_styled(html, page.host.features), page.host.encoding)


def text(language: str, random: Random) -> str:
    """Return a few sentences."""
    return "".join(VOCABULARIES[language].sentence(random) for _ in range(random.randint(2, 5)))


def script(paragraphs: Iterable[str]) -> bytes:
    """Return a script that writes paragraphs into an app's shell."""
    written = json.dumps(list(paragraphs), ensure_ascii=False)
    return f"""for (const text of {written}) {{
  const paragraph = document.createElement("p");
  paragraph.textContent = text;
  document.getElementById("app").append(paragraph);
}}
""".encode()


def encode(text: str, encoding: str) -> bytes:
    """Encode the text, what the charset lacks as numeric references."""
    if encoding == "zawgyi":
        text = zawgyi(text)
    codec = charset(encoding).replace("windows-874", "cp874")  # Python knows only its own name
    return text.encode(codec, "xmlcharrefreplace")


def _head(page: DemoPage) -> str:
    host = page.host
    content = f"text/html; charset={host.declares}"
    meta = f'<meta http-equiv="Content-Type" content="{content}">' if host.declares else ""
    base = f'<base href="http://{host.name}/">' if "base" in host.features else ""
    if page.kind == "refresh":
        base += f'<meta http-equiv="refresh" content="2; url={page.links[0].href}">'
    font = "<style>body { font-family: Zawgyi-One }</style>" if host.encoding == "zawgyi" else ""
    feeds = alternates(host.features)
    return (
        f"<html>\n<head>{meta}{base}\n<title>{escape(page.title)}</title>{HEAD}{feeds}{font}"
        "</head>\n"
    )


def _body(page: DemoPage, random: Random, edits: Iterable[Random]) -> str:
    if page.kind == "frames":
        frames = "".join(f'<frame src="{escape(link.href)}">' for link in page.links)
        return f'<frameset cols="20%,80%">{frames}</frameset></html>\n'
    if page.kind == "image":
        pictures = "".join(
            f'<a href="{escape(link.href)}"{_rel(link)}><img src="/logo.png"></a>\n'
            for link in page.links
        )
        return f"<body>{pictures}</body></html>\n"
    return _text_body(page, _edited(page, _paragraphs(page, random), edits))


def _text_body(page: DemoPage, paragraphs: list[str]) -> str:
    links = [_anchor(link) for link in page.links if page.kind != "refresh"]
    # The first links stand above the text, a few within it, the rest in a list below.
    inside = [f"<p>{text} {link}</p>" for text, link in zip(paragraphs, links[4:], strict=False)]
    rest = [f"<p>{text}</p>" for text in paragraphs[len(inside) :]]
    listed = "".join(f"<li>{link}</li>\n" for link in links[4 + len(inside) :])
    return (
        f'<body bgcolor="white">\n{IMAGES}{" | ".join(links[:4])}\n'
        f"<h1>{escape(page.title)}</h1>\n{_lines(inside)}{_lines(rest)}<ul>{listed}</ul>\n"
        "</body></html>\n"
    )


def _lines(parts: list[str]) -> str:
    return "".join(f"{part}\n" for part in parts)


def _anchor(link: DemoLink) -> str:
    return f'<a href="{escape(link.href)}"{_rel(link)}>{escape(link.text)}</a>'


def _rel(link: DemoLink) -> str:
    return ' rel="nofollow"' if link.nofollow else ""


def _paragraphs(page: DemoPage, random: Random) -> list[str]:
    """Return running text; its size in bytes is log-normal, so a few pages are long."""
    size = min(LARGEST, max(SMALLEST, round(random.lognormvariate(7.9, 0.5))))
    paragraphs = []
    while size > 0:
        paragraph = text(page.language, random)
        size -= len(encode(paragraph, page.host.encoding))
        paragraphs.append(paragraph)
    return paragraphs


def _edited(page: DemoPage, paragraphs: list[str], edits: Iterable[Random]) -> list[str]:
    """Return the paragraphs as they are after edits, of which each writes a third of them anew."""
    places, written = range(len(paragraphs)), dict[int, str]()
    for edit in edits:
        for place in edit.sample(places, -(-len(places) // 3)):
            written.setdefault(place, text(page.language, edit))
        if len(written) == len(places):
            break
    return [written.get(place, paragraph) for place, paragraph in enumerate(paragraphs)]


def _styled(html: str, features: frozenset[str]) -> str:
    if "upper" in features:
        html = TAG.sub(_shouted, html)
    if "broken" in features:
        html = re.sub(r"</(?:p|li|html|body|P|LI|HTML|BODY)>", "", html)
        html = html.replace("<ul>", "<b><table><tr><td><i></b>").replace("</ul>", "</font></td>")
    if "xhtml" in features:
        html = re.sub(r"<((?:meta|img|base|link)[^>]*)>", r"<\1 />", html)
        html = f"<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN'>\n{html}"
    return html


def _shouted(tag: re.Match[str]) -> str:
    """Write a tag in capitals, its plain attributes without quotes, as editors once did."""
    attributes = ATTRIBUTE.sub(lambda part: f"{part[1].upper()}={part[2] or chr(34) * 2}", tag[3])
    return f"<{tag[1]}{tag[2].upper()}{attributes}>"
