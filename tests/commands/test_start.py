"""Scrapy imports every command for any of them: none may bring what only it needs."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"duckdb", "matplotlib", "numba"}


def test_commands_import_nothing_heavy() -> None:
    code = (
        "import importlib, pkgutil, sys, lswc.commands as c;"
        "modules = pkgutil.iter_modules(c.__path__, 'lswc.commands.');"
        "[importlib.import_module(module.name) for module in modules];"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
