"""Limits and quotas of a server: what it and its directories brought, and which are left alone."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import Seen
from lswc.urls import directory, parse, site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lswc.urls import Url

    FamilyOf = Callable[[str], Sequence[str]]


class Taken(NamedTuple):
    """What a server or a registered domain has brought: pages, and bytes received."""

    pages: int = 0
    bytes: int = 0


NOTHING_TAKEN = Taken()


@dataclass(frozen=True)
class Quota:
    """The most that is taken of one server or registered domain; any number at 0."""

    pages: float = 0
    bytes: float = 0

    def or_else(self, other: Quota) -> Quota:
        """Return this one, and the other for what this doesn't bound."""
        return Quota(self.pages or other.pages, self.bytes or other.bytes)

    def at_least(self, other: Quota) -> Quota:
        """Return this one, so large that the other fits into it."""
        return Quota(_most(self.pages, other.pages), _most(self.bytes, other.bytes))


@dataclass(frozen=True)
class Quotas:
    """The quota of each server, and that of each registered domain."""

    server: Quota = Quota()
    domain: Quota = Quota()

    def unless(self, given: Quotas) -> Quotas:
        """Return these quotas but for those that are given.

        One server may bring what its domain may; what a server may bring is room enough in
        its domain.
        """
        return Quotas(
            given.server.or_else(given.domain).or_else(self.server),
            given.domain.or_else(self.domain.at_least(given.server)),
        )


def reached(quotas: Quotas, server: Taken, domain: Taken) -> Outcome | None:
    """Return which quota a server has reached, itself or with its domain; None if none."""
    for taken, quota, pages, size in (
        (server, quotas.server, Outcome.SERVER_PAGES, Outcome.SERVER_BYTES),
        (domain, quotas.domain, Outcome.SITE_PAGES, Outcome.SITE_BYTES),
    ):
        if 0 < quota.pages <= taken.pages:
            return pages
        if 0 < quota.bytes <= taken.bytes:
            return size
    return None


def _most(bound: float, other: float) -> float:
    return max(bound, other) if bound else 0


REMEMBERED = 200_000
"""Servers and directories whose counts are kept, the latest; and pages, for near-duplicates."""

KNOWN_FAMILIES = 10_000
"""Servers whose families are remembered while pages are counted again."""

DIRECTORY_PAGES = 25_000
"""Pages below a first folder, if its server may not have four times as many."""

TIMEOUTS = 40
"""URLs in a row that no server of a registered domain answers in time, until those of its servers
are left that never gave a page."""

MISSES, EARNED = 50, 10
"""URLs of a sitemap or feed that may be missing, and as many more for each that is a page."""

OF_PAGES = frozenset(
    {
        Outcome.SERVER_PAGES,
        Outcome.DIRECTORY_PAGES,
        Outcome.SITE_PAGES,
        Outcome.DUPLICATES_IN_DIRECTORY,
        Outcome.DUPLICATES_ON_SERVER,
        Outcome.DUPLICATES_ON_SITE,
    }
)
"""Reasons that leave further pages alone, and nothing else."""

_ROWS = (
    (1, Outcome.DUPLICATES_IN_DIRECTORY),
    (2, Outcome.DUPLICATES_ON_SERVER),
    (4, Outcome.DUPLICATES_ON_SITE),
)
"""How many times ``duplicates`` in a row leave a directory, a server and a site alone."""

_NUMBER = re.compile(r"\d+")
_LANGUAGE = re.compile(r"/([a-z]{2})(?:[-_][A-Za-z]{2,4})?(?:\.[\w-]+)?/")


_Value = TypeVar("_Value")


class _Latest(OrderedDict[int, _Value]):
    """A dict of the REMEMBERED keys that were set last."""

    def __setitem__(self, key: int, value: _Value) -> None:
        OrderedDict.__setitem__(self, key, value)  # super() takes 1,000 instructions more
        self.move_to_end(key)
        if len(self) > REMEMBERED:
            self.popitem(last=False)


def directory_pages(server: Quota) -> float:
    """Return the most pages of one directory of a server; 0 for any number."""
    return max(DIRECTORY_PAGES, server.pages // 4) if server.pages else 0


def limits_of(quotas: Quotas, max_duplicates: int) -> Limits:
    """Return the limits of a crawl with these quotas, of which nothing is used yet."""
    pages = directory_pages(quotas.server)
    return Limits(directory_pages=pages, duplicates=max_duplicates, timeouts=TIMEOUTS)


class Limits:
    """Counts pages by server and directory, and near-duplicates in a row. Off at 0.

    ``directory_pages`` is the most pages to take of one; ``duplicates`` is the number of
    near-duplicates in a row after which a directory is left alone; of twice as many a server, of
    four times as many all servers of a registered domain, and the registered domains of one family
    whose latest pages were such. So end calendars, pages for every wrong address, mirrors and link
    farms on as many hosts and domains as they like.
    Directories that differ in numbers only are one. Of a server and a site near-duplicates are
    counted by language where a folder names another one than the text's, as untranslated pages of a
    manual do: too many leave that language's folders alone, and count as one for all.
    ``timeouts`` is the number of URLs in a row that no server of a registered domain answered in
    time, after which those of its servers are left alone that never gave a page.
    """

    def __init__(
        self, *, directory_pages: float = 0, duplicates: int = 0, timeouts: int = 0
    ) -> None:
        self._timeouts = timeouts
        self._directory_pages = directory_pages
        self._duplicates = duplicates
        self._seen = Seen(REMEMBERED)
        # By the hashes of their names, which may be as long as a URL.
        self._pages: _Latest[int] = _Latest()
        self._in_a_row: _Latest[int] = _Latest()
        # Registered domains whose latest page was a near-duplicate, and their families.
        self._family: _Latest[int] = _Latest()
        self._unanswered: _Latest[int] = _Latest()
        self._silent: _Latest[None] = _Latest()
        self._misses: _Latest[int] = _Latest()
        self._closed: _Latest[Outcome] = _Latest()
        # Servers some of whose directories are closed: links to others needn't be looked at.
        self._partly: _Latest[None] = _Latest()
        self._closes_languages = False

    def load(
        self, records: Iterable[Mapping[str, Any]], family_of: FamilyOf = lambda server: ()
    ) -> None:
        """Count the pages that an earlier run recorded.

        ``family_of`` gives the family of a server's unproven site, if it is one.
        """
        families = lru_cache(KNOWN_FAMILIES)(family_of)
        for record in records:
            if record.get("visit", 1) == 1 and (url := parse(record["url"])):
                self._count(url)
                self._count_duplicate(url, record["near_duplicate"], record["language"])
                self._seen.add(int(record["simhash"], 16))
                if record["near_duplicate"] and self._duplicates:
                    for family in families(url.server)[:1]:
                        self.repeats(url, family)

    def add(self, url: Url, simhash: int, language: str | None = None) -> bool:
        """Count a page with text in a language; tell if it is a near-duplicate of one before."""
        self.answered(url, True)
        self._count(url)
        duplicate = self._seen.holds(simhash)
        self._count_duplicate(url, duplicate, language)
        self._seen.add(simhash)
        return duplicate

    def visited_again(self, url: Url, before: int | None, simhash: int) -> None:
        """Remember the text that a page has now instead of the one that it had."""
        self.answered(url, True)
        if before != simhash:
            if before is not None:
                self._seen.take_back(before)
            self._seen.add(simhash)

    def take_back(self, url: Url, simhash: int, duplicate: bool) -> None:
        """Take a page for one that never came, but for what was left alone because of it."""
        self._seen.take_back(simhash)
        _uncount(self._pages, (hash(url.server), hash(directory(url))))
        if duplicate:
            keys, named = self._duplicate_keys(url), _named(url)
            _uncount(self._in_a_row, (*keys, *(hash((key, named)) for key in keys[1:])))
            if (family := self._family.get(keys[-1])) is not None:
                _uncount(self._in_a_row, (family,))

    def repeats(self, url: Url, family: str) -> None:
        """Count a near-duplicate, which was added, for the family of its registered domain."""
        key = hash(("family", family))
        self._family[hash(_site(url))] = key
        row = self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
        if 0 < _ROWS[-1][0] * self._duplicates <= row:
            self._closed[key] = Outcome.DUPLICATES_ON_SITE

    def _duplicate_keys(self, url: Url) -> tuple[int, int, int]:
        return hash(pattern(url)), hash(url.server), hash(_site(url))

    def _count_duplicate(self, url: Url, duplicate: bool, language: str | None) -> None:
        keys, named = self._duplicate_keys(url), _named(url)
        of_language = [hash((key, named)) for key in keys[1:]] if named else []
        if not duplicate:
            for key in (*keys, *of_language, self._family.pop(keys[-1], 0)):
                self._in_a_row.pop(key, None)
            return
        if named and language and named != language:
            for key, one, row in zip(keys[1:], of_language, _ROWS[1:], strict=True):
                if self._is_too_many(url, one, *row):
                    self._closes_languages = True
                    self._is_too_many(url, key, *row)
            self._is_too_many(url, keys[0], *_ROWS[0])
            return
        for key, row in zip(keys, _ROWS, strict=True):
            self._is_too_many(url, key, *row)

    def _is_too_many(self, url: Url, key: int, times: int, reason: Outcome) -> bool:
        """Count a near-duplicate in a row; tell whether just now there are too many."""
        row = self._in_a_row[key] = self._in_a_row.get(key, 0) + 1
        most = times * self._duplicates
        if 0 < most <= row:
            self._close(url, key, reason)
        return row == most > 0

    def _count(self, url: Url) -> None:
        for place in (url.server, directory(url)):
            key = hash(place)
            self._pages[key] = self._pages.get(key, 0) + 1
        if 0 < self._directory_pages <= self._pages[key]:
            self._close(url, key, Outcome.DIRECTORY_PAGES)

    def _close(self, url: Url, key: int, reason: Outcome) -> None:
        self._closed[key] = reason
        self._partly[hash(url.server)] = None

    def answered(self, url: Url, in_time: bool) -> None:
        """Count an answer, or that there was none."""
        server, site_ = hash(url.server), hash(_site(url))
        for key in (server, site_):
            self._unanswered[key] = 0 if in_time else self._unanswered.get(key, 0) + 1
        if in_time:
            self._silent.pop(site_, None)
        elif 0 < self._timeouts <= self._unanswered[site_]:
            self._silent[site_] = None

    def unanswered(self, url: Url) -> int:
        """Return how many URLs of a server in a row weren't answered in time."""
        return self._unanswered.get(hash(url.server), 0)

    def listed(self, listing: str, is_page: bool) -> None:
        """Count a URL that a sitemap or feed named: it is a page, or there is none."""
        key = hash(listing)
        self._misses[key] = self._misses.get(key, 0) + (-EARNED if is_page else 1)

    def missing(self, listing: str) -> Outcome | None:
        """Return that too many URLs of a sitemap or feed are missing for more to be asked for."""
        return Outcome.LISTED_MISSING if self._misses.get(hash(listing), 0) >= MISSES else None

    def close(self, server: str, reason: Outcome) -> None:
        """Leave a server alone from now on."""
        self._closed[hash(server)] = reason

    @property
    def refuses(self) -> bool:
        """Whether anything is left alone."""
        return bool(self._closed) or bool(self._silent)

    def closed(self, url: Url) -> Outcome | None:
        """Return why a URL is left alone, None if it isn't."""
        if self._silent and self._is_silent(url):
            return Outcome.TIMEOUTS_ON_SITE
        if not self._closed:
            return None
        closed, server = self._closed, hash(url.server)
        if server in closed:
            return closed[server]
        if server in self._partly:
            for place in (directory(url), pattern(url)):
                if (key := hash(place)) in closed:
                    return closed[key]
        site_ = hash(_site(url))
        if self._closes_languages and (named := _named(url)):
            for key in (server, site_):
                if reason := closed.get(hash((key, named))):
                    return reason
        return closed.get(site_) or closed.get(self._family.get(site_, site_))

    def _is_silent(self, url: Url) -> bool:
        return hash(_site(url)) in self._silent and hash(url.server) not in self._pages


def _uncount(counts: _Latest[int], keys: Iterable[int]) -> None:
    for key in keys:
        if counts.get(key, 0) > 1:
            counts[key] -= 1
        else:  # it may be forgotten by now
            counts.pop(key, None)


def _site(url: Url) -> str:
    return f"*.{site(url.hostname)}"


def _named(url: Url) -> str:
    """Return the language that a folder of a URL is named as, by its form: `/ja/`, `/pt-BR/`."""
    found = _LANGUAGE.search(url.path)
    return found[1] if found else ""


def pattern(url: Url) -> str:
    """Return the server and all folders of a URL, numbers as 0, and the names in its query."""
    folder = _NUMBER.sub("0", url.path[: url.path.rfind("/") + 1])
    names = "&".join(part.partition("=")[0] for part in url.query.split("&"))
    # Never the server's or the directory's own name: those have counts of their own.
    return f"{url.server} {folder}?{names}"
