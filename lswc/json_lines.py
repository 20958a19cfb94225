"""Lines of JSON, as a crawl appends them to its files."""

from __future__ import annotations

import json

import msgspec


def json_line(values: object) -> bytes:
    """Return a dataclass, or what else JSON has, as a line in UTF-8."""
    try:
        return msgspec.json.encode(values) + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate, as of a hostile title, has no UTF-8 form.
        plain = msgspec.to_builtins(values)
        return json.dumps(plain, ensure_ascii=False).encode(errors="replace") + b"\n"
