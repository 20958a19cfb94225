"""Schema of a corpus: one row per page, with columns named as other corpora name them.

docs/corpus.md says what each means, and whom it follows.
"""

from __future__ import annotations

import pyarrow as pa

from lswc.corpus.quality import MEASURES

SEGMENT = pa.struct(
    [
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("kind", pa.string()),
        ("language", pa.string()),
        ("level", pa.int32()),
        ("mark", pa.string()),
    ]
)
PERSONAL = pa.struct([("start", pa.int32()), ("end", pa.int32()), ("kind", pa.string())])
SHARE = pa.struct([("language", pa.string()), ("share", pa.float64())])

SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("url", pa.string()),
        ("date", pa.timestamp("ms", tz="UTC")),
        ("language", pa.string()),
        ("language_script", pa.string()),
        ("language_score", pa.float64()),
        ("target_share", pa.float64()),
        ("top_langs", pa.list_(SHARE)),
        ("segments", pa.list_(SEGMENT)),
        ("personal_data", pa.list_(PERSONAL)),
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("digest", pa.string()),
        ("title", pa.string()),
        ("kind", pa.string()),
        ("page_kind", pa.string()),
        ("licence", pa.string()),
        ("licence_stood", pa.string()),
        ("opt_outs", pa.list_(pa.string())),
        ("encoding", pa.string()),
        ("converted", pa.string()),
        ("text_quality", pa.float64()),
        ("scanned_pages", pa.int32()),
        ("machine_translated", pa.string()),
        ("generated", pa.float64()),
        ("generated_signs", pa.list_(pa.string())),
        ("duplicate", pa.string()),
        ("duplicate_of", pa.string()),
        ("cluster_id", pa.string()),
        ("minhash_cluster_size", pa.int32()),
        ("letters", pa.int32()),
        *((name, pa.float64()) for name in MEASURES),
        ("fails", pa.list_(pa.string())),
        ("left_out", pa.int32()),
        ("is_cut", pa.bool_()),
        ("visit", pa.int32()),
    ]
)
"""The columns of a corpus, in their order."""
