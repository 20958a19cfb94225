"""Seed lists for ``lswc seeds``: judged by what the source says, or by visits."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from html import escape
from ipaddress import ip_address
from shutil import rmtree
from typing import TYPE_CHECKING, NamedTuple

from lswc.crawl.checked_settings import contact
from lswc.errors import writing
from lswc.files import whole
from lswc.language import Identifier
from lswc.language.registry import language
from lswc.outcomes import Outcome
from lswc.plurals import numbered
from lswc.seeds.candidates import Asked, SeedError
from lswc.seeds.catalogue import source_called
from lswc.seeds.formats import FORMATS, recognised
from lswc.seeds.kinds import of_page
from lswc.seeds.listing import Listed, Origin, report_of, text_of
from lswc.seeds.pool import Pool, database
from lswc.seeds.selection import SeedBounds, choose
from lswc.seeds.visiting import site_of, visit
from lswc.urls import parse, tld

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from scrapy.settings import Settings

    from lswc.progress import Say
    from lswc.seeds.pool import Place
    from lswc.seeds.selection import Judge
    from lswc.seeds.visiting import Seen

FETCHED = 4
"""How many times as many pages as seeds are fetched to find them."""

_ANY = "any"
_SEEN = frozenset({"crawl", "nominations", "warc"})  # formats of those who were there


class Made(NamedTuple):
    """What came of it: counts in named groups, a line per list written, and what to know of it."""

    counts: dict[str, dict[str, int]]
    written: list[str]
    remarks: list[str]


class _Work(NamedTuple):
    """What was asked for: languages by code, options, and where the seeds are from."""

    codes: list[str]
    opts: argparse.Namespace
    origin: Origin
    say: Say


def make(opts: argparse.Namespace, sources: Sequence[Path], settings: Settings, say: Say) -> Made:
    """Write the seed lists that the options of ``lswc seeds`` ask for.

    Raises LswcError; SeedError if nothing in the sources is usable.
    """
    codes = [language(code.strip()).tag for code in opts.lang.split(",")]
    _check(opts, codes)
    if opts.fetch and not settings.get("LSWC_WEB"):
        contact(settings)  # now: a large file takes long to read
    name = _format(opts, sources)
    reader = FORMATS[name]
    identifiers = {code: Identifier(language(code)) for code in codes}
    known = tuple(dict.fromkeys([*codes, *_bases(codes)]))
    asked = Asked(known, partial(_told, identifiers), say=say, dialects=opts.dialects)
    tlds = frozenset(name.strip(" .").lower() for name in opts.tlds.split(",") if name.strip())
    work = _Work(codes, opts, _origin(opts, sources, name), say)
    with database() as db:
        pool = Pool(db, asked.passed, opts.random_seed, tlds)
        usable = sum(pool.add(reader(source, asked)) for source in sources)
        if not usable:
            raise SeedError(_nothing(sources, asked.passed))
        say("choose", 0, 0)
        chosen = _chosen(pool, work, identifiers, asked.passed)
    counts = {"read": {"usable": usable}, "passed over": dict((+asked.passed).most_common())}
    if opts.fetch:
        return _made_of_visits(chosen[_ANY], work, settings, counts)
    if not any(chosen.values()):
        raise SeedError(_none(codes, asked.passed))
    lists = {code: list(map(_unvisited, places)) for code, places in chosen.items()}
    written = [_write(work, code, listed) for code, listed in lists.items() if listed]
    return Made(counts, written, [*_missing(lists), *_unknown(asked.passed)])


def _unvisited(place: Place) -> Listed:
    url = parse(place.url)
    return Listed(place.url, place.kind or of_page(url.hostname if url else "", ""))


def _check(opts: argparse.Namespace, codes: list[str]) -> None:
    """Raise ConfigError for what is wrong before any work is done."""
    for name in ("most", "per_domain"):
        if getattr(opts, name) < 1:
            option = name.replace("_", "-")
            raise SeedError(f"--{option} must be at least 1, not {getattr(opts, name)}")
    if opts.trust and (len(codes) > 1 or opts.fetch):
        raise SeedError("--trust is for one language, and without --fetch")
    for code in codes:
        if (opts.out / f"{code}.txt").exists():
            raise SeedError(f"{opts.out / code}.txt exists: choose another --out")


def _format(opts: argparse.Namespace, sources: Sequence[Path]) -> str:
    expected = source_called(opts.source).formats if opts.source else ()
    if opts.format:
        if opts.format not in FORMATS:
            raise SeedError(f"unknown format {opts.format!r}; known: {', '.join(FORMATS)}")
        return str(opts.format)
    if len(expected) == 1:
        return expected[0]
    formats = {recognised(path): path for path in sources}
    if len(formats) > 1:
        found = ", ".join(f"{path} ({name})" for name, path in formats.items())
        raise SeedError(f"name files of one kind: the evidence of these can't be compared: {found}")
    name, path = next(iter(formats.items()))
    if expected and name not in expected:
        wanted = " or ".join(expected)
        raise SeedError(f"--from {opts.source}: {path} looks like {name!r}, not like {wanted}")
    return name


def _origin(opts: argparse.Namespace, sources: Sequence[Path], name: str) -> Origin:
    """Return what the lists say of where their seeds are from, and when they were read."""
    files = ", ".join(path.name for path in sources[:3]) + (" and more" if sources[3:] else "")
    title = source_called(opts.source).title if opts.source else files
    return Origin(opts.called or title, datetime.now(UTC).date().isoformat(), name in _SEEN)


def _nothing(sources: Sequence[Path], passed: Counter[str]) -> str:
    names = ", ".join(map(str, sources))[:200]
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in passed.most_common(5))
    return f"nothing usable in {names}: {reasons or 'it is empty'}"


def _none(codes: Sequence[str], passed: Counter[str]) -> str:
    names = " or ".join(language(code).name for code in codes)
    return "; ".join([f"no {names} page found", *_unknown(passed)])


def _missing(lists: Mapping[str, Sequence[Listed]]) -> list[str]:
    return [
        f"no {language(code).name} page found, no {code}.txt written"
        for code, listed in lists.items()
        if not listed
    ]


def _unknown(passed: Counter[str]) -> list[str]:
    """Return what can be done about URLs of which no language is known."""
    unknown = passed["language not known"]
    hint = "--fetch asks the pages, --trust takes the list's word"
    return [f"of {numbered(unknown, 'URL')} the language isn't known: {hint}"] if unknown else []


def _chosen(
    pool: Pool, work: _Work, identifiers: dict[str, Identifier], passed: Counter[str]
) -> dict[str, list[Place]]:
    """Choose the seeds, or what is worth fetching to find them."""
    codes, opts = work.codes, work.opts
    left: Counter[str] = Counter()
    # Of a language in several variants a source doesn't say which: not known.
    bases = _bases(codes) - {*codes}
    ranked = (p._replace(language=None) if p.language in bases else p for p in pool.ranked())
    if opts.fetch:
        bounds = SeedBounds(opts.most * len(codes) * FETCHED, opts.per_domain * FETCHED)
        places = (
            place._replace(language=_ANY) if place.language in (None, *codes) else place
            for place in ranked
        )
        chosen = choose(places, lambda _: None, [_ANY], bounds, left)
    else:
        bounds = SeedBounds(opts.most, opts.per_domain)
        judge = _judge(codes, identifiers, codes[0] if opts.trust else None)
        chosen = choose(_public(ranked, left), judge, codes, bounds, left)
    left["enough seeds"] += len(pool) - left.total() - sum(map(len, chosen.values()))
    passed.update(+left)
    return chosen


def _public(places: Iterable[Place], left: Counter[str]) -> Iterator[Place]:
    """Leave out private addresses, and names without a dot: no visit says what they are."""
    for place in places:
        url = parse(place.url)
        host = url.hostname.strip("[]") if url else ""
        try:
            is_public = ip_address(host).is_global
        except ValueError:
            is_public = "." in host
        if is_public:
            yield place
        else:
            left[str(Outcome.ADDRESS_NOT_PUBLIC)] += 1


def _judge(codes: list[str], identifiers: dict[str, Identifier], trusted: str | None) -> Judge:
    """Tell a candidate's language by its text, else by a top-level domain of one language."""
    owners, bases = defaultdict(list), _bases(codes)
    for code in codes:
        for name in language(code).tlds:
            owners[name].append(code)

    def judge(place: Place) -> str | None:
        if place.text:
            body = f"<body>{escape(place.text)}".encode(errors="replace")
            for code, identifier in identifiers.items():
                reading = identifier.read(body, "text/html; charset=utf-8", place.url)
                if reading.identification.wanted(identifier.target) == code:
                    return code
            found = reading.identification.language
            if found is not None and found not in bases:
                return found
        url = parse(place.url)
        owner = owners.get(tld(url.hostname) if url else "", [])
        return owner[0] if len(owner) == 1 else trusted

    return judge


def _made_of_visits(
    places: Sequence[Place],
    work: _Work,
    settings: Settings,
    counts: dict[str, dict[str, int]],
) -> Made:
    """Visit candidates, and write lists of those that are in a language, best first.

    A folder of the visits is left behind by Ctrl-C, and goes when the lists are written. Raises
    LswcError, KeyboardInterrupt.
    """
    folder = work.opts.out / f"{'-'.join(work.codes)}.visits"
    visits = visit([place.url for place in places], work.codes, folder, settings, work.say)
    left_out = dict(visits.failed)
    lists = _ranked(visits.seen, {place.url: place.kind for place in places}, work, left_out)
    reasons = dict(Counter(left_out.values()).most_common())
    seeds = {language(code).name: len(listed) for code, listed in lists.items()}
    with writing(folder), suppress(FileNotFoundError):
        rmtree(folder)
    if not any(lists.values()):
        with suppress(OSError):
            work.opts.out.rmdir()
        why = ", ".join(f"{count:,} {reason}" for reason, count in list(reasons.items())[:5])
        raise SeedError(f"{_none(work.codes, Counter())}: {why or 'no candidates'}")
    written = [_write(work, code, listed) for code, listed in lists.items() if listed]
    written.append(_report(work, left_out))
    return Made({**counts, "seeds": seeds, "left out": reasons}, written, _missing(lists))


def _ranked(
    seen: Mapping[str, Seen], kinds: Mapping[str, str], work: _Work, left_out: dict[str, str]
) -> dict[str, list[Listed]]:
    """Return the pages of each language, by what their sites should bring; say why not of others.

    ``kinds`` are those that the source says, by URL, in the order of its evidence.
    """
    opts, order = work.opts, {url: rank for rank, url in enumerate(kinds)}
    lists: dict[str, list[Listed]] = {code: [] for code in work.codes}
    of_site, listed = Counter[tuple[str, str]](), set[str]()
    for asked, page in sorted(seen.items(), key=lambda one: (-one[1].worth, order[one[0]])):
        home = (page.language, site_of(page.url))
        reason = _refusal(page)
        if not reason and page.url in listed:
            reason = "leads to another seed"
        elif not reason and of_site[home] >= opts.per_domain:
            reason = "enough of its domain"
        elif not reason and len(lists[page.language]) >= opts.most:
            reason = "enough seeds"
        if reason:
            left_out[asked] = reason
            continue
        of_site[home] += 1
        listed.add(page.url)
        lists[page.language].append(Listed(page.url, kinds[asked] or page.kind, _note(asked, page)))
    return lists


def _refusal(page: Seen) -> str:
    """Return why a page is no seed of any of the languages; "" if it may be one."""
    if page.unwanted or page.language:
        return page.unwanted
    return f"in another language: {page.leads}" if page.leads else "language unknown"


def _note(asked: str, page: Seen) -> str:
    """Say what was seen of a seed; nothing of it is a stranger's word."""
    parts = [
        f"{page.day}: {language(page.language).name} {page.share:.0%}",
        numbered(page.links, "link"),
    ]
    if page.url.partition("://")[2] != asked.partition("://")[2]:
        parts.append("not the page that was named")
    if page.is_closed:
        parts.append("forbids mining of its text")
    return ", ".join(parts)


def _bases(codes: Iterable[str]) -> set[str]:
    """Return the languages of variants: ``zh`` for ``zh-Hant``."""
    return {language(code).code for code in codes}


def _told(identifiers: dict[str, Identifier], body: bytes, header: str, url: str) -> str | None:
    """Return the first of the languages that a page is in."""
    for code, identifier in identifiers.items():
        if identifier.read(body, header, url).identification.wanted(identifier.target) == code:
            return code
    return None


def _write(work: _Work, code: str, listed: list[Listed]) -> str:
    path, name = work.opts.out / f"{code}.txt", language(code).name
    _put(path, text_of(name, listed, work.origin))
    return f"{path}: {numbered(len(listed), f'{name} seed')}"


def _report(work: _Work, left_out: Mapping[str, str]) -> str:
    path = work.opts.out / f"{'-'.join(work.codes)}.left-out.tsv"
    _put(path, report_of(left_out))
    return f"{path}: {numbered(len(left_out), 'URL')} left out, each with its reason"


def _put(path: Path, text: str) -> None:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as beside:
            beside.write_text(text, encoding="utf-8")
