"""The page that LSWC_CONTACT should show: who crawls, why, and how to stop it."""

from __future__ import annotations

import tomllib
from html import escape
from importlib.resources import files


def contact_page(code: str, contact: str, token: str) -> str:
    """Return the page as HTML, in a crawl's language if there is a text in it, and in English.

    ``contact`` is what LSWC_CONTACT says, ``token`` the name that is looked for in robots.txt.
    """
    texts = tomllib.loads(files("lswc.cli").joinpath("contact_page.toml").read_text("utf-8"))
    codes = [name for name in dict.fromkeys((code, "en")) if name in texts]
    title = " / ".join(escape(texts[name]["title"]) for name in codes)
    parts = "".join(_part(name, texts[name], contact, token) for name in codes)
    return (
        f'<!DOCTYPE html>\n<html lang="{codes[0]}">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{title}</title>\n"
        "<style>body {max-width: 40em; margin: 2em auto; padding: 0 1em; line-height: 1.6;"
        " font-family: system-ui, sans-serif; color-scheme: light dark}"
        " pre {padding: 1em; border: 1px solid; overflow: auto}</style>\n"
        f"{parts}</html>\n"
    )


def _part(code: str, text: dict[str, str], contact: str, token: str) -> str:
    filled = {name: _filled(value, contact, token) for name, value in text.items()}
    return (
        f'<section lang="{code}">\n<h1>{filled["title"]}</h1>\n<p>{filled["who"]}</p>\n'
        f"<p>{filled['how']}</p>\n<p>{filled['stop']}</p>\n"
        f"<pre>{_lines('Disallow: /', token)}</pre>\n"
        f"<pre>{_lines('Crawl-delay: 30', token)}</pre>\n"
        f"<p>{filled['write']}</p>\n</section>\n"
    )


def _lines(rule: str, token: str) -> str:
    return escape(f"User-agent: {token}\n{rule}")


def _filled(text: str, contact: str, token: str) -> str:
    href = contact if "://" in contact else f"mailto:{contact}"
    link = f'<a href="{escape(href)}">{escape(contact)}</a>'
    return escape(text).replace("{agent}", escape(token)).replace("{contact}", link)
