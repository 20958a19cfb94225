"""Links in Markdown, in HTML, or in any text, by the headings above them.

In Markdown and text a link is a URL, bare, in angle brackets, or the target of ``[text](URL)`` or
of an ``href``; also a host without a scheme that begins with ``www.``, stands in angle brackets or
is the first word of a line. Pictures, addresses of e-mail and links relative to the page are none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from lswc.crawl.seed_files import NOTE
from lswc.seeds.candidates import URL_CHARACTERS, Candidate, SeedError, written_url
from lswc.seeds.formats.texts import DELIMITERS
from lswc.seeds.headings import LABEL, Headings, is_about, no_sites
from lswc.seeds.sources import lines as lines_of
from lswc.seeds.sources import opened
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_PIECE = 1 << 16
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*)")
_LABEL = re.compile(r"\s{0,3}(?:\*\*|__)?([^\W\d_][^:\uff1a\n]{0,80})[:\uff1a](?:\*\*|__)?\s*")
_BOLD = re.compile(r"\s{0,3}(?:\*\*|__)([^*_\n]{1,80})(?:\*\*|__)\s*")
_UNDERLINE = re.compile(r"\s{0,3}(={2,}|-{2,})\s*")
_ITEM = re.compile(r"^\s*(?:[-*+•·–]|\d{1,4}[.)])\s+")
_COMMENT = re.compile(r"<!--.*?(?:-->|$)")
_LINK = re.compile(
    r"""
      !\[[^\[\]]*\]\([^()\s]{0,2000}[^()]{0,200}\)               # a picture
    | <(?:img|script|link|source|iframe|video|audio)\b[^>]{0,2000}>
    | \[[^\[\]]*\]\(\s*<?(?P<target>(?:[^\s()<>]|\([^\s()<>]*\))+)
    | ^\s{0,3}\[[^\[\]]{1,200}\]:\s*<?(?P<definition>[^\s<>]+)
    | \bhref\s{0,9}=\s{0,9}["']?(?P<href>[^"'\s<>]+)
    | <(?P<angled>[^\s<>@]{4,2000})>
    | [\w.+-]{1,64}@[\w.-]{1,253}                                # an address of e-mail
    | (?<![\w/.@:-])(?P<bare>(?:https?:)?//[^\s<>"'`|{}\\]+|www\.[^\s<>"'`|{}\\@]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EXAMPLES = ("example",)  # RFC 2606: what somebody shows how a list is written with
_NOTE = frozenset("([-–—#")
_WRITTEN = ("target", "definition", "href")  # relative ones too
_AFTER = ".,;:!?*_~'\"»”’…。、，；）］」"
_MARKS = re.compile(
    r"\]\(\s*<?(?:https?:)?//|<https?://|\bhref\s{0,9}=|^\s*[-*+•]\s+\S", re.M | re.I
)
_MARKDOWN = re.compile(r"\]\(\s*<?https?://|^\s{0,8}[-*+]\s+<?https?://", re.MULTILINE)
_AUTOLINK = re.compile(r"<[^\s<>]+\.[^\s<>]+>\s")
_ADDRESS = re.compile(r"https?://|\bwww\.", re.IGNORECASE)
_COLUMNS = re.compile(r"^[^\t]*\t|^[^,]*,[^ ,]*,|^\d+,", re.MULTILINE)


def is_autolink(start: str) -> bool:
    """Tell whether a text begins with an address in angle brackets."""
    return _AUTOLINK.match(start) is not None


def has_markdown(start: str) -> bool:
    """Tell whether a text has links as Markdown writes them, whatever else is in it."""
    return _MARKDOWN.search(start) is not None


def is_prose(start: str) -> bool:
    """Tell whether a text is a document with links, rather than a list of URLs or a table."""
    found = [line for line in start.splitlines() if line.strip()]
    having = [line for line in found if _ADDRESS.search(line) or _ITEM.match(line)]
    marked = sum(_MARKS.search(line) is not None for line in having)
    if marked * 2 >= max(len(having), 1):
        return True
    written = [NOTE.sub("", line).split() for line in found if _ADDRESS.match(line.strip())]
    alone = sum(len(words) == 1 for words in written)
    notes = sum(len(words) > 1 and not {*words[0]} & {*DELIMITERS} for words in written)
    return notes > 0 and not any(map(_COLUMNS.match, found)) and notes * 4 >= alone


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the links of a document in Markdown or plain text. Raises SeedError."""
    with opened(path, asked.say) as file:
        yield from of_lines(lines_of(file, asked.passed), asked)


def read_html(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the links of an HTML page. Raises SeedError for what can't be read."""
    target = _Html(asked)
    parser = etree.HTMLParser(target=target, huge_tree=True)
    with opened(path, asked.say) as file:
        try:
            while piece := file.read(_PIECE):
                parser.feed(piece)
                yield from target.take()
            parser.close()
        except (etree.LxmlError, AssertionError) as error:
            raise SeedError(f"{path} isn't HTML: {error}") from error
    yield from target.take()


def of_lines(
    lines: Iterable[str], asked: Asked, language: str | None = None
) -> Iterator[Candidate]:
    """Yield the links of a document's lines, each with the kind that its headings say."""
    headings, above, is_comment = Headings(), "", False
    for line in lines:
        text, is_comment = _shown(line, is_comment)
        if begun := _heading(text, above):
            headings.begin(*begun)
        above = text.strip()
        for before, address in _links(text, is_heading=bool(begun and begun[0] < LABEL)):
            left_out = no_sites(before) or headings.left_out
            yield from _candidate(address, left_out, headings.kind, asked, language)


def _shown(line: str, is_comment: bool) -> tuple[str, bool]:
    """Return a line without its comments, and whether one goes on in the next."""
    if is_comment:
        _, mark, line = line.partition("-->")
        if not mark:
            return "", True
    if "<!--" not in line:
        return line, False
    is_open = "-->" not in line.rpartition("<!--")[2]
    return _COMMENT.sub(" ", line), is_open


def _heading(line: str, above: str) -> tuple[int, str] | None:
    """Return the level and text of a heading that a line is, or that it underlines."""
    if match := _HEADING.fullmatch(line.rstrip("\n\r")):
        return len(match[1]), match[2]
    if above and (match := _UNDERLINE.fullmatch(line)) and not _ADDRESS.search(above):
        return (1 if match[1][0] == "=" else 2), above
    if (match := _LABEL.fullmatch(line) or _BOLD.fullmatch(line)) and not _ADDRESS.search(line):
        return LABEL, match[1]
    return None


def _links(line: str, *, is_heading: bool) -> Iterator[tuple[str, str]]:
    """Yield what stands before each link of a line, as far as it is a label, and its address."""
    found = False
    for match in _LINK.finditer(line):
        name = match.lastgroup
        if name is None or (is_heading and name not in _WRITTEN):
            continue
        address = _cut(match[name])
        if name in _WRITTEN and not _ADDRESS.match(address) and not address.startswith("//"):
            continue  # relative, a fragment, mailto:
        found = True
        before, mark, _ = line[: match.start()].rpartition(":")
        yield _ITEM.sub("", before) if mark else "", address
    if not found and not is_heading and (bare := _bare_host(line)):
        yield "", bare


def _bare_host(line: str) -> str | None:
    """Return the host without a scheme that an item of a list begins with, or a line consists of.

    Behind it may stand a note, in brackets or after a dash.
    """
    text = _ITEM.sub("", line, count=1)
    first, _, note = text.strip().partition(" ")
    is_item = text != line or not note.strip() or note.lstrip()[:1] in _NOTE
    if not is_item or "@" in first or len(first) > URL_CHARACTERS:
        return None
    url = written_url(_cut(first), _EXAMPLES)
    return url if url and url.startswith("http://") else None


def _cut(address: str) -> str:
    """Leave out what follows a URL in a sentence: its stop, a bracket that another one closes."""
    while len(address) <= URL_CHARACTERS:
        before = address
        address = address.rstrip(_AFTER)
        for left, right in ("()", "[]"):
            if address.count(left) > address.count(right):
                address = address[: address.rindex(left)]
            elif address.count(right) > address.count(left):
                address = address[: address.rindex(right)]
        if address == before:
            break
    return address


def _candidate(
    address: str, left_out: str, kind: str, asked: Asked, language: str | None
) -> Iterator[Candidate]:
    """Yield a link as a candidate, or count why it is none."""
    if len(address) > URL_CHARACTERS:
        asked.passed["URL too long"] += 1
        return
    url = written_url(address, _EXAMPLES)
    parsed = parse(url) if url else None
    if url is None or parsed is None:
        asked.passed["not a URL"] += 1
        asked.wrong(address)
        return
    left_out = is_about(parsed, asked.codes) or left_out
    if left_out:
        asked.passed[f"no site: {left_out}"] += 1
    else:
        yield Candidate(url, language=language, kind=kind)


class _Html:
    """Hears an HTML page's elements: headings, lines in bold, links."""

    def __init__(self, asked: Asked) -> None:
        self._asked, self._headings = asked, Headings()
        self._found: list[Candidate] = []
        self._open, self._text = 0, ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Hear of an element."""
        if tag in _LEVELS:
            self._open, self._text = _LEVELS[tag], ""
        elif tag == "a":
            self._link(attributes.get("href", "").strip())

    def _link(self, href: str) -> None:
        if _ADDRESS.match(href) or href.startswith("//"):
            headings = self._headings
            self._found += _candidate(href, headings.left_out, headings.kind, self._asked, None)

    def end(self, tag: str) -> None:
        """Hear of an element's end."""
        if self._open and tag in _LEVELS:
            self._headings.begin(self._open, self._text)
            self._open = 0

    def data(self, text: str) -> None:
        """Hear of text."""
        if self._open and len(self._text) < _PIECE:
            self._text += text

    def close(self) -> None:
        """Hear of the document's end."""

    def take(self) -> list[Candidate]:
        """Return what was found since the last call."""
        found, self._found = self._found, []
        return found


_LEVELS = {**{f"h{level}": level for level in range(1, 7)}, "dt": LABEL, "caption": LABEL}
