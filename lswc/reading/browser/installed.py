"""Browsers that are installed."""

from __future__ import annotations

import shutil

from lswc.errors import ConfigError
from lswc.extras import require

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
"""Names under which systems have the browser."""


def chromium(wanted: str) -> str:
    """Return the path of the Chromium that LSWC_BROWSER names. Raises ConfigError."""
    require("browser")
    if wanted != "auto":
        path = shutil.which(wanted)
        if path is None:
            raise ConfigError(f"LSWC_BROWSER={wanted!r}: there is no such program")
        return path
    path = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if path is None:
        raise ConfigError(
            "LSWC_BROWSER=auto needs Chromium, and finds none: install it (apt install chromium), "
            "or say where it is, LSWC_BROWSER=/path/to/chromium"
        )
    return path
