"""Templates of HTML: Jinja's, filled so that nothing that the web or a user says is markup."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates_of(package: str) -> Environment:
    """Return the templates in the folder ``templates`` of a package. A name without a value fails.

    They raise ``jinja2.TemplateError``.
    """
    return Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
