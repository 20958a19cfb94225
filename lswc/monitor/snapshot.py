"""Snapshot: all that is reported of a crawl at one time. Its numbers are worked out here only.

A crawl that runs makes one every few seconds (``lswc.monitor.observer``); of a crawl that ended,
or that others run, it is made of what is stored (``lswc.monitor.stored``). Renderers only show it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import nlargest
from math import ceil, floor
from time import time
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from lswc.frontier.rules.harvest import Forecast, Group, by_group, forecast
from lswc.frontier.rules.report import Completion, Family, Freshness, Queue
from lswc.guest.pageless import Without
from lswc.outcomes import OF_REQUISITE, Outcome, is_left_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lswc.frontier.rules.contract import Counts
    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.frontier.store.report import Reader
    from lswc.guest.control import Control
    from lswc.strategy import Strategy

RUNNING, PAUSED, OFFLINE, CLOSED = "running", "paused", "offline", "closed"
"""What a crawl can be doing, by its own account."""

CLOSING = "closing"
"""A worker whose crawl can't be written any more, until it has closed."""

SILENT, UNKNOWN = "silent", "unknown"
"""A worker that reports nothing any more, and a crawl of which nothing was reported yet."""

LIVE = (RUNNING, PAUSED, OFFLINE)

TOP = 25
"""Cells, servers and URLs in a list."""

_FETCHED = (
    Outcome.HTML, Outcome.DOCUMENT, Outcome.NOINDEX, Outcome.NOARCHIVE, Outcome.NOT_HTML,
    Outcome.DOCUMENT_LEFT, Outcome.REDIRECT, Outcome.REQUISITE, Outcome.LISTING, Outcome.TWIN,
    Outcome.CANONICAL, Outcome.COPY,
)  # fmt: skip
"""Outcomes that are no error."""

Numbers = dict[str, int]


class Coverage(Struct, frozen=True):
    """How many of the web's relevant pages the crawl has; known only for a web with truth."""

    relevant: int
    collected: int
    share: float


class OfLanguage(Struct, frozen=True):
    """What a crawl of several languages has in one of them. A page may be relevant for several."""

    relevant: int
    harvest_rate: float | None
    coverage: Coverage | None


class Tallies(Struct, frozen=True, kw_only=True):
    """Pages, links and URLs by name, the largest number first.

    ``kinds`` of pages are HTML and documents; ``sources`` say what named the relevant ones, and
    ``relevant`` counts these by language. Links are kept by tier, or discarded with their reason;
    URLs finished, or postponed, by outcome; ``fetched`` pages by group. ``left_out`` has links and
    pending URLs that weren't wanted, ``errors`` the URLs that couldn't be had. ``linked_documents``
    are archived though their language isn't known. ``requisites`` of archived pages and
    ``shells``, pages that need their scripts, are counted by what came of them, with what the
    browser took. ``clean_text`` are
    letters of the relevant pages, counted if text counts.
    """

    kinds: Numbers = {}
    sources: Numbers = {}
    languages: Numbers = {}
    relevant: Numbers = {}
    encodings: Numbers = {}
    content: Numbers = {}
    links_kept: Numbers = {}
    discarded: Numbers = {}
    fetched: Numbers = {}
    postponed: Numbers = {}
    finished: Numbers = {}
    left_out: Numbers = {}
    errors: Numbers = {}
    linked_documents: Numbers = {}
    requisites: Numbers = {}
    shells: Numbers = {}
    clean_text: Numbers = {}


class Cell(Struct, frozen=True):
    """A cell in words; ``expected`` and ``seen`` are shares of relevant pages.

    ``before`` are the pages that the crawl began with, as if it had had them.
    """

    name: str
    pending: int
    pages: int
    expected: float
    seen: float | None
    before: int = 0


class Outlook(Struct, frozen=True, kw_only=True):
    """What the pending URLs should bring, by what URLs like them have brought.

    ``expected`` relevant pages among all, hardly less than ``at_least`` and hardly more than
    ``at_most``; ``next_relevant`` among
    the ``next_downloads`` that come first. ``groups`` and ``best`` cells come the best first, the
    ``largest`` cells by their URLs.
    """

    at_least: float = 0.0
    expected: float = 0.0
    at_most: float = 0.0
    next_downloads: int = 0
    next_relevant: float = 0.0
    next_harvest_rate: float | None = None
    groups: tuple[Group, ...] = ()
    best: tuple[Cell, ...] = ()
    largest: tuple[Cell, ...] = ()

    @property
    def in_words(self) -> str:
        """How many of the pending URLs should be relevant: what lies behind them isn't known."""
        at_least, at_most = floor(self.at_least), ceil(self.at_most)
        if at_most <= 1 and not at_least:
            return "hardly one of them relevant"
        return f"{at_least:,} to {at_most:,} of them relevant"


class Fetch(Struct, frozen=True):
    """A URL that is being fetched, and for how many seconds."""

    url: str
    seconds: float
    expected: float | None
    tries: int


class Latency(Struct, frozen=True):
    """The seconds that a server takes to answer, and the number of its answers."""

    server: str
    seconds: float
    answers: int


class DiskSpace(Struct, frozen=True):
    """Bytes of the disk that a crawl's folder is on."""

    free: int
    total: int


class Worker(Struct, frozen=True, kw_only=True):
    """One process of a crawl. Times are seconds since 1970; numbers are those of this run.

    It has run for ``seconds``; ``pages_per_second`` is of the latest minute, and the mean of the
    run. ``requests`` are sent at a time, and ``readers`` processes read its pages; ``idle`` seconds
    ago a URL ended; a power cut would lose ``unsaved`` bytes. A worker ``is_stuck`` if there is
    something to do, and nothing was done for long. If it only ``waits`` for something, that is in
    words. Connections were free for ``held_back`` seconds while URLs of free servers waited for
    better ones, for ``longest_held_back`` of them in a row. Links to other workers' sites that
    haven't arrived are in its ``outbox``; ``away`` says why Redis can't be reached.
    """

    host: str = ""
    process: int = 0
    folder: str = ""
    version: str = ""
    time: float = 0.0
    began: float = 0.0
    seconds: float = 0.0
    state: str = UNKNOWN
    reason: str = ""
    pages: int = 0
    received: int = 0
    pages_per_second: float = 0.0
    mean_pages_per_second: float = 0.0
    requests: int = 0
    readers: int = 0
    under_way: int = 0
    idle: float = 0.0
    offline: float = 0.0
    unsaved: int = 0
    is_stuck: bool = False
    waits: str = ""
    held_back: float = 0.0
    longest_held_back: float = 0.0
    outbox: int = 0
    away: str = ""
    fetching: tuple[Fetch, ...] = ()
    slowest: tuple[Latency, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether it works, or waits for a reason."""
        return self.state in LIVE


class ControlInForce(Struct, frozen=True):
    """The control in force for the whole crawl, and the number of places that have a rule."""

    pause: bool
    stop: bool
    hours: str
    requests: int | None
    why: str
    rules: int


class Snapshot(Struct, frozen=True, kw_only=True):
    """A crawl at one time (seconds since 1970), all of its runs and workers together.

    ``relevant`` pages were identified as such, and the harvest rate counts them only; ``guessed``
    ones count for the strategy alone, their own language being unknown. ``recent_harvest_rate`` is
    that of the latest minute. ``coverage_at_most`` has the relevant pages downloaded by these and
    the ones expected among pending URLs. ``pending`` are all URLs that are neither leased nor
    finished: of them some are ``postponed`` and some ``requisites``. ``servers`` were found;
    ``by_status``, ``leased``, ``longest``, ``largest``, ``families`` and ``completion`` need a full
    count, and are None without one. ``without_page`` are servers that answered, and gave no page.
    ``freshness`` is None unless pages are visited again. It took
    ``runs`` and ``seconds`` in all, which only the last one knows.
    """

    time: float = 0.0
    language: str = ""
    strategy: str = ""
    state: str = UNKNOWN
    reason: str = ""
    pages: int = 0
    relevant: int = 0
    guessed: int = 0
    received: int = 0
    finished: int = 0
    harvest_rate: float | None = None
    recent_harvest_rate: float | None = None
    coverage_at_most: float | None = None
    coverage: Coverage | None = None
    by_language: dict[str, OfLanguage] = {}
    pending: int = 0
    postponed: int = 0
    requisites: int = 0
    servers: int = 0
    runs: int = 0
    seconds: float = 0.0
    tallies: Tallies = Tallies()
    outlook: Outlook = Outlook()
    freshness: Freshness | None = None
    pages_per_second: float = 0.0
    under_way: int = 0
    workers: tuple[Worker, ...] = ()
    disk: DiskSpace | None = None
    control: ControlInForce | None = None
    without_page: Without = Without()
    leased: int | None = None
    by_status: Numbers | None = None
    longest: tuple[Queue, ...] | None = None
    largest: tuple[Queue, ...] | None = None
    families: tuple[Family, ...] | None = None
    completion: Completion | None = None

    @property
    def ready(self) -> int:
        """Pending URLs that aren't postponed."""
        return max(0, self.pending - self.postponed)

    @property
    def is_live(self) -> bool:
        """Whether a worker of it lives."""
        return self.state in LIVE


def made(kinds: Mapping[str, Mapping[str, int]], **fields: Any) -> Snapshot:
    """Return the snapshot of a crawl by the tallies of its frontier, and ``fields`` at hand."""
    page = kinds.get("page", {})
    pages, relevant = sum(page.values()), page.get("relevant", 0)
    found = Snapshot(**{"time": time(), **fields})
    tallies = _tallies(kinds, found.requisites)
    ahead = in_pages(found.outlook, relevant) if tallies.clean_text else found.outlook
    return replace(
        found,
        outlook=ahead,
        pages=pages,
        relevant=relevant,
        guessed=page.get("guessed", 0),
        received=kinds.get("received", {}).get("bytes", 0),
        finished=sum(tallies.finished.values()),
        harvest_rate=rate(relevant, pages),
        coverage_at_most=rate(relevant, relevant + ahead.expected),
        postponed=sum(tallies.postponed.values()),
        tallies=tallies,
    )


def rate(part: float, whole: float) -> float | None:
    """Return a share, None of nothing; with four digits, as it is shown everywhere."""
    return round(part / whole, 4) if whole > 0 else None


def counted(frontier: Reader, top: int) -> Snapshot:
    """Return a snapshot of a stored frontier by a full count, which takes its time.

    It has ``top`` servers and cells in its lists. Raises LswcError.
    """
    report = frontier.report(top)
    return made(
        report.counts.tally,
        **full(report.counts),
        language=report.identity["language"],
        strategy=frontier.strategy.name,
        servers=frontier.servers(),
        outlook=outlook(report.cells, frontier.strategy, top),
        freshness=frontier.freshness(time()),
        leased=report.counts.leased,
        longest=report.queues,
        largest=report.largest,
        families=tuple(frontier.families(top)),
        completion=frontier.completion(top),
    )


def full(counts: Counts) -> dict[str, Any]:
    """Return the fields of a snapshot that a full count gives."""
    postponed = sum(counts.tally.get("postponed", {}).values())
    return {
        "pending": sum(counts.pending.values()) + counts.requisites + postponed,
        "requisites": counts.requisites,
        "by_status": dict(counts.servers),
    }


def of_workers(workers: Sequence[Worker]) -> dict[str, Any]:
    """Return the fields of a snapshot that say what its workers do."""
    live = [worker for worker in workers if worker.is_live]
    states = {worker.state for worker in workers}
    state = next((one for one in (*LIVE, CLOSING, SILENT, CLOSED) if one in states), UNKNOWN)
    latest = max(workers, key=lambda worker: worker.time, default=Worker())
    return {
        "state": state,
        "reason": latest.reason if latest.state == state else "",
        "workers": tuple(workers),
        "pages_per_second": round(sum(worker.pages_per_second for worker in live), 3),
        "under_way": sum(worker.under_way for worker in live),
    }


def slowest(workers: Iterable[Worker], top: int = TOP) -> list[Latency]:
    """Return the servers that take longest to answer, of all their answers to these workers."""
    seconds, answers = defaultdict[str, float](float), Counter[str]()
    for one in (latency for worker in workers for latency in worker.slowest):
        seconds[one.server] += one.seconds * one.answers
        answers[one.server] += one.answers
    found = (Latency(name, round(seconds[name] / n, 3), n) for name, n in answers.items())
    return nlargest(top, found, key=lambda one: one.seconds)


def in_force(control: Control) -> ControlInForce:
    """Return what a control says of the whole crawl."""
    hours = str(control.hours) if control.hours else ""
    return ControlInForce(
        control.pause, control.stop, hours, control.requests, control.why, len(control.rules)
    )


def outlook(cells: Sequence[CellHarvest], strategy: Strategy, top: int = TOP) -> Outlook:
    """Return what the URLs in these cells, the best first, should bring; ``top`` cells in words."""
    ahead: Forecast = forecast(cells)
    pending = [cell for cell in cells if cell.pending]
    largest = nlargest(top, pending, key=lambda cell: cell.pending) if len(pending) > top else []
    return Outlook(
        at_least=round(ahead.at_least, 1),
        expected=round(ahead.expected, 1),
        at_most=round(ahead.at_most, 1),
        next_downloads=ahead.next_downloads,
        next_relevant=round(ahead.next_relevant, 1),
        next_harvest_rate=rate(ahead.next_relevant, ahead.next_downloads),
        groups=tuple(by_group(cells)),
        best=tuple(cell_in_words(cell, strategy) for cell in pending[:top]),
        largest=tuple(cell_in_words(cell, strategy) for cell in largest),
    )


def in_pages(outlook: Outlook, relevant: int) -> Outlook:
    """Return an outlook in relevant pages that counted what pages bring (``lswc.strategy.value``).

    As if those to come brought as much each as the ``relevant`` ones so far.
    """
    brought = sum(group.relevant for group in outlook.groups)
    pages = relevant / brought if brought else 0.0
    pending = sum(group.pending for group in outlook.groups)
    most = dict.fromkeys(("at_least", "expected", "at_most"), pending)
    most["next_relevant"] = outlook.next_downloads
    scaled = {
        name: round(min(pages * getattr(outlook, name), number), 1) for name, number in most.items()
    }
    harvest = rate(scaled["next_relevant"], outlook.next_downloads)
    return replace(outlook, **scaled, next_harvest_rate=harvest)


def cell_in_words(cell: CellHarvest, strategy: Strategy) -> Cell:
    """Return a cell as people read it."""
    downloaded, relevant = cell.pages
    name = strategy.describe(cell.cell)
    seen = rate(relevant, downloaded)
    return Cell(name, cell.pending, downloaded, round(cell.expected, 4), seen, cell.before)


def _tallies(kinds: Mapping[str, Mapping[str, int]], requisites: int) -> Tallies:
    def of(kind: str) -> Numbers:
        return dict(kinds.get(kind, {}))

    def not_done(kind: str, words: str) -> Numbers:
        return {f"{words}: {reason}": number for reason, number in of(kind).items()}

    finished, discarded = of("finished"), of("discarded")
    unwanted = {name: number for name, number in finished.items() if is_left_out(name)}
    wait = {"pending": requisites} if requisites else {}
    spent = of("browser").get("CPU ms", 0)
    cpu = {"browser's CPU seconds": round(spent / 1_000)} if spent else {}
    return Tallies(
        kinds=of("kind"),
        sources=of("source"),
        languages=of("language"),
        relevant=of("relevant"),
        encodings=of("encoding"),
        content=of("content"),
        links_kept=of("kept"),
        discarded=discarded,
        fetched=of("fetched"),
        postponed=of("postponed"),
        finished=finished,
        left_out=_sorted(Counter(discarded) + Counter(unwanted)),
        errors=_sorted({n: k for n, k in finished.items() if n not in unwanted and _failed(n)}),
        linked_documents=of("linked documents"),
        requisites=of("requisites") | wait | not_done("requisites discarded", "not asked for"),
        clean_text=of("clean text"),
        shells=of("shells") | not_done("not given to browser", "not given to browser") | cpu,
    )


def _failed(outcome: str) -> bool:
    return outcome.removeprefix(OF_REQUISITE) not in _FETCHED


def _sorted(counts: Mapping[str, int]) -> Numbers:
    return dict(Counter(counts).most_common())


def by_language(
    snapshot: Snapshot, coverages: Mapping[str, Coverage | None]
) -> dict[str, OfLanguage]:
    """Return what a crawl has in each of its languages, whose ``coverages`` are by their tags."""
    found = snapshot.tallies.relevant
    return {
        tag: OfLanguage(found.get(tag, 0), rate(found.get(tag, 0), snapshot.pages), coverage)
        for tag, coverage in coverages.items()
    }


def covered(wanted: Iterable[str], collected: set[str]) -> Coverage:
    """Return how many of the relevant pages there are were collected, by their URLs."""
    relevant = set(wanted)
    found = len(relevant & collected)
    return Coverage(len(relevant), found, rate(found, len(relevant)) or 0.0)
