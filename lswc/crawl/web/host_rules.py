"""Host rules: what files can't say.

Slowness, redirects, headers, languages, an endless page, the shape of pages on the wire.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lswc.crawl.web.shapes import Shape
from lswc.errors import ConfigError
from lswc.outcomes import REDIRECTS
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Calendar:
    """An endless calendar under a path prefix, in Thai (``th``) or English (``en``)."""

    prefix: str
    language: str


@dataclass(frozen=True)
class HostRules:
    """``redirects`` maps path and query to (status, location); ``delay`` is in seconds a page.

    ``languages`` are those that the host negotiates, the first for who doesn't say: of
    ``index.html`` it serves ``index.html.th`` to who wants Thai.
    """

    delay: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    redirects: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    calendar: Calendar | None = None
    languages: tuple[str, ...] = ()
    shape: Shape | None = None


def read_rules(file: Path) -> dict[str, HostRules]:
    """Read ``{host: {"delay", "headers", "redirects", "calendar", "languages", "shape"}}``.

    No file, no rules. Raises ConfigError if the file isn't like that.
    """
    if not file.is_file():
        return {}
    try:
        hosts = json.loads(file.read_bytes())
        return {_server(host): _rules(**rules) for host, rules in hosts.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"{file}: {error}") from error


def _server(host: str) -> str:
    url = parse(f"http://{host}/")
    if url is None:
        raise ValueError(f"not a host name: {host!r}")
    return url.server


def _rules(
    delay: float = 0.0,
    headers: Mapping[str, str] | None = None,
    redirects: Mapping[str, list[Any]] | None = None,
    calendar: Mapping[str, str] | None = None,
    languages: Sequence[str] = (),
    shape: dict[str, Any] | None = None,
) -> HostRules:
    moved = {path: _redirect(*rule) for path, rule in (redirects or {}).items()}
    endless = Calendar(**calendar) if calendar else None
    offered = tuple(map(_language, languages))
    sent = Shape(**shape | {"codings": tuple(shape.get("codings", ()))}) if shape else None
    return HostRules(float(delay), headers or {}, moved, endless, offered, sent)


def _language(tag: str) -> str:
    if not tag.replace("-", "").isalnum():
        raise ValueError(f"not a language tag: {tag!r}")
    return tag


def _redirect(status: int, location: str) -> tuple[int, str]:
    if status not in REDIRECTS:
        raise ValueError(f"not a redirect's status: {status!r}")
    return status, location
