"""Pairs of words from the text of a crawl (Mon 2010 §5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import numpy as np

from lswc.extras import require
from lswc.lab.analysis.collection import AnalysisError, connect
from lswc.lab.analysis.size import least_correlated, pairs_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.lab.analysis.size import Pair

SAMPLE, CANDIDATES, CHOSEN = 92, 26, 10
"""Documents of the sample, random words, and words that go least together (Mon 2010 §5.3)."""


def word_list(path: Path | None, code: str) -> list[str]:
    """Return dictionary words: those of a file, one a line, or the ones known for Thai.

    Raises ConfigError.
    """
    if path is None:
        if code != "th":
            raise AnalysisError(f"no dictionary of {code!r} is known: give one with --words FILE")
        require("lab", "pythainlp")
        from pythainlp.corpus.common import thai_words

        return sorted(thai_words())
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise AnalysisError(f"can't read the words in {path}: {error}") from error
    return sorted({line.strip() for line in lines if line.strip()})


def count_pairs(text: Path, words: list[str], seed: int) -> tuple[list[Pair], int]:
    """Choose words by a sample of the text and count their pairs in all of it.

    ``text`` is Parquet, or JSON Lines (also .gz, .zst), with a column ``text`` of one document
    a row. A word occurs where it is a substring: most of our languages don't part their words.
    Returns the pairs and the number of documents. Raises AnalysisError.
    """
    db = _open(text)
    documents = db.execute("SELECT count(*) FROM documents").fetchall()[0][0]
    sample = _sample(db, seed)
    candidates = _candidates(sample, words, seed)
    frequencies = np.array([[text.count(word) for text in sample] for word in candidates], float)
    kept = [candidates[i] for i in least_correlated(frequencies, CHOSEN)]
    if len(kept) < 2:
        raise AnalysisError(
            f"{text}: fewer than two of {len(words):,} words occur in some, but not all, "
            f"of {len(sample)} documents: give more text, or other --words"
        )
    return pairs_of(kept, _occurrences(db, kept)), documents


def _open(text: Path) -> duckdb.DuckDBPyConnection:
    db = connect()
    try:
        read = db.read_parquet if text.suffix == ".parquet" else db.read_json
        read(str(text)).project("text").create_view("documents")
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise AnalysisError(
            f"can't read documents from {text}, which must be Parquet or JSON Lines "
            f"with a column text: {reason}"
        ) from error
    return db


def _sample(db: duckdb.DuckDBPyConnection, seed: int) -> list[str]:
    """Return a random sample that is the same for the same seed, in whatever order the rows are."""
    query = "SELECT text FROM documents WHERE text <> '' ORDER BY md5(text || $1) LIMIT $2"
    return [row[0] for row in db.execute(query, [f"/{seed}", SAMPLE]).fetchall()]


def _candidates(sample: list[str], words: list[str], seed: int) -> list[str]:
    """Pick random words that the sample can correlate: they are in some documents, not in all."""
    found: list[str] = []
    for number in np.random.default_rng(seed).permutation(len(words)):
        word = words[number]
        if 0 < sum(word in text for text in sample) < len(sample):
            found.append(word)
        if len(found) == CANDIDATES:
            break
    return found


def _occurrences(db: duckdb.DuckDBPyConnection, words: list[str]) -> NDArray[np.bool_]:
    counted = [
        duckdb.FunctionExpression(
            "contains", duckdb.ColumnExpression("text"), duckdb.ConstantExpression(word)
        ).alias(f"word_{number}")
        for number, word in enumerate(words)
    ]
    found = db.table("documents").filter("text IS NOT NULL").select(*counted).fetchnumpy()
    return np.array([column.astype(np.bool_) for column in found.values()])
