"""Profiles of settings, applied by an add-on: ``-s LSWC_PROFILE=name``."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

import settings_profiles
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

PRIORITY = 25
"""Above the project's settings (20), below a spider's (30) and the command line's (40)."""


def names() -> list[str]:
    """Return the names of all profiles."""
    listed = (entry.name for entry in files(settings_profiles).iterdir())
    return sorted(n.removesuffix(".py") for n in listed if n.endswith(".py") and n[0] != "_")


def apply(settings: BaseSettings) -> None:
    """Set what the profile ``LSWC_PROFILE`` says; a higher priority still wins.

    Raises ConfigError for an unknown name.
    """
    name = settings.get("LSWC_PROFILE")
    if name not in names():
        raise ConfigError(f"unknown profile LSWC_PROFILE={name!r}; known: {', '.join(names())}")
    settings.setmodule(import_module(f"settings_profiles.{name}"), priority=PRIORITY)


class ProfileAddon:
    """Applies the profile wherever Scrapy runs: command line, scrapyd, scripts."""

    def update_settings(self, settings: BaseSettings) -> None:
        apply(settings)
