"""Writing of a corpus: its pages are read, compared with each other, and then written."""

from __future__ import annotations

import json
import shutil
from array import array
from collections import Counter, defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from io import BufferedReader
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from lswc.archive.run_settings import language_of, opt_out_of, settings_of_all
from lswc.corpus import card, parts, programs, quality
from lswc.corpus.documents import COPY, Documents
from lswc.corpus.minhash import Clusters
from lswc.corpus.other_corpora import Others
from lswc.corpus.removal import NAME, Removal, entries_of
from lswc.corpus.shards import FORMATS, File, remove_others, write_shards
from lswc.corpus.stored_pages import host_of
from lswc.corpus.versions import LATEST
from lswc.errors import writing
from lswc.files import partial_folder, whole_folder
from lswc.progress import Say, silent
from lswc.reading.generated_sites import GENERATED, GeneratedSites, Page, Verdict, prose_of
from lswc.reading.opt_outs import RECORDING, forbids_mining, reasons
from lswc.safety.runs import runs
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.corpus.extraction import Extracted
    from lswc.corpus.minhash import Found
    from lswc.corpus.parts import Part
    from lswc.corpus.versions import Versions

OPTED_OUT, REMOVED, DUPLICATE, MADE, BEYOND = (
    "opted out", "removed", "duplicate", "generated", "beyond",
)  # fmt: skip
"""Why a page has no row, besides those of documents.py: it, or what it is a copy of, must not be
mined; it was to be removed; it is filtered as a duplicate; machines wrote its site; its site has
as many as were asked for. One that a measure of quality filters has that measure's name.
versions.py says why a version has none."""

FILTERS = ("fineweb2",)
"""What may be left out of a corpus: duplicates and texts that fail, as FineWeb-2 does."""

_EVERY = 100  # rows, between two words on progress


@dataclass(frozen=True)
class Choices:
    """How a corpus is to be written.

    ``lang`` is the language's tag, if the crawl has several. ``without`` are URLs and hosts to
    remove, besides those that were to be removed from a corpus that is there. ``against`` are
    folders of other corpora; what they have is a duplicate. ``filter`` is one of FILTERS, or "".
    ``versions`` is one of VERSIONS. ``programs`` are of ``lswc.corpus.programs.PROGRAMS``. With
    ``mask`` personal data is masked. Pages of sites that machines wrote are marked; with
    ``drop_generated`` they are left out. Of a site, a registered domain, so many pages are taken
    that are no duplicates, 0: all.
    """

    lang: str = ""
    only_language: bool = False
    without: Sequence[str] = ()
    against: Sequence[Path] = ()
    filter: str = ""
    formats: Sequence[str] = FORMATS[:2]
    versions: str = LATEST
    programs: Sequence[str] = ()
    mask: bool = False
    drop_generated: bool = False
    most_of_site: int = 0


@dataclass
class Counts:
    """What became of pages.

    Each that was ``read`` is a row, or left out for one reason. ``opt_outs`` are what those said
    that opted out; a page may say several, and a copy is COPY. ``duplicates`` are the rows of
    "exact" and "near" ones, ``machine_translated`` those that say so, ``personal_data`` those that
    have some, by its kinds, ``generated`` those of sites that machines wrote. ``letters`` are those
    of the pages by kinds of blocks, in the language or not. ``scanned_pages`` are pages of PDFs
    that are pictures. ``unreadable`` are records, and weren't read.
    """

    read: int = 0
    rows: int = 0
    duplicates: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    opt_outs: Counter[str] = field(default_factory=Counter)
    letters: Counter[str] = field(default_factory=Counter)
    machine_translated: int = 0
    scanned_pages: int = 0
    unreadable: int = 0
    personal_data: Counter[str] = field(default_factory=Counter)
    generated: int = 0

    def add(self, more: Counts) -> None:
        """Add those of other pages."""
        self.read += more.read
        self.rows += more.rows
        self.duplicates += more.duplicates
        self.left_out += more.left_out
        self.opt_outs += more.opt_outs
        self.letters += more.letters
        self.machine_translated += more.machine_translated
        self.scanned_pages += more.scanned_pages
        self.personal_data += more.personal_data
        self.unreadable += more.unreadable
        self.generated += more.generated


class Written(NamedTuple):
    """What became of the pages of a crawl, and of each host's; of no host if none is known: "".

    ``files`` are those of the corpus. ``without`` has the pages that each entry of a removal took,
    ``limits`` those of quality, ``generated_sites`` the sites that machines wrote.
    """

    total: Counts
    hosts: dict[str, Counts]
    files: list[File]
    without: dict[str, int]
    limits: dict[str, float]
    generated_sites: dict[str, Verdict]


def write(
    crawls: Sequence[Path], out: Path, choices: Choices | None = None, say: Say = silent
) -> Written:
    """Write a crawl's corpus in shards, and its ``manifest.json``, which has what is returned.

    ``crawls`` is its folder, or those of its workers. All files are there when all are whole; what
    was read of the archive until Ctrl-C, or a full disk, is kept for the next time. Raises
    ArchiveError if the folder isn't a crawl with WARC files, ConfigError for a folder that isn't a
    corpus and for a program that isn't there, LswcError if ``out`` can't be written.
    """
    choices = choices or Choices()
    settings_of_all(crawls)
    kept = out / NAME
    removal = Removal([*(entries_of(kept) if kept.exists() else ()), *choices.without])
    target = language_of(crawls[0], choices.lang)
    programs.check(choices.programs, target.code)
    skips = any(opt_out_of(crawl) not in RECORDING for crawl in crawls)
    others = Others(choices.against)
    made = out / parts.PARTS
    every = parts.parts_of(crawls, target.tag, made, choices.programs)
    with writing(out):
        made.mkdir(parents=True, exist_ok=True)
        try:
            parts.make_all(every, say)
            with (
                partial_folder(out) as scratch,
                closing(parts.versions_of(every, choices.versions)) as versions,
            ):
                documents = Documents(target.code, choices.only_language, choices.mask)
                pages = Pages(every, removal, skips, documents, versions)
                with Compared(scratch) as compared:
                    compared.read(pages, others, say)
                    with whole_folder(out) as folder:
                        rows = compared.rows(pages.hosts, choices, others, say)
                        files = write_shards(rows, folder, choices.formats)
                        written = _counted(pages, files, removal.counts(), compared)
                        _describe(written, folder, removal, target.code, choices)
            remove_others(out, files)
            shutil.rmtree(made)
        finally:
            # Nothing was begun: nothing stays.
            with suppress(OSError):
                made.rmdir()
                out.rmdir()
    return written


class Pages:
    """Iterates over rows of the pages in parts; counts what became of each page, by host.

    Yields a row, the number of the row that it is a copy of, if any, and the page's text with what
    its site repeats.
    """

    def __init__(
        self,
        every: Sequence[Part],
        removal: Removal,
        skips: bool,
        documents: Documents,
        versions: Versions,
    ) -> None:
        self._parts, self._removal, self._skips = every, removal, skips
        self._documents, self._versions = documents, versions
        self.hosts = defaultdict[str, Counts](Counts)
        self.unreadable = Counter[str]()

    def __iter__(self) -> Iterator[tuple[dict[str, Any], int | None, str]]:
        opted_out: set[str] = set()
        for part in self._parts:
            for found in parts.read(part, self.unreadable):
                page = found.page
                counts = self.hosts[host_of(page.url)]
                counts.read += 1
                if self._removal.takes(page.url):
                    counts.left_out[REMOVED] += 1
                # Its copies are the same text.
                elif self._skips and (
                    forbids_mining(page.opt_outs)
                    or page.refers_to in opted_out
                    or self._versions.forbids(page.url)
                ):
                    opted_out.add(page.url)
                    counts.left_out[OPTED_OUT] += 1
                    counts.opt_outs.update({*reasons(page.opt_outs)} or {COPY})
                elif isinstance(taken := self._versions.taken(found), str):
                    counts.left_out[taken] += 1
                else:
                    yield from self._row(taken, counts)

    def _row(
        self, found: Extracted, counts: Counts
    ) -> Iterator[tuple[dict[str, Any], int | None, str]]:
        of = self._documents.original(found.page) if found.is_copy else None
        row = self._documents.row(found, is_later=self._versions.may_follow(found.page))
        counts.scanned_pages += found.scanned or 0
        counts.letters.update(self._documents.letters)
        self._documents.letters.clear()
        if isinstance(row, str):
            counts.left_out[row] += 1
        else:
            yield row, of, found.text


class Compared:
    """The rows of a corpus in a file of a folder for it, with what tells which are alike."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "rows.jsonl.zst"
        self._bands = (folder / "bands").open("w+b")
        self._clusters = Clusters(self._bands)
        self._values = {name: array("f") for name in (*quality.MEASURES, quality.SCORE)}
        self._before = 0
        self.sites = GeneratedSites()
        self._verdicts: dict[str, Verdict | None] = {}
        self.limits: dict[str, float] = {}

    def __enter__(self) -> Compared:
        return self

    def __exit__(self, *_: object) -> None:
        self._bands.close()

    def read(self, pages: Pages, others: Others, say: Say) -> None:
        """Take all rows, and the texts of other corpora. Raises OSError."""
        for one in others:
            self._clusters.add(one.text, runs(one.text, one.script))
        self._before = self._clusters.number
        with pa.CompressedOutputStream(str(self._path), "zstd") as file:
            for row, of, whole in pages:
                if of is None:
                    found = runs(row["text"], row["language_script"])
                    self._clusters.add(row["text"], found, whole)
                    row |= quality.measure(row["text"], row["language_script"], found)
                    self.sites.add(site(host_of(row["url"])), _page_of(row))
                else:
                    self._clusters.add_copy(self._before + of)
                for name, values in self._values.items():
                    values.append(float("nan") if row[name] is None else row[name])
                file.write(msgspec.json.encode(row) + b"\n")
                if self.number % _EVERY == 0:
                    say("compared", self.number, 0)

    @property
    def number(self) -> int:
        """How many rows there are."""
        return self._clusters.number - self._before

    def rows(
        self, hosts: Mapping[str, Counts], choices: Choices, others: Others, say: Say
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows with their clusters and what they fail; count what is filtered."""
        found = self._clusters.find()
        firsts = found.first[self._before :] == np.arange(self._before, self._clusters.number)
        values = {name: np.asarray(one)[firsts] for name, one in self._values.items()}
        self.limits.update(quality.limits(values))
        taken = Counter[str]()
        names = others.named({int(n) for n in found.first[self._before :] if n < self._before})
        for number, row in enumerate(self._lines()):
            self._join(row, number, found, names)
            counts = hosts[host_of(row["url"])]
            reason = _filtered(row, choices) or _beyond(row, taken, choices.most_of_site)
            if reason:
                counts.left_out[reason] += 1
                continue
            counts.rows += 1
            counts.machine_translated += row["machine_translated"] is not None
            counts.personal_data.update({one["kind"] for one in row["personal_data"]})
            counts.generated += _is_generated(row)
            if row["duplicate"]:
                counts.duplicates[row["duplicate"]] += 1
            yield row
            if number % _EVERY == 0:
                say("written", number, self.number)

    def _lines(self) -> Iterator[dict[str, Any]]:
        with pa.CompressedInputStream(str(self._path), "zstd") as file:
            yield from map(msgspec.json.decode, BufferedReader(file, 1 << 20))

    def _join(
        self, row: dict[str, Any], number: int, found: Found, names: dict[int, tuple[str, str]]
    ) -> None:
        """Add to a row what all of them tell of it."""
        place = self._before + number
        first, size = int(found.first[place]), int(found.sizes[found.first[place]])
        if first == place and size > 1:
            names[place] = (row["id"], row["url"])
        elif first != place and not row["duplicate"]:
            row["duplicate"] = "exact" if found.is_exact[place] else "near"
            row["duplicate_of"] = names[first][1]
        row["cluster_id"] = names[first][0] if size > 1 else row["id"]
        row["minhash_cluster_size"] = size
        home = site(host_of(row["url"]))
        if home not in self._verdicts:
            self._verdicts[home] = self.sites.verdict(home)
        if verdict := self._verdicts[home]:
            row["generated"], row["generated_signs"] = verdict
        row["fails"] = quality.fails(row, self.limits) if row["letters"] is not None else []
        row["date"] = datetime.fromisoformat(row["date"]) if row["date"] else None


def _beyond(row: Mapping[str, Any], taken: Counter[str], most: int) -> str:
    """Return why a row of a site is left out of which so many are taken, "" if it isn't."""
    if not most:
        return ""
    home = site(host_of(row["url"]))
    if taken[home] >= most:
        return BEYOND
    taken[home] += not row["duplicate"]
    return ""


def _page_of(row: Mapping[str, Any]) -> Page:
    """Return what of a row tells whether a machine wrote it: in no table, list or code."""
    text, segments = row["text"], row["segments"]
    prose = (
        text[one["start"] : one["end"]]
        for one in segments
        if one["kind"] == "text" and one["mark"] is None
    )
    return Page(
        text,
        prose_of(prose),
        hash(tuple(one["kind"] for one in segments)),
        row["machine_translated"] is not None,
    )


def _is_generated(row: Mapping[str, Any]) -> bool:
    return (row["generated"] or 0.0) >= GENERATED


def _filtered(row: Mapping[str, Any], choices: Choices) -> str:
    """Return why a row is filtered, "" if it isn't."""
    if choices.drop_generated and _is_generated(row):
        return MADE
    if not choices.filter:
        return ""
    return DUPLICATE if row["duplicate"] else next(iter(row["fails"]), "")


def _counted(
    pages: Pages, files: list[File], without: dict[str, int], compared: Compared
) -> Written:
    """Return the counts of the hosts, and their sum."""
    for host, number in pages.unreadable.items():
        if number:
            pages.hosts[host].unreadable = number
    total = Counts()
    for counts in pages.hosts.values():
        total.add(counts)
    told = compared.sites.verdicts().items()
    generated = {home: verdict for home, verdict in told if verdict.score >= GENERATED}
    return Written(total, pages.hosts, files, without, compared.limits, generated)


def _describe(
    written: Written, folder: Path, removal: Removal, language: str, choices: Choices
) -> None:
    """Write the manifest of a corpus, its card, and what is to be removed from it."""
    about = {
        **vars(written.total),
        "versions": choices.versions,
        "programs": sorted(set(choices.programs)),
        "without": written.without,
        "limits": written.limits,
        "generated_sites": {home: one._asdict() for home, one in written.generated_sites.items()},
        "files": written.files,
        "hosts": {host: vars(counts) for host, counts in written.hosts.items()},
    }
    text = json.dumps(about, ensure_ascii=False, indent=1)
    (folder / "manifest.json").write_text(f"{text}\n", "utf-8")
    said = card.of(language, about)
    (folder / card.CARD).write_text(said, "utf-8")
    if removal.entries:
        listed: Iterable[str] = removal.entries.values()
        (folder / NAME).write_text("\n".join(listed) + "\n", "utf-8")
