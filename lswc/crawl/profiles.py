"""Profiles of settings: ``-s LSWC_PROFILE=name``. The spider applies them, wherever it runs."""

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
    """Set what the profile ``LSWC_PROFILE`` says; a higher priority still wins.

    Raises ConfigError for an unknown name.
    """
    settings.setmodule(module(settings.get("LSWC_PROFILE")), priority=PRIORITY)
