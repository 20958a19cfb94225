"""Typical scores are medians of the pieces that CLD2 tells rightly."""

from __future__ import annotations

from lswc.lab.methods.cld2_scores import scores
from lswc.lab.methods.evaluation import Labelled
from lswc.language.shares import score_of

ENGLISH = "The students go to school every day and read the books in the library of the town. "
GERMAN = "Die Schüler gehen jeden Tag in die Schule und lesen die Bücher in der Stadtbücherei. "


def labelled(code: str, text: str) -> Labelled:
    return Labelled(code, text.encode(), None, text, "http://a.example/", "")


def test_scores() -> None:
    long, short = ENGLISH * 24, GERMAN * 6
    pages = [labelled("en", long), labelled("de", short), labelled("vi", long), labelled("de", "")]
    assert scores(pages) == {"en": round(score_of(long[:1000], "en"))}, "one German piece, no viet"
    assert scores([*pages, labelled("de", short)]).keys() == {"en", "de"}
    assert score_of(long, "de") == 0
