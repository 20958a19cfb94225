"""Questions to a crawl or trace, and the report that answers them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.archive.run_settings import language_of
from lswc.lab.analysis import (
    board,
    census,
    compare,
    countries,
    estimate,
    holdings,
    html_report,
    ledger,
    locality,
    nominations,
    pageless,
    seed_sources,
    seeds_and_harvest,
    size,
    words,
)
from lswc.lab.analysis.collection import AnalysisError, Collection
from lswc.lab.analysis.html_report import Page
from lswc.lab.trace.format import EmptyTraceError
from lswc.strategy import strategy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.lab.analysis.ledger import Ledger
    from lswc.lab.analysis.section import Section


@dataclass(frozen=True)
class Questions:
    """What to ask beyond what the data alone answers.

    ``control``: another crawl or trace to set beside. ``strategy``: whose misses to explain.
    ``countries``: an IP database, ``addresses``: a CSV of server and address. ``counts``: a CSV
    of word counts, ``extremes`` of its pairs left out; ``text``: the crawl's text, to count
    ``words`` (a file) in. ``quality``: the identifier's precision and accuracy. ``seed``: of
    random choices. ``lang``: of a crawl folder without summary. ``crawl``: the folders of the
    crawl whose log the trace was made of.
    """

    control: Path | None = None
    strategy: str = ""
    countries: Path | None = None
    addresses: Path | None = None
    counts: Path | None = None
    text: Path | None = None
    words: Path | None = None
    quality: tuple[float, float] = (1.0, 1.0)
    extremes: int = 2
    seed: int = 1
    lang: str = ""
    crawl: tuple[Path, ...] = ()


def analyze(
    folder: Path,
    out: Path,
    questions: Questions,
    say: Callable[[str], None] = lambda _: None,
    name: str = "",
) -> Path:
    """Write the report of a trace or crawl folder and return its path; ``say`` hears the steps.

    Of a crawl with a log it writes the board report, too. ``name`` is what a title calls the data,
    the folder's own if that is empty.

    Raises LswcError.
    """
    html_report.check(out)
    say("reading")
    if questions.crawl:
        return _of_crawl(folder, out, questions, say)
    collection = read(folder, questions)
    found = list(_told(sections(collection, questions), say))
    lead = f"Target language: {collection.language}. Source: {collection.about.source}."
    title = f"The {collection.language} web: {name or folder.name}"
    say("writing")
    return html_report.write(out, Page(title, lead, census.facts(collection)), found)


def _of_crawl(folder: Path, out: Path, questions: Questions, say: Callable[[str], None]) -> Path:
    """Write the report of a crawl, by the trace of its log; one without a page has less."""
    known = language_of(questions.crawl[0], questions.lang)
    of_crawl = ledger.read(questions.crawl, known.tag)
    facts: dict[str, float] = {}
    try:
        collection = read(folder, questions)
    except EmptyTraceError:
        found = list(_told(_of_log(questions, of_crawl), say))
    else:
        found = list(_told(sections(collection, questions, of_crawl), say))
        facts = census.facts(collection)
    places = [
        finding
        for section in found
        for finding in section.findings
        if section.name == "countries" and questions.countries is not None
    ]
    tables = {table.name: len(table.rows) for section in found for table in section.tables}
    to_nominate = tables.get("nominations", 0)
    stands = board.standing(questions.crawl)
    shown = board.board(of_crawl, known, stands, places, to_nominate)
    say("writing")
    return html_report.write(out, Page(shown.title, shown.state, facts, shown), found)


def _told(found: Iterator[Section], say: Callable[[str], None]) -> Iterator[Section]:
    for section in found:
        say(section.title)
        yield section


def read(folder: Path, questions: Questions) -> Collection:
    """Read a trace or crawl folder that the questions can be asked of. Raises like ``analyze``."""
    if questions.strategy:
        strategy(questions.strategy)
    collection = Collection.read(folder, questions.lang)
    if questions.strategy and collection.trace is None:
        raise AnalysisError("--strategy needs links: make a trace of the crawl and analyse that")
    return collection


def sections(
    collection: Collection, questions: Questions, of_crawl: Ledger | None = None
) -> Iterator[Section]:
    """Yield the report's sections in order, each worked out when it is asked for.

    ``of_crawl`` is the ledger of the crawl whose log the collection was made of.
    """
    yield census.languages(collection)
    yield census.outcomes(collection)
    yield seeds_and_harvest.seeds(collection)
    yield seeds_and_harvest.harvest(collection)
    yield census.distances(collection)
    yield locality.nearest(collection)
    yield from locality.sections(collection)
    yield census.encodings(collection)
    locate = countries.open_database(questions.countries) if questions.countries else None
    addresses = countries.read_addresses(questions.addresses) if questions.addresses else {}
    yield countries.section(collection, locate, addresses)
    yield nominations.section(collection, locate, addresses)
    yield from _of_log(questions, of_crawl)
    yield from _sizes(collection, questions)
    if questions.control is not None:
        control = Collection.read(questions.control, questions.lang)
        yield from _beside(collection, control)
    if questions.strategy and collection.trace is not None:
        visits = compare.visited(collection.trace, questions.strategy)
        yield compare.missed(collection, visits, questions.strategy)


def _of_log(questions: Questions, of_crawl: Ledger | None) -> Iterator[Section]:
    yield seed_sources.section(questions.crawl)
    yield pageless.section(questions.crawl)
    yield holdings.section(of_crawl)


def _sizes(collection: Collection, questions: Questions) -> Iterator[Section]:
    relevant = int(census.facts(collection)["relevant pages"])
    if questions.counts is not None:
        pairs = size.read_counts(questions.counts)
        yield estimate.by_words(
            collection.language, pairs, relevant, questions.quality, questions.extremes
        )
    if questions.text is not None:
        known = words.word_list(questions.words, collection.about.language)
        pairs, documents = words.count_pairs(questions.text, known, questions.seed)
        yield estimate.by_own_text(pairs, documents)


def _beside(collection: Collection, control: Collection) -> Iterator[Section]:
    if control.about.language != collection.about.language:
        raise AnalysisError(
            f"{control.name} is of {control.language}, {collection.name} of {collection.language}"
        )
    yield compare.side_by_side(collection, control)
    yield estimate.by_crawls(collection.language, *compare.recaptured(collection, control))
    if control.trace is not None:
        downloaded = compare.in_common(control, collection)
        yield compare.missed(control, downloaded, collection.name, "only_in_control")
