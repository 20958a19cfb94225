"""What a crawl keeps of a page: one JSON line in ``pages.jsonl``."""

from __future__ import annotations

from dataclasses import dataclass

from lswc.files import json_line


@dataclass(slots=True)  # frozen would take as long as all else that is done with a record
class Record:
    """The record of a page; an item as Scrapy's feeds and pipelines know it.

    ``id`` is the page's number in the frontier, ``kind`` what it is written in: ``html``, ``pdf``,
    ``word``, ``opendocument``, ``rtf`` or ``text``. ``language`` is the identified one, None if it
    can't be told; ``variant`` the way it is written, such as ``zh-Hant``, "" if that can't be
    told or it has but one; ``decided_by`` says by what, ``shares`` how much of the text is in which
    language, such as ``th=0.62 en=0.35``. ``relevant`` says that it is the target language;
    ``guessed`` that it can't be told, and that the page counts for the strategy as its referrer
    does, which is relevant. ``distance`` is the page's own from the latest relevant referrer,
    ``tier`` the one it was fetched in, or ``expected`` how probable it was, when it was fetched,
    that it is relevant: None for an order that isn't learned. ``server_status`` is that of its
    server (or directory, if the strategy counts by them) after this page. ``simhash`` is that of
    its text, in 16 hex digits; ``near_duplicate`` says that one like it came before, among the
    crawl's latest pages.
    ``source`` says what named its URL: ``seed``, ``link``, ``sitemap`` or ``feed``.
    ``content_language`` is the language that the server says, ``vary`` what its answer depends on:
    both as in the headers, "" without one. ``opt_outs`` is what
    the page says against mining its text, and where; ``rendered`` says that it was read as a
    browser showed it. ``time`` is UTC, ISO 8601.
    """

    id: int
    url: str
    status: int
    kind: str
    title: str
    language: str | None
    variant: str
    encoding: str
    confidence: float
    decided_by: str
    shares: str
    relevant: bool
    guessed: bool
    distance: int
    tier: int | None
    expected: float | None
    depth: int
    server_status: str
    simhash: str
    near_duplicate: bool
    content_language: str
    vary: str
    opt_outs: tuple[str, ...]
    rendered: bool
    source: str
    referrer: str | None
    time: str

    def line(self) -> bytes:
        """Return the record as a line of JSON in UTF-8."""
        return json_line(self)
