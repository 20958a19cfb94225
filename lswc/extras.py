"""Extras: groups of libraries that are installed on demand: ``pip install 'lswc[lab]'``.

What a crawl needs is always there. The groups are those of ``optional-dependencies`` in
pyproject.toml; here stand the names by which their libraries are imported.
"""

from __future__ import annotations

from importlib.util import find_spec

from lswc.errors import ConfigError

GROUPS: dict[str, tuple[str, ...]] = {
    "parquet": ("pyarrow",),
    "corpus": ("pyarrow", "myanmar"),
    "seeds": ("pyarrow", "duckdb"),
    "lab": (
        "pyarrow", "duckdb", "numba", "matplotlib", "PIL", "maxminddb", "langdetect", "pythainlp",
    ),
    "metrics": ("prometheus_client",),
    "patterns": ("re2",),
    "browser": ("playwright", "psutil"),
}  # fmt: skip


def require(group: str, *libraries: str) -> None:
    """Raise ConfigError if a library of a group isn't installed; without names, of the whole."""
    for library in libraries or GROUPS[group]:
        if not is_installed(library):
            raise ConfigError(f"this needs {library}: pip install 'lswc[{group}]'")


def is_installed(library: str) -> bool:
    """Tell whether a library can be imported; it isn't."""
    try:
        return find_spec(library) is not None
    except ImportError:
        return False
