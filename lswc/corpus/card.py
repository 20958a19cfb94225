"""Dataset card of a corpus: ``README.md`` as Hugging Face's hub and ``datasets`` read it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lswc import __version__
from lswc.language.registry import language, three_letters

if TYPE_CHECKING:
    from collections.abc import Mapping

CARD = "README.md"

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"),
          (1_000_000, "100K<n<1M"), (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"),
          (1_000_000_000, "100M<n<1B"))  # fmt: skip
_ROW = {
    "latest": "One row is a page, with its newest text.",
    "all": "One row is a version of a page; `visit` says at which visit it was had.",
    "diff": "One row is a page, or what a later version has that the one before hadn't (`visit`).",
}
_HOSTS = 20  # of which the card has figures


def of(code: str, about: Mapping[str, Any]) -> str:
    """Return the card of a corpus in a language with what its manifest says."""
    name = language(code).name
    rows = about["rows"]
    size = next((said for most, said in _SIZES if rows < most), "1B<n<10B")
    form = "parquet" if _has(about, "parquet") else "jsonl.zst"
    head = {
        "language": [three_letters(code)],
        "pretty_name": f"Web pages in {name}",
        "size_categories": [size],
        "task_categories": ["text-generation"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": "train", "path": f"corpus-*.{form}"}],
            }
        ],
    }
    # JSON is YAML, too.
    front = "\n".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in head.items()
    )
    return f"---\n{front}\n---\n" + "\n".join(_body(name, about)) + "\n"


def _read_by(about: Mapping[str, Any]) -> str:
    return ", read by Tesseract" if "tesseract" in about["programs"] else ", not read"


def _has(about: Mapping[str, Any], form: str) -> bool:
    return any(file["name"].endswith(form) for file in about["files"])


def _body(name: str, about: Mapping[str, Any]) -> list[str]:
    letters = sum(about["letters"].values()) or 1
    return [
        "",
        f"# Web pages in {name}",
        "",
        f"Text of web pages, collected and written by lswc {__version__}.",
        _ROW[about["versions"]],
        "Licences are those of the pages: `licence` has what a page says of it.",
        "",
        "| pages | |",
        "|---|---|",
        f"| read | {about['read']:,} |",
        f"| rows | {about['rows']:,} |",
        *(f"| {kind} duplicates, marked | {n:,} |" for kind, n in about["duplicates"].items()),
        f"| that say they were machine-translated, marked | {about['machine_translated']:,} |",
        f"| scanned pages of PDFs{_read_by(about)} | {about['scanned_pages']:,} |",
        f"| of sites that machines wrote, marked | {about['generated']:,} |",
        *(f"| with personal data: {kind} | {n:,} |" for kind, n in about["personal_data"].items()),
        *(f"| left out: {reason} | {n:,} |" for reason, n in about["left_out"].items()),
        "",
        "| letters of the pages read, by kind of block | share |",
        "|---|---|",
        *(f"| {kind} | {n / letters:.1%} |" for kind, n in about["letters"].items()),
        "",
        "| measure of quality | limit, by which `fails` is said |",
        "|---|---|",
        *(f"| {measure} | {limit:.3g} |" for measure, limit in about["limits"].items()),
        "",
        f"| largest hosts, of {len(about['hosts']):,} | read | rows |",
        "|---|---|---|",
        *(
            f"| {host or 'unknown'} | {counts['read']:,} | {counts['rows']:,} |"
            for host, counts in sorted(
                about["hosts"].items(), key=lambda item: item[1]["read"], reverse=True
            )[:_HOSTS]
        ),
        "",
        "`manifest.json` has these figures for every host, and the checksums of all files.",
    ]
