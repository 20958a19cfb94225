"""Extras: groups of libraries that are installed on demand, beside what a crawl needs.

The groups are those of ``optional-dependencies`` in pyproject.toml; here stand the names by which
their libraries are imported. No advice names lswc itself to an index of packages: whoever has that
name there would be installed.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from importlib.util import find_spec
from pathlib import Path
from shlex import join
from urllib.parse import unquote, urlsplit

from lswc.errors import ConfigError

GROUPS: dict[str, tuple[str, ...]] = {
    "parquet": ("pyarrow",),
    "corpus": ("pyarrow", "myanmar", "phonenumbers", "stdnum"),
    "seeds": ("pyarrow", "duckdb"),
    "lab": (
        "pyarrow", "duckdb", "numba", "matplotlib", "PIL", "maxminddb", "langdetect", "pythainlp",
    ),
    "metrics": ("prometheus_client",),
    "patterns": ("re2",),
    "browser": ("playwright", "psutil"),
}  # fmt: skip

_UV, _PIPX = "uv-receipt.toml", "pipx_metadata.json"
"""What these leave in the environment of a tool."""


def require(group: str, *libraries: str) -> None:
    """Raise ConfigError if a library of a group isn't installed; without names, of the whole."""
    for library in libraries or GROUPS[group]:
        if not is_installed(library):
            raise ConfigError(f"this needs {library}: {how_to_install(group)}")


def is_installed(library: str) -> bool:
    """Tell whether a library can be imported; it isn't."""
    try:
        return find_spec(library) is not None
    except ImportError:
        return False


def how_to_install(group: str) -> str:
    """Return the command that adds a group to this environment, as lswc itself was installed."""
    environment = Path(sys.prefix)
    folder, is_editable = _source()
    if (environment / _PIPX).exists():
        return join(["pipx", "inject", "lswc", *_libraries(group)])
    if (environment / _UV).exists() and folder:
        had = [name for name in GROUPS if all(map(is_installed, GROUPS[name]))]
        return join(["uv", "tool", "install", f"{folder}[{','.join([*had, group])}]"])
    if (environment / _UV).exists():
        return join(["uv", "pip", "install", "--python", sys.executable, *_libraries(group)])
    if folder:
        editable = ["--editable"] if is_editable else []
        return join(["pip", "install", *editable, f"{folder}[{group}]"])
    return join(["pip", "install", *_libraries(group)])


def _source() -> tuple[str, bool]:
    """Return the folder that lswc was installed from, "" if it isn't there, and if in place.

    Installers write it down (PEP 610), but not beside the sources, which may be found first.
    """
    found = (one.read_text("direct_url.json") for one in distributions(name="lswc"))
    origin = json.loads(next(filter(None, found), "{}"))
    folder = unquote(urlsplit(origin.get("url", "")).path)
    is_there = "dir_info" in origin and (Path(folder) / "pyproject.toml").is_file()
    return (folder, bool(origin["dir_info"].get("editable"))) if is_there else ("", False)


def _libraries(group: str) -> list[str]:
    """Return what a group requires, as its packages are named."""
    try:
        required = distribution("lswc").requires or []
    except PackageNotFoundError:
        return list(GROUPS[group])
    parts = (requirement.partition(";") for requirement in required)
    return [library for library, _, marker in parts if f'extra == "{group}"' in marker]
