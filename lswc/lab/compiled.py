"""Compiled functions, kept on disk: only the first run of a version compiles them.

They lie in the user's cache, or in what ``NUMBA_CACHE_DIR`` names, in a folder for each room of the
lab that is called by a hash of the sources which such a function can be made from: those of its
room, and of the rooms that all may use. Numba's own caches know the one file of a function, not
those of the functions and constants that it uses.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Self

from numba.core import caching
from numba.core import config as numba_config
from numba.misc import appdirs
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(__file__).parents[1]

SHARED = ("lab/trace", "strategy")
"""The rooms from which compiled functions of any room may have functions and constants."""

_VERSIONS = 12  # of any room that are kept; one is 1 MB


def sources_hash(room: str, package: Path = PACKAGE) -> str:
    """Return a name for the sources of a room's compiled functions, by what is in them."""
    found = sha256()
    for folder in sorted({room, *SHARED}):
        for path in sorted((package / folder).glob("*.py")):
            source = path.read_bytes()
            found.update(f"{path.relative_to(package).as_posix()} {len(source)}\n".encode())
            found.update(source)
    return found.hexdigest()[:16]


@cache
def _folder(room: str) -> Path:
    """Return the folder of this version of a room, made if need be. Raises OSError."""
    config: Any = numba_config
    user_cache: Any = appdirs.user_cache_dir
    name = f"{Path(room).name}-{sources_hash(room)}"
    folder = Path(config.CACHE_DIR or user_cache("lswc")) / "compiled" / name
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        others = sorted(folder.parent.iterdir(), key=lambda path: path.stat().st_mtime)
        for old in others[:-_VERSIONS]:
            rmtree(old, ignore_errors=True)
    return folder


def _room(function: Callable[..., Any]) -> str:
    return "/".join(function.__module__.split(".")[1:-1])


class _Locator(caching._CacheLocator):
    """Where a function is kept: beside all others of its version."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line, self._folder = function.__code__.co_firstlineno, _folder(_room(function))

    @classmethod
    @override
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Self:
        return cls(py_func)

    @override
    def get_cache_path(self) -> str:
        return str(self._folder)

    @override
    def get_source_stamp(self) -> str:
        return self._folder.name

    @override
    def get_disambiguator(self) -> str:
        return str(self._line)


class _Kept(caching.CompileResultCacheImpl):
    _locator_classes: Any = (_Locator,)

    @override
    def check_cachable(self, cres: Any) -> bool:
        """Tell whether code is free of this process's own addresses: without a word if it isn't."""
        return not cres.library.has_dynamic_globals


class _Cache(caching.FunctionCache):
    _impl_class = _Kept

    @override
    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept, None if nothing is or it can't be read."""
        load: Any = super().load_overload
        with suppress(OSError, EOFError):
            return load(sig, target_context)
        return None

    @override
    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled, if that can be written: it runs in any case."""
        save: Any = super().save_overload
        with suppress(OSError):
            save(sig, data)


def kept(function: Any) -> Any:
    """Have numba keep what it makes of a function, with all that this calls; returns it.

    For what Python calls: its callees need none of their own. Where nothing can be written, or
    the sources lie in an archive, each process compiles for itself.
    """
    make: Any = _Cache
    if PACKAGE.is_dir():
        try:
            function._cache = make(function.py_func)
        except OSError:
            return function
    return function
