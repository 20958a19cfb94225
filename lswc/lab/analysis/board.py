"""Board report: what a crawl collected, refused and may still find, on one page for non-experts."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

from rich.filesize import decimal

from lswc.archive.run_settings import opt_out_of, settings_of_all
from lswc.errors import LswcError
from lswc.guest.control.store import InFolder
from lswc.html_templates import templates_of
from lswc.lab.analysis.refusals import ELSEWHERE, OTHER_KIND, Refusals, refusals
from lswc.lab.analysis.table import share
from lswc.language.registry import LanguageError, language
from lswc.monitor.stored import StoredInFolders
from lswc.outcomes import UNSHOWN
from lswc.plurals import numbered
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.guest.pageless import Without
    from lswc.lab.analysis.ledger import Ledger
    from lswc.language.registry import Language
    from lswc.monitor.snapshot import Snapshot

BOARD = "board.html"
"""Name of the board report in the report's folder."""

_BARS = 5
_LONGEST_TITLE = 100
_LONGEST_DESCRIPTION = 240
_SERVERS_NAMED = 2


class Tile(NamedTuple):
    """A large number, and in words what it counts."""

    number: str
    what: str


class Bar(NamedTuple):
    """A number with its name and its share of all, 0 to 1."""

    name: str
    number: int
    share: float


class Growth(NamedTuple):
    """Two lines as points of SVG, 100 wide and 30 high, and what stands at their ends."""

    pages: str
    wanted: str
    began: str
    ended: str


@dataclass(frozen=True)
class Board:
    """All that the page shows, in words and numbers.

    ``name`` is the language's. ``balance`` counts the addresses that ended: how many were
    collected, weren't, only led to others, or are of another kind. ``refused`` has for each reason
    the addresses and the links; those are None if they aren't known.
    """

    title: str
    description: str
    name: str
    state: str
    tiles: tuple[Tile, ...]
    languages: tuple[Bar, ...]
    places: tuple[Bar, ...]
    place_title: str
    growth: Growth | None
    balance: str
    refused: tuple[tuple[str, int, int | None], ...]
    ahead: tuple[str, ...]
    notes: tuple[str, ...]


class Standing(NamedTuple):
    """What is known of a crawl besides its log: its settings, and its frontier at this time.

    ``counted`` and ``reported`` are None if the frontier can't be read, which ``gaps`` says;
    ``disk`` are the bytes of the WARC files.
    """

    settings: Mapping[str, object]
    counted: Snapshot | None
    reported: Snapshot | None
    without_page: Without | None
    disk: int
    opt_out: str
    gaps: tuple[str, ...]


def standing(folders: Sequence[Path]) -> Standing:
    """Return how a crawl in the folders of its workers stands. Raises LswcError."""
    from lswc.monitor.snapshot_sum import summed

    disk = sum(path.stat().st_size for one in folders for path in (one / "warc").glob("*.warc.gz*"))
    counted = reported = without = None
    try:
        crawl = StoredInFolders(folders, InFolder(folders[0]))
        counted, gaps = crawl.counted(1), crawl.gaps()
        if snapshots := crawl.reported():
            reported = summed(snapshots)
            without = reported.without_page
    except LswcError as error:
        gaps = [f"what is pending isn't known: {error}"]
    opt_out = ""
    with suppress(LswcError):
        opt_out = opt_out_of(folders[0])
    settings = settings_of_all(folders)
    return Standing(settings, counted, reported, without, disk, opt_out, tuple(gaps))


def title(name: str, ledger: Ledger, operator: str) -> str:
    """Return what the crawl of a language is called: who collected it, and when."""
    by = f" by {_cut(operator, _LONGEST_TITLE)}" if operator else ""
    months = _months(ledger)
    when = f"{',' if by else ''} {months}" if months else ""
    return f"The {name} web, collected{by}{when}"


def board(
    ledger: Ledger, of: Language, stands: Standing, places: Sequence[str], to_nominate: int
) -> Board:
    """Return the board report. ``places`` are sentences about where the servers are."""
    name, tag = of.name, of.tag
    by_language = Counter[str | None]()
    by_place = Counter[str]()
    for (lang, domain), number in ledger.pages.items():
        by_language[lang] += number
        if lang == tag:
            by_place[f".{domain}" if domain else "(address)"] += number
    found = refusals(ledger.outcomes, stands.counted.tallies.discarded if stands.counted else None)
    operator = str(stands.settings.get("LSWC_OPERATOR") or "")
    wanted = by_language[tag]
    return Board(
        title=title(name, ledger, operator),
        description=_cut(str(stands.settings.get("LSWC_DESCRIPTION") or ""), _LONGEST_DESCRIPTION),
        name=name,
        state=_state(stands, ledger),
        tiles=_tiles(ledger, stands, name, wanted),
        languages=_bars((named(lang), number) for lang, number in by_language.most_common()),
        places=_bars((readable(one), number) for one, number in by_place.most_common()),
        place_title=_of_places(by_place, name, of.tlds),
        growth=_growth(ledger.growth),
        balance=_balance(ledger, found),
        refused=tuple(found.rows),
        ahead=tuple(_ahead(stands, ledger, name, wanted, to_nominate)),
        notes=tuple(_notes(stands, ledger, name, places)),
    )


def html(shown: Board) -> str:
    """Return the page. All that the web or the user says in it is text."""
    return _PAGES.get_template(BOARD).render(board=shown)


_PAGES = templates_of("lswc.lab.analysis")


def named(tag: str | None) -> str:
    """Return the English name of a language, or its tag if it is unknown here."""
    if tag is None:
        return "not known"
    try:
        return language(tag).name
    except LanguageError:
        return tag


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _months(ledger: Ledger) -> str:
    if ledger.began is None or ledger.ended is None:
        return ""
    first, last = (f"{_time(one):%b %Y}" for one in (ledger.began, ledger.ended))
    return first if first == last else f"{first} to {last}"


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _day(seconds: float | None) -> str:
    return "–" if seconds is None else f"{_time(seconds):%-d %B %Y}"


def _state(stands: Standing, ledger: Ledger) -> str:
    """Say from when until when it was collected, and whether the crawl has ended."""
    first, last = _day(ledger.began), _day(ledger.ended)
    days = f"Collected on {first}." if first == last else f"Collected from {first} to {last}."
    reported = stands.reported
    if reported is None:
        return days
    if reported.is_live:
        when = f"{_time(reported.time):%-d %B %Y, %H:%M} UTC"
        return f"{days} The crawl was still running at its last report, {when}."
    return f"{days} The crawl has stopped: {reported.reason}." if reported.reason else days


def _tiles(ledger: Ledger, stands: Standing, name: str, wanted: int) -> tuple[Tile, ...]:
    holdings = ledger.sites.values()
    collected = ledger.pages.total()
    archived = sum(one.pages for one in holdings)
    with_pages = sum(one.pages > 0 for one in holdings)
    met = sum(bool(site) for site in ledger.sites)
    size = sum(one.archived for one in holdings)
    part = share(wanted, collected)
    of_all = f", {part:.0%} of them" if part is not None else ""
    return (
        Tile(f"{collected:,}", "pages collected: fetched, read and recorded"),
        Tile(f"{wanted:,}", f"pages in {name}{of_all}"),
        Tile(f"{archived:,}", "pages archived: kept as they were, to be shown again"),
        Tile(f"{with_pages:,}", f"sites with an archived page, of {met:,} that the crawl met"),
        Tile(f"{ledger.documents:,}", "documents (PDF, Word ...) among the archived pages"),
        Tile(decimal(size), f"archived content; its files take {decimal(stands.disk)}"),
    )


def _bars(found: Iterable[tuple[str, int]]) -> tuple[Bar, ...]:
    """Return the largest, and what the others have together."""
    rows = list(found)
    total = sum(number for _, number in rows)
    first, rest = (rows, []) if len(rows) <= _BARS + 1 else (rows[:_BARS], rows[_BARS:])
    if rest:
        first = [*first, (f"{len(rest):,} others", sum(number for _, number in rest))]
    return tuple(Bar(name, number, number / total) for name, number in first)


def _of_places(by_place: Counter[str], name: str, tlds: Sequence[str]) -> str:
    """Say which share of the language's pages is outside the country's own domains."""
    total = by_place.total()
    if not total:
        return f"No page in {name} was collected"
    own = [f".{one}" for one in tlds]
    if not own:
        return f"Where the pages in {name} are"
    outside = total - sum(by_place[one] for one in own)
    return f"{outside / total:.0%} of the pages in {name} are outside {readable(', '.join(own))}"


def _growth(steps: Sequence[tuple[float, int, int]]) -> Growth | None:
    """Return the lines of pages by time; None if there is no time between them."""
    if len(steps) < 2:
        return None
    began, ended = steps[0][0], steps[-1][0]
    total = sum(pages for _, pages, _ in steps)
    lines: list[list[str]] = [[], []]
    sums = [0, 0]
    for time, *numbers in steps:
        x = 100 * (time - began) / (ended - began)
        for line, number in enumerate(numbers):
            if sums[line] and number:  # it is flat until then
                lines[line].append(f"{x:.2f},{30 - 30 * sums[line] / total:.2f}")
            sums[line] += number
            lines[line].append(f"{x:.2f},{30 - 30 * sums[line] / total:.2f}")
    form = "%H:%M UTC" if ended - began < 86_400 else "%-d %b %Y"
    first, last = _time(began).strftime(form), _time(ended).strftime(form)
    return Growth(" ".join(lines[0]), " ".join(lines[1]), first, last)


def _balance(ledger: Ledger, found: Refusals) -> str:
    pages, refused = ledger.pages.total(), sum(number for _, number, _ in found.rows)
    led, other = found.addresses[ELSEWHERE], found.addresses[OTHER_KIND]
    ended = pages + refused + led + other
    return (
        f"Of {ended:,} addresses that the crawl dealt with, {pages:,} were collected and "
        f"{refused:,} weren't, for the reasons below. {led:,} only led to other addresses. "
        f"{other:,} were neither a page nor a document."
    )


def _ahead(
    stands: Standing, ledger: Ledger, name: str, wanted: int, to_nominate: int
) -> Iterator[str]:
    counted = stands.counted
    if counted is not None and counted.pending:
        low, high = floor(counted.outlook.at_least), ceil(counted.outlook.at_most)
        are = "address waits" if counted.pending == 1 else "addresses wait"
        yield (
            f"{counted.pending:,} {are} to be collected. By what such addresses brought so far, "
            f"{low:,} to {high:,} of them should be in {name}."
        )
        if wanted and high:
            yield (
                f"So the crawl has some {wanted / (wanted + high):.0%} to "
                f"{wanted / (wanted + low):.0%} of the {name} pages that it knows a way to. Nobody "
                "knows what lies behind these: its share of the whole web is smaller."
            )
        yield "To collect them, start the same crawl again: it goes on where it stopped."
    elif counted is not None:
        yield (
            "No address waits: the crawl has been at all that it knows. New pages come with new "
            "seeds (addresses to begin with), or with a visit next year."
        )
    if to_nominate:
        have = "has" if to_nominate == 1 else "have"
        yield (
            f"{numbered(to_nominate, 'site')} outside the country's own domain {have} pages in "
            f"{name}. People decide which to nominate: tables/nominations.csv lists them."
        )
    if unshown := sum(ledger.outcomes[one] for one in UNSHOWN):
        pages = "page needs a browser" if unshown == 1 else "pages need a browser"
        yield f"{unshown:,} {pages} to show anything: LSWC_BROWSER=auto uses one."
    if stands.without_page is not None and stands.without_page.servers:
        first = ", ".join(one.name for one in stands.without_page.first[:_SERVERS_NAMED])
        servers = numbered(stands.without_page.servers, "server")
        yield f"{servers} answered and gave no page ({_cut(readable(first), 90)})."


def _notes(stands: Standing, ledger: Ledger, name: str, places: Sequence[str]) -> Iterator[str]:
    files = sum(one.files for one in ledger.sites.values())
    yield (
        "A page is one web address with text, however often it was visited. A site is a registered "
        "domain, such as example.org. A program tells the languages, and is sometimes wrong."
    )
    yield (
        f"Not counted as pages: {files:,} images, style sheets, scripts and other files that "
        "archived pages need; addresses that nobody asked for yet. A link counts as often as it "
        "was found."
    )
    if stands.settings.get("LSWC_ARCHIVE") == "none":
        yield "This crawl keeps no archive (LSWC_ARCHIVE=none): it only recorded what it read."
    if ledger.opted_out:
        pages = numbered(ledger.opted_out, "collected page")
        yield f"{pages} asked not to be mined for data (LSWC_OPT_OUT={stands.opt_out})."
    if earlier := stands.settings.get("LSWC_RECRAWL"):
        number = len(earlier) if isinstance(earlier, list) else 1
        yield (
            f"This crawl visited again what {numbered(number, 'earlier crawl')} stored. An "
            "unchanged page counts as archived, but its content is stored there."
        )
    yield from places
    yield from (f"Missing: {_cut(gap, 200)}." for gap in stands.gaps)
