"""Profiles of settings: ``-s LSWC_PROFILE=name``, or several of them with commas between.

The spider applies them, wherever it runs.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

import settings_profiles
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from types import ModuleType

    from scrapy.settings import BaseSettings

PRIORITY = 25
"""Above the project's settings (20), below a spider's (30) and the command line's (40)."""


def names() -> list[str]:
    """Return the names of all profiles."""
    listed = (entry.name for entry in files(settings_profiles).iterdir())
    return sorted(n.removesuffix(".py") for n in listed if n.endswith(".py") and n[0] != "_")


def module(name: str) -> ModuleType:
    """Return the module of a profile: its settings, and a docstring. Raises ConfigError."""
    if name not in names():
        raise ConfigError(f"unknown profile LSWC_PROFILE={name!r}; known: {', '.join(names())}")
    return import_module(f"settings_profiles.{name}")


def apply(settings: BaseSettings) -> None:
    """Set what the profiles of ``LSWC_PROFILE`` say; a higher priority still wins.

    Of two that say something of one setting, the later counts. Raises ConfigError for an unknown
    name, and if none of them has a strategy.
    """
    given = str(settings.get("LSWC_PROFILE"))
    chosen = [module(name.strip()) for name in given.split(",")]
    for one in chosen:
        settings.setmodule(one, priority=PRIORITY)
    if not settings.get("LSWC_STRATEGY"):
        raise ConfigError(
            f"LSWC_PROFILE={given} says what a crawl does besides, and has no strategy: name a "
            f"profile that has one before it, such as LSWC_PROFILE=bfs,{given}"
        )
