"""Methods of telling a page's language besides the default one: found by name.

Those of the papers are the lab's. A package adds its own by an entry point in the group
``lswc.identifiers`` that leads to a mapping of names to ``Method``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.language import shares
from lswc.language.document import NOTHING, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lswc.language.document import Document
    from lswc.language.registry import Language

AUTO = "auto"
"""Name of the default method."""

_EXAMINED = 4_000  # characters for CLD2


class IdentifierError(ConfigError):
    """Unknown method, or a share out of range; the message says what is allowed."""


@dataclass(frozen=True)
class Method:
    """A method for one target language.

    ``identify`` gives a page's language and encoding. ``check`` raises ConfigError for a target
    that the method doesn't know, and for a library that isn't installed. ``anchor`` tells whether
    an anchor text is in the target language; None leaves that to the default method.
    """

    identify: Callable[[Document, Language], tuple[Finding, str]]
    check: Callable[[Language], None] = lambda target: None
    anchor: Callable[[str, Language], bool | None] = lambda text, target: None


def by_cld2(document: Document, target: Language) -> tuple[Finding, str]:
    """Ask CLD2 about the whole text."""
    page = document.page
    found = shares.cld2(f"{page.title}\n{page.content}\n{page.anchors}"[:_EXAMINED])
    if not found:
        return NOTHING, document.decoded.encoding
    best = found[0]
    return Finding(best.language, best.share * best.certainty, "cld2"), document.decoded.encoding


@cache
def methods() -> Mapping[str, Method]:
    """Return all methods but the default one, by name."""
    found: dict[str, Method] = {}
    for added in entry_points(group="lswc.identifiers"):
        found |= added.load()
    return found | {"cld2": Method(by_cld2)}


def names() -> tuple[str, ...]:
    """Return the names of all methods; docs/lab/languages.md says what each does."""
    return (AUTO, *methods())


def method(name: str) -> Method:
    """Return a method by its name, or one of a user's, as ``module:name``.

    Raises IdentifierError for an unknown one, naming all.
    """
    if ":" in name:
        return _own(name)
    if name not in methods():
        raise IdentifierError(f"unknown method {name!r}; known: {', '.join(names())}")
    return methods()[name]


def _own(name: str) -> Method:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise IdentifierError(f"method {name!r}: {error}") from error
    if not isinstance(found, Method):
        raise IdentifierError(f"method {name!r} is no lswc.language.methods.Method")
    return found
