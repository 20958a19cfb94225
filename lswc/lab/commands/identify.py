"""``lswc identify``: language and encoding of pages, and how good that is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lswc.cli.command import UserCommand, option, program
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from lswc.lab.methods.evaluation import Judged, Score
    from lswc.lab.methods.page_sources import Source
    from lswc.language import Identifier
    from lswc.language.document import Document

    _Table = tuple[str, tuple[str, ...], Sequence[tuple[object, ...]]]

_MOST_CONFUSIONS = 15
_MEASURES = ("method", "language", "precision", "recall", "F1", "accuracy", "pages", "µs/page")


class Command(UserCommand):
    """Identifies pages, explains an answer, or measures methods on labelled pages.

    A mistake of the user's is one line, and exit code 2.
    """

    usage = "[options] <file, folder, URL or WARC file> ..."
    summary = "Tell language and encoding of pages; measure how well on labelled ones"
    options = (
        option("--lang", "target language; several with --evaluate: th,my"),
        option("--method", "LSWC_IDENTIFIER; several with --evaluate: auto,cld2"),
        option("--min-share", "LSWC_MIN_SHARE", float),
        option("--explain", "show the evidence for one page", False),
        option("--format", "table, tsv, or jsonl: a line for each page", "table"),
        option("--evaluate", 'lines with "language" and "text"', metavar="LABELLED.jsonl"),
        option("--anchors", "evaluate the texts as anchor texts", False),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if bool(args) == bool(opts.evaluate):
            raise ConfigError("name pages, or --evaluate a file of labelled ones")
        if opts.evaluate:
            self._evaluate(opts)
        elif opts.explain:
            self._explain(args, opts)
        else:
            self._identify(args, opts)

    def _identify(self, args: list[str], opts: argparse.Namespace) -> None:
        if opts.format not in ("table", "tsv", "jsonl"):
            raise ConfigError(f"--format={opts.format!r} isn't one of: table, tsv, jsonl")
        identifier = self._identifier(opts, opts.lang)
        rows = (self._told(identifier, source) for source in self._sources(args))
        if opts.format == "table":
            title = f"target {identifier.target.name}, {identifier.method}"
            _print(table(title, (*_HEADS[:-2], _HEADS[-1]), [_in_table(row) for row in rows]))
            return
        if opts.format == "tsv":
            print("\t".join(_HEADS))
        for row in rows:  # as they are read: there may be millions
            is_json = opts.format == "jsonl"
            print(json.dumps(row, ensure_ascii=False) if is_json else "\t".join(_fields(row)))

    def _told(self, identifier: Identifier, source: Source) -> dict[str, Any]:
        from lswc.strategy import Anchor

        reading = identifier.read_document(self._document(identifier, source))
        found = reading.identification
        return {
            "page": source.url,
            "language": found.language or "unknown",
            "variant": found.variant,
            "encoding": found.encoding,
            "confidence": round(found.confidence, 4),
            "how": found.how,
            "relevance": identifier.relevance(found).name.lower(),
            "links": len(reading.links),
            "anchors": reading.anchors.count(Anchor.TARGET),
        }

    def _document(self, identifier: Identifier, source: Source) -> Document:
        """Return a page of any kind; what isn't HTML is read in a process of its own."""
        from lswc.language.document import Document
        from lswc.reading.documents.separate_process import DocumentProcess
        from lswc.reading.documents.text import Most
        from lswc.reading.page import document_of
        from lswc.safety.content_types import Kind, kind_of

        body, declared, url = source.body, source.content_type or "", source.url
        kind = kind_of(declared, body, Path(url).name)
        if kind in (None, Kind.HTML, Kind.TEXT):
            return Document(body, source.content_type, url, identifier.bounds)
        bounds = identifier.bounds
        with DocumentProcess() as documents:
            text = documents.read(kind, body, declared, Most(links=bounds.links, size=bounds.size))
        return document_of(text, body, url, bounds)

    def _explain(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.language.explanation import explain

        identifier = self._identifier(opts, opts.lang)
        for source in self._sources(args):
            lines = explain(identifier, self._document(identifier, source))
            _print(table(source.url, ("evidence", "for this page"), lines))

    def _evaluate(self, opts: argparse.Namespace) -> None:
        from lswc.lab.methods.evaluation import evaluate, load
        from lswc.language.registry import known, language

        codes = opts.lang.split(",") if opts.lang else [c for c in known() if language(c).scripts]
        methods = (opts.method or self._setting("LSWC_IDENTIFIER", "auto")).split(",")
        identifiers = [self._identifier(opts, c, m) for m in methods for c in codes]
        labelled, mistakes = load(Path(opts.evaluate))
        for mistake in mistakes:
            print(f"{program()} identify: left out: {mistake}", file=sys.stderr)
        scores = []
        with working() as say:
            for number, identifier in enumerate(identifiers):
                say("evaluate", number, len(identifiers))
                name = identifier.method, identifier.target.code
                scores.append((name, evaluate(identifier, labelled, opts.anchors)))
        for title, heads, rows in _tables(opts.evaluate, scores):
            if rows:
                _print(table(title, heads, rows))

    def _identifier(self, opts: argparse.Namespace, code: str, method: str = "") -> Identifier:
        if not code:
            raise ConfigError("say which language is the target, for example: --lang th")
        from lswc.language import Identifier
        from lswc.language.default_method import MIN_SHARE
        from lswc.language.registry import language

        share = opts.min_share
        if share is None:
            share = _number("LSWC_MIN_SHARE", self._setting("LSWC_MIN_SHARE", MIN_SHARE))
        method = method or opts.method or self._setting("LSWC_IDENTIFIER", "auto")
        return Identifier(language(code), method, share)

    def _setting(self, name: str, default: object) -> str:
        return str(self.project_settings.get(name, default))

    def _sources(self, args: list[str]) -> Iterator[Source]:
        from lswc.lab.methods.page_sources import pages

        for name in args:
            yield from pages(name, self._setting("USER_AGENT", "lswc"))


_HEADS = (
    "page", "language", "variant", "encoding", "confidence", "how", "relevance", "links", "anchors",
)  # fmt: skip
"""What is shown of a page; ``anchors`` are links whose text is in the target language."""


def _in_table(row: dict[str, Any]) -> list[object]:
    *fields, links, anchors = {**row, "confidence": f"{row['confidence']:.2f}"}.values()
    return [*fields, f"{anchors}/{links}"]


def _fields(row: dict[str, Any]) -> list[str]:
    """Return the fields of a line; none has a tab or a line's end."""
    return [" ".join(str("" if value is None else value).split()) for value in row.values()]


def _tables(file: str, scores: list[tuple[tuple[str, str], Score]]) -> Iterator[_Table]:
    """Yield title, heads and rows of what is measured, by the names of method and target."""
    yield file, _MEASURES, [(*name, *_measured(score)) for name, score in scores]
    # Tamura 2007 Tables 2 and 3, Somboonviwat 2006 Table 2, Mon 2010 Table 2.
    heads = ("method", "target", "page", "named target", "named another")
    met = [(name, score) for name, score in scores if score.right + score.wrong + score.missed]
    fourfold = [
        (*name, page, *numbers)
        for name, score in met
        for page, numbers in (
            (f"is {name[1]}", (score.right, score.missed)),
            ("is another", (score.wrong, score.rejected)),
        )
    ]
    yield "pages by what they are and what was named", heads, fourfold
    heads = ("method", "target", "true", "answer", "pages")
    confusions = [
        (*name, true, answer, number)
        for name, score in scores
        for (true, answer), number in score.confusions.most_common(_MOST_CONFUSIONS)
    ]
    yield "confusions", heads, confusions
    yield from _trust(scores)


def _measured(score: Score) -> tuple[object, ...]:
    measures = (score.precision, score.recall, score.f1, score.accuracy)
    shares = ("–" if m is None else f"{m:.2%}" for m in measures)
    return *shares, score.pages, f"{score.seconds / score.pages * 1e6:.0f}"


def _trust(scores: list[tuple[tuple[str, str], Score]]) -> Iterator[_Table]:
    """Yield the tables of kinds of pages, and of how far confidence can be trusted."""
    from lswc.lab.methods.evaluation import calibration_error

    kinds = [
        (*name, *_row(kind, judged))
        for name, score in scores
        for kind, judged in sorted(score.kinds.items())
    ]
    tenths = [
        (*name, *_row(f"{judged.confidence / judged.pages:.2f}", judged))
        for name, score in scores
        for _, judged in sorted(score.tenths.items())
    ]
    errors = [
        (*name, kind, sum(judged.pages for judged in of_kind.values()), f"{error:.3f}")
        for name, score in scores
        for kind, of_kind in sorted(score.tenths_of.items())
        for error in (calibration_error(of_kind),)
    ]
    heads = ("method", "target", "kind", "pages", "right", "share")
    yield "pages of each kind, right whatever their language", heads, kinds
    heads = ("method", "target", "mean confidence", "pages", "right", "share")
    yield "how far confidence can be trusted", heads, tenths
    title = "how far confidence is from the share that is right, by kind of page"
    yield title, ("method", "target", "kind", "pages", "error"), errors


def _row(name: str, judged: Judged) -> tuple[str, int, int, str]:
    return name, judged.pages, judged.right, f"{judged.right / judged.pages:.2%}"


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise ConfigError(f"{name} must be a number, not {value!r}") from None


def _print(grid: object) -> None:
    # A redirected table is for other programs: never cut to a terminal's width.
    terminal(250).print(grid)
