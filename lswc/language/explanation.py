"""Explanation: the evidence for one page, and what every method says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.language import evidence
from lswc.language.charset import canonical, declarations
from lswc.language.default_method import Auto, weigh
from lswc.language.font_encodings import Fonts
from lswc.language.methods import AUTO, methods
from lswc.language.scripts import NAMES, count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lswc.language.document import Document, Finding
    from lswc.language.identifier import Identifier


def explain(identifier: Identifier, document: Document) -> list[tuple[str, str]]:
    """Return name and value of each piece of evidence, the methods' answers last."""
    body, content_type, target = document.body, document.content_type, identifier.target
    weighed, page = weigh(document), document.page
    declared = [f"{where} {canonical(codec)}" for codec, where in declarations(body, content_type)]
    match = Fonts(target.code, target.fonts).match(page.content)
    finding, encoding = Auto((target,), identifier.min_share).identify(document)
    likely = evidence.probabilities(evidence.candidates(weighed.measured, weighed.declared))
    lines = [
        ("bytes", str(len(body))),
        ("charset declared", ", ".join(declared)),
        ("charset used", f"{document.decoded.encoding}, by {document.decoded.how}"),
        ("declared language", ", ".join(f"{c} by {s}" for s, c in weighed.declared.items())),
        ("title", page.title),
        ("lang attribute", page.lang),
        ("letters outside links", _letters(count(page.content))),
        ("letters in links", _letters(count(page.anchors))),
        ("decided by", "own text" if weighed.own else "all text"),
        ("shares", ", ".join(f"{c} {s:.2f}" for c, s in finding.shares)),
        ("variants", ", ".join(f"{tag} {s:.2f}" for tag, s in finding.variants)),
        ("probabilities", ", ".join(f"{c} {p:.3f}" for c, p in likely.items())),
        ("font named", str(Fonts(target.code, target.fonts).named(document.body))),
        ("font n-grams", f"{match.encoding}, share {match.share:.2f}" if match else ""),
    ]
    answers = [(AUTO, f"{_answer(finding)}, encoding {encoding}")]
    for name, method in methods().items():
        try:
            method.check(target)
        except ConfigError as error:
            answers.append((name, str(error)))
        else:
            answers.append((name, _answer(method.identify(document, target)[0])))
    return lines + [(f"method {name}", answer) for name, answer in answers]


def _letters(counts: npt.NDArray[np.intp]) -> str:
    return ", ".join(
        f"{name} {number}" for name, number in zip(NAMES, counts, strict=True) if number and name
    )


def _answer(finding: Finding) -> str:
    return f"{finding.language or 'unknown'} ({finding.confidence:.2f}, {finding.how})"
