"""Pages that a crawl collected: a list to be searched, and what is known of one."""

from __future__ import annotations

import os
from datetime import UTC, date, datetime, time, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from lswc.archive import page_record
from lswc.archive.page_index import (
    FILE,
    JUDGED,
    JUDGEMENTS,
    KIND,
    LANGUAGE,
    TEXT_CHARACTERS,
    Collected,
    how_to_make,
    row,
)
from lswc.archive.page_search import COUNTED, Asked, Found, lacking, opened
from lswc.archive.page_terms import words
from lswc.errors import ConfigError, LswcError, StorageError
from lswc.urls import parse, site_of
from lswc.workbench import marks
from lswc.workbench.look_up import known_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lswc.archive.page_index import Row
    from lswc.workbench.watch import Watch

PAGES_OF_A_LIST = 50
"""Pages of a list."""

QUERY_CHARACTERS = 1_000
"""Characters of what is looked for."""

_TAIL = 256_000  # bytes of the record that are read where there is no index
_UNKNOWN = {"conclusion": "", "no_log": "", "facts": (), "attempts": (), "links": (), "rule": ()}
_DIGITS = 18  # of a number
_FIELDS = ("q", "site", "language", "kind", "judged", "since", "until")


def listed(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the pages that are looked for, the latest first. Raises LswcError."""
    form = {name: given.get(name, "").strip() for name in _FIELDS}
    asked = _asked(form)
    crawls = _crawls(watch)
    without = lacking(crawls)
    shown = {
        "form": form,
        "is_asked": any(form.values()),
        "judgements": JUDGEMENTS,
        "counted": COUNTED,
        "notes": [_no_index(crawl) for crawl in without] + _elsewhere(watch),
        "wordless": bool(form["q"]) and not asked.words.is_given,
    }
    if len(without) == len(crawls):
        pages = sorted(
            (page for crawl in crawls for page in _latest(crawl)), key=attrgetter("time")
        )
        found = Found(pages[: -PAGES_OF_A_LIST - 1 : -1], False, False, None)
        return shown | _of_list(found, form, len(found.pages), {})
    with opened(crawls) as search:
        tallies = search.tallies()
        found = search.find(
            asked, PAGES_OF_A_LIST, before=_number(given, "before"), after=_number(given, "after")
        )
        total = sum(pages for (kind, _), pages in tallies.items() if kind == JUDGED)
        count = search.count(asked) if shown["is_asked"] else total
    return shown | _of_list(found, form, count, tallies)


def _of_list(
    found: Found, form: Mapping[str, str], count: int | None, tallies: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    pages, kept = found.pages, {name: value for name, value in form.items() if value}
    lowest = found.reached or (pages[-1].id if pages else 0)
    highest = found.reached or (pages[0].id if pages else 0)
    if count is None and not (found.has_older or found.has_newer):
        count = len(pages)
    return {
        "pages": pages,
        "count": count,
        "languages": _choices(tallies, LANGUAGE),
        "kinds": _choices(tallies, KIND),
        "reached": found.reached,
        "older": _address(kept, before=lowest) if found.has_older and lowest else "",
        "newer": _address(kept, after=highest) if found.has_newer and highest else "",
        "newest": _address(kept),
    }


def _choices(tallies: Mapping[tuple[str, str], int], kind: str) -> list[tuple[str, int]]:
    found = [(value, pages) for (of, value), pages in tallies.items() if of == kind]
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _address(form: Mapping[str, str], **more: int) -> str:
    query = urlencode({**form, **more}, errors="replace")
    return f"pages?{query}" if query else "pages"


def _asked(form: Mapping[str, str]) -> Asked:
    """Return what a form asks for. Raises ConfigError."""
    if max(map(len, form.values())) > QUERY_CHARACTERS:
        raise ConfigError(f"search for at most {QUERY_CHARACTERS:,} characters")
    since, until = _day(form["since"]), _day(form["until"])
    asked = Asked(words(form["q"]), _site(form["site"]), form["language"], form["kind"],
                  form["judged"])  # fmt: skip
    if since is not None:
        asked = asked._replace(since=_milliseconds(since))
    if until is not None and until < date.max:
        asked = asked._replace(until=_milliseconds(until + timedelta(days=1)))
    return asked


def _site(text: str) -> str:
    if not text:
        return ""
    url = parse(text if "://" in text else f"http://{text}/")
    if url is None:
        raise ConfigError(f"{text!r} isn't a site, such as example.co.th")
    return url.hostname


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise ConfigError(f"{text!r} isn't a day, such as 2026-11-28") from error


def _milliseconds(day: date) -> int:
    return int(1000 * datetime.combine(day, time(), UTC).timestamp())


def _number(given: Mapping[str, str], name: str) -> int:
    text = given.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0


def _crawls(watch: Watch) -> list[Path]:
    """Return the folders of a crawl that are on this machine. Raises LswcError if none is."""
    crawls = watch.crawl.folders()
    if not crawls:
        raise StorageError("no folder of this crawl is on this machine")
    for crawl in crawls:
        if not os.access(crawl, os.R_OK | os.X_OK):
            there = crawl.is_dir()
            raise StorageError(
                f"{crawl} can't be read" if there else f"{crawl} isn't there any more"
            )
    return crawls


def _no_index(crawl: Path) -> str:
    return f"{crawl} has no index of its pages: {how_to_make(crawl / FILE)}."


def _elsewhere(watch: Watch) -> list[str]:
    names = ", ".join(watch.crawl.elsewhere())
    return [f"The pages of these workers aren't on this machine: {names}."] if names else []


def _latest(crawl: Path) -> Iterator[Row]:
    """Yield the pages at the end of a crawl's record, for a list without an index."""
    try:
        with (crawl / page_record.PAGES).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return
    except OSError as error:
        raise StorageError(f"can't read {crawl}: {error.strerror}") from error
    for record in map(page_record.parsed, lines):
        if record is not None:
            yield row(Collected(record))


def shown(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what is known of one page: what it says, what was decided, and why.

    Raises LswcError.
    """
    address = given.get("url", "").strip()
    url = parse(address) if "://" in address else None
    if url is None:
        raise ConfigError(f"{address[:QUERY_CHARACTERS]!r} isn't the URL of a page")
    crawls = _crawls(watch)
    page, notes = None, [_no_index(crawl) for crawl in lacking(crawls)]
    if len(notes) < len(crawls):
        try:
            with opened(crawls) as search:
                page = search.page(url.href)
        except LswcError as error:
            notes.append(f"{error}.")
    known: dict[str, Any] = {}
    try:
        known = known_url(watch.crawl, url)
    except LswcError as error:
        notes.append(f"{error}.")
    return {
        **_UNKNOWN,
        **known,
        "title": (page.title if page is not None else "") or url.href,
        "url": url.href,
        "server": url.server,
        "site": site_of(url.server),
        "live": url.href if url.scheme in ("http", "https") else "",
        "page": page,
        "text": _paragraphs(page.text) if page is not None else [],
        "is_cut": page is not None and len(page.text) >= TEXT_CHARACTERS,
        "mark": marks.read(crawls).get(url.href),
        "notes": notes + _elsewhere(watch),
        "capture": _capture(watch, url.href, page),
    }


def _paragraphs(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]


def _capture(watch: Watch, url: str, page: Row | None) -> str:
    """Return where the player shows a page as it was archived, "" if it runs nowhere."""
    replay = watch.data.replay()
    if not replay or (page is not None and page.archived is False):
        return ""
    asked = {"url": url}
    if page is not None:
        asked["ts"] = f"{datetime.fromtimestamp(page.time / 1000, UTC):%Y%m%d%H%M%S}"
    return f"{replay}go?{urlencode(asked, errors='replace')}"
