"""The demo web."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.web.folder import WebError

if TYPE_CHECKING:
    from pathlib import Path


def prepare(folder: Path) -> Path:
    raise WebError("LSWC_WEB: the demo web isn't written yet; name a folder")
