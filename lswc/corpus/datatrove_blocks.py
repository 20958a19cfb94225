"""Blocks of datatrove (0.10) for a crawl: its reader, opt-outs, quality, MinHash by letters.

``python -m lswc.corpus.datatrove_blocks --out FOLDER CRAWL ...`` runs them with datatrove's own on
this machine, by Slurm (``--slurm PARTITION``) or by Ray (``--ray``), over the folders of many
workers. The same command goes on where it stopped: each task that is done has a file in ``logs``.

Blocks of datatrove that count words need a list of words, or a model, for each language without
blanks; and its MinHash takes signs above and below letters off, which are vowels in Thai or Khmer.
So signatures and quality are ours here; what finds pairs and clusters of signatures is datatrove's.
"""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from datatrove.data import Document
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.dedup.minhash import (
    MinhashConfig,
    MinhashDedupBuckets,
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.readers.parquet import ParquetReader
from datatrove.pipeline.writers.parquet import ParquetWriter
from datatrove.utils.hashing import HashConfig
from datatrove.utils.word_tokenizers import WordTokenizer

from lswc.archive.run_settings import language_of
from lswc.corpus.documents import Documents
from lswc.corpus.extraction import Extractor
from lswc.corpus.minhash import BANDS, ROWS
from lswc.corpus.quality import MEASURES, fails, measure
from lswc.corpus.schema import SCHEMA
from lswc.corpus.stored_pages import StoredPages, pieces
from lswc.corpus.versions import ALL, LATEST, Versions
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.opt_outs import forbids_mining
from lswc.safety.runs import runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from lswc.corpus.extraction import Extracted

_CONFIG = MinhashConfig(
    num_buckets=BANDS, hashes_per_bucket=ROWS, hash_config=HashConfig(hash_fc="sha1")
)


class CrawlReader(PipelineStep):
    """Yields the documents of crawls' folders: the columns of a corpus are their metadata.

    A task reads each so many-th piece of the archives. What compares pages (paragraphs that a site
    repeats, copies) does so within a task. Copies that the archive refers to have no text, and are
    counted only. Without ``lang`` the crawls have one language. ``versions`` is "latest" or "all".
    """

    type = "📖 - READER"
    name = "lswc crawl"

    def __init__(self, crawls: Sequence[str], lang: str = "", versions: str = LATEST) -> None:
        super().__init__()
        self.crawls, self.lang, self.versions = list(crawls), lang, versions

    def run(self, data: Any = None, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Yield the documents of a task."""
        yield from data or ()
        target = language_of(Path(self.crawls[0]), self.lang)
        crawls = [Path(crawl) for crawl in self.crawls]
        every = pieces(crawls)
        found = Documents(target.code)
        with (
            DocumentProcess() as documents,
            closing(Versions.told(crawls, self.versions)) as versions,
        ):
            extractor = Extractor(target, documents)
            for piece in every[rank::world_size]:
                for page in StoredPages(piece.crawl, only=[piece]):
                    taken = versions.taken(extractor.read(page))
                    row = taken if isinstance(taken, str) else _row(found, taken, versions)
                    if isinstance(row, str) or not row["text"]:
                        self.stat_update(f"left out: {row if isinstance(row, str) else 'copy'}")
                        continue
                    shingles = runs(row["text"], row["language_script"])
                    row |= measure(row["text"], row["language_script"], shingles)
                    yield Document(row.pop("text"), row.pop("id"), metadata=row)


def _row(found: Documents, page: Extracted, versions: Versions) -> dict[str, Any] | str:
    if versions.forbids(page.page.url):
        return "opted out"
    return found.row(page, is_later=versions.may_follow(page.page))


class OptOutFilter(BaseFilter):
    """Drops pages that say that they must not be mined."""

    name = "lswc opt-outs"

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Tell whether a document may stay."""
        return not forbids_mining(tuple(doc.metadata["opt_outs"])) or (False, "opted out")


class QualityFilter(BaseFilter):
    """Drops texts that are beyond limits: those of a corpus's manifest, or those for English."""

    name = "lswc quality"

    def __init__(self, limits: dict[str, float] | None = None) -> None:
        super().__init__()
        self.limits = limits or {name: limit.value for name, limit in MEASURES.items()}

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Tell whether a document may stay."""
        reasons = fails(doc.metadata, self.limits)
        return (False, reasons[0]) if reasons else True


class _NoWords(WordTokenizer):
    """What datatrove wants of a language; nothing asks it."""

    def word_tokenize(self, text: str) -> list[str]:
        return []

    def sent_tokenize(self, text: str) -> list[str]:
        return []

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        return []


class Signature(MinhashDedupSignature):
    """Signatures of runs as in a corpus: words where there are blanks, else letters."""

    name = "lswc MinHash stage 1"

    def __init__(self, output_folder: str, config: MinhashConfig = _CONFIG) -> None:
        super().__init__(output_folder, config, language=_NoWords())
        self._script: str | None = None

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Any:
        """Write the signatures of a task."""
        return super().run(self._scripts(data), rank, world_size)

    def _scripts(self, data: Any) -> Iterator[Document]:
        for doc in data:
            self._script = doc.metadata["language_script"]
            yield doc

    def get_shingles(self, text: str) -> NDArray[np.uint64]:
        """Return the hashes of a text's runs, one in a row."""
        return np.unique(runs(text, self._script)).reshape(-1, 1)


class ClusterSizes(PipelineStep):
    """Adds to each document how many are alike: datatrove's filter forgets it of tasks without any.

    ``folder`` is that of the clusters; it stands before what removes documents.
    """

    type = "🫂 - DEDUP"
    name = "lswc cluster sizes"

    def __init__(self, folder: str) -> None:
        super().__init__()
        self.folder = folder

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Document]:
        """Yield the documents of a task."""
        path = Path(self.folder) / f"{rank:06d}.sizes"
        pairs = np.fromfile(path, "<u4").reshape(-1, 2).tolist() if path.exists() else []
        sizes = dict(pairs)
        for number, doc in enumerate(data):
            doc.metadata["minhash_cluster_size"] = sizes.get(number, 1)
            yield doc


def stages(
    crawls: Sequence[str],
    out: str,
    lang: str = "",
    filters: Sequence[PipelineStep] = (),
    versions: str = LATEST,
) -> list[tuple[str, list[PipelineStep], int]]:
    """Return the steps of a corpus without duplicates: names, blocks, and tasks; 0: any number.

    Each begins when the one before it has ended.
    """
    read, pairs, clusters = f"{out}/read", f"{out}/pairs", f"{out}/clusters"
    signatures = f"{out}/signatures"

    def writer(folder: str) -> PipelineStep:
        return ParquetWriter(folder, compression="zstd", schema=SCHEMA, expand_metadata=True)

    return [
        ("read", [CrawlReader(crawls, lang, versions), OptOutFilter(), *filters, writer(read)], 0),
        ("signatures", [ParquetReader(read), Signature(signatures)], 0),
        ("pairs", [MinhashDedupBuckets(signatures, pairs, config=_CONFIG)], BANDS),
        ("clusters", [MinhashDedupCluster(pairs, clusters, _CONFIG, save_cluster_size=True)], 1),
        (
            "corpus",
            [
                ParquetReader(read),
                ClusterSizes(clusters),
                MinhashDedupFilter(clusters),
                writer(f"{out}/corpus"),
            ],
            0,
        ),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a corpus of crawls' folders with one of datatrove's executors."""
    parser = argparse.ArgumentParser(prog="python -m lswc.corpus.datatrove_blocks")
    parser.add_argument("crawls", nargs="+", metavar="CRAWL", help="folder of a crawl's worker")
    parser.add_argument("--out", required=True, help="folder to write into")
    parser.add_argument("--lang", default="", help="the language, of crawls of several")
    parser.add_argument("--tasks", type=int, default=0, help="default: one for each piece")
    parser.add_argument("--workers", type=int, default=1, help="tasks at once")
    parser.add_argument(
        "--versions", choices=(LATEST, ALL), default=LATEST, help="of pages that were visited again"
    )
    parser.add_argument("--quality", action="store_true", help="drop texts that fail")
    parser.add_argument("--slurm", metavar="PARTITION", help="run by Slurm")
    parser.add_argument("--time", default="24:00:00", help="of a task, by Slurm")
    parser.add_argument("--ray", action="store_true", help="run by Ray")
    given = parser.parse_args(arguments)
    filters = [QualityFilter()] if given.quality else []
    number = given.tasks or len(pieces([Path(crawl) for crawl in given.crawls]))
    before = None
    for name, blocks, tasks in stages(given.crawls, given.out, given.lang, filters, given.versions):
        about = {
            "pipeline": blocks,
            "tasks": tasks or number,
            "workers": given.workers,
            "logging_dir": f"{given.out}/logs/{name}",
            "depends": before,
        }
        before = _executor(given, name, about)
    if before is not None:
        before.run()


def _executor(given: argparse.Namespace, name: str, about: dict[str, Any]) -> Any:
    if given.slurm:
        from datatrove.executor.slurm import SlurmPipelineExecutor

        return SlurmPipelineExecutor(
            **about, partition=given.slurm, time=given.time, job_name=f"lswc-{name}"
        )
    if given.ray:
        from datatrove.executor.ray import RayPipelineExecutor

        return RayPipelineExecutor(**about)
    from datatrove.executor.local import LocalPipelineExecutor

    return LocalPipelineExecutor(**about)


if __name__ == "__main__":
    main()
