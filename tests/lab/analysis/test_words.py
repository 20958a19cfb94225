"""Pairs of words counted in the text of a crawl."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lswc.lab.analysis import AnalysisError
from lswc.lab.analysis.questions import Questions, analyze
from lswc.lab.analysis.words import count_pairs, word_list
from tests.lab.analysis.webs import Report, record, write_crawl

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"ค{chr(0x0E01 + i)}ำ" for i in range(30)]


def texts(documents: int = 400) -> list[str]:
    """Return documents in which each word occurs by itself, in a third of them."""
    occurs = np.random.default_rng(5).random((documents, len(WORDS))) < 1 / 3
    return [
        "ก" + "".join(w for w, there in zip(WORDS, row, strict=True) if there) for row in occurs
    ]


@pytest.fixture
def words(tmp_path: Path) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS) + "\n\n", "utf-8-sig")
    return path


def test_pairs_are_counted_in_the_whole_text(tmp_path: Path, words: Path) -> None:
    documents = texts()
    path = tmp_path / "text.parquet"
    pq.write_table(pa.table({"text": documents}), path)
    pairs, number = count_pairs(path, word_list(words, "my"), 1)
    assert number == len(documents)
    assert len(pairs) == 45
    for pair in pairs:
        both = sum(pair.word_a in text and pair.word_b in text for text in documents)
        assert pair.n_ab == both
        assert pair.n_a == sum(pair.word_a in text for text in documents)


def test_the_seed_decides_and_the_order_does_not(tmp_path: Path, words: Path) -> None:
    documents, known = texts(), word_list(words, "my")
    paths = []
    for name, listed in (("a", documents), ("b", documents[::-1])):
        paths.append(tmp_path / f"{name}.jsonl.gz")
        with gzip.open(paths[-1], "wt", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": text, "url": "x"}) + "\n" for text in listed)
    first, second = (count_pairs(path, known, 7)[0] for path in paths)
    assert first == second
    assert first != count_pairs(paths[0], known, 8)[0]


def test_independent_words_find_about_what_is_there(tmp_path: Path, words: Path) -> None:
    path = tmp_path / "text.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts(2000)))
    crawl = write_crawl(tmp_path / "crawl", record("http://www.a.co.th/", "th"))
    report = Report.of(crawl, Questions(text=path, words=words))
    found = [row[5] for row in report.rows("word_pairs_of_text") if row[6]]
    assert len(found) == 43
    assert np.mean(np.array(found, float)) == pytest.approx(2000, rel=0.05)
    assert "measures the method" in report.text


def test_counts_of_a_search_engine_give_a_recall(tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    counts.write_text("word_a,word_b,n_a,n_b,n_ab\nก,ข,100,100,10\n", "utf-8")
    crawl = write_crawl(tmp_path / "crawl", record("http://www.a.co.th/", "th"))
    questions = Questions(counts=counts, quality=(0.9, 0.9))
    text = analyze(crawl, tmp_path / "out", questions).read_text("utf-8")
    assert "Mean 1,000, standard deviation 0, of 1 pairs" in text
    assert "a recall of 0.08%" in text
    assert "pairs have more documents with both words" not in text


def test_counts_that_can_not_be_are_taken_and_named(tmp_path: Path) -> None:
    counts = tmp_path / "counts.csv"
    rows = [(100, 100, 10), (100, 100, 10), (10, 100, 20), (100, 10, 20), (100, 100, 5), (9, 9, 9)]
    lines = "".join(f"a,b,{a},{b},{both}\n" for a, b, both in rows)
    counts.write_text(f"word_a,word_b,n_a,n_b,n_ab\n{lines}", "utf-8")
    crawl = write_crawl(tmp_path / "crawl", record("http://www.a.co.th/", "th"))
    text = analyze(crawl, tmp_path / "out", Questions(counts=counts, extremes=0)).read_text("utf-8")
    assert "2 pairs have more documents with both words" in text
    assert "of 6 pairs; left out: 0" in text
    assert f"Mean {(1000 + 1000 + 50 + 50 + 2000 + 9) / 6:,.0f}" in text


def test_thai_words_are_known_and_others_must_be_given() -> None:
    assert "ภาษา" in word_list(None, "th")
    with pytest.raises(AnalysisError, match="--words"):
        word_list(None, "my")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.parquet", b"no", "Parquet or JSON Lines"),
        ("a.jsonl", b'{"title": "x"}\n', "column text"),
        ("a.jsonl", b'{"text": "x"}\n', "fewer than two"),
        ("missing.jsonl", None, "can't read documents"),
    ],
)
def test_text_that_can_not_be_used(
    tmp_path: Path, words: Path, name: str, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(AnalysisError, match=complaint):
        count_pairs(path, word_list(words, "my"), 1)
