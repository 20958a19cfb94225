"""Doorways: a page that is nothing but a form of one button, which leads to what is behind it.

"Enter", "I am 18", "Accept": a person presses it, and the server sets a cookie. Nothing is filled
in, and nothing is pressed that could do more than open a door.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode, urlsplit

from selectolax.lexbor import LexborHTMLParser

from lswc.language.base_url import Base
from lswc.reading.other_links import handled_location

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

DOORWAY_BYTES = 100_000
"""Bytes of a page that may be a doorway."""

MAX_TEXT = 3_000
"""Characters of its text: a notice of what is behind it."""

FEW_LINKS = 6
"""Links of a doorway to its own site: terms of use, privacy, a choice of languages."""

FEW_LEAVE = 2
"""Links by which visitors leave a doorway that is two links: enter, or leave."""

_MOST_FIELDS, _LONGEST = 20, 2_000
_PRESSED = {"submit", "image", "button"}
_OTHERS_DO_MORE = re.compile(
    r"delete|remove|log.?(?:in|out|on|off)|sign.?(?:in|up|out|off)|subscri|regist|buy|order"
    r"|cart|checkout|basket|pa(?:y|id)\b|payment|donat|vote|poll|search|contact|comment|install"
    r"|reset|password|captcha|challenge|upload|report|send|mail|wish|share|follow|reserv|appl[iy]"
    r"|\b(?:add|like|join|book)\b",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"\s*([\d.]+)\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"'>]*)", re.IGNORECASE)
_SOON = 10.0
_SIGNS = re.compile(rb"<form|refresh|<a|onclick", re.IGNORECASE)


class Door(NamedTuple):
    """What pressing a doorway's only button asks for; or what a page does that only waits."""

    url: str
    method: str = "GET"
    body: str = ""
    is_button: bool = True


def door(body: bytes, url: str, charset: str = "utf-8", refresh: str = "") -> Door | None:
    """Return what a page's only button asks for, or its refresh; None if it is no doorway.

    ``url`` is the page's own, ``refresh`` its header of that name.
    """
    if len(body) > DOORWAY_BYTES or not (refresh or _SIGNS.search(body)):
        return None
    page = LexborHTMLParser(body.decode(charset if _is_known(charset) else "utf-8", "replace"))
    page.strip_tags(["script", "style", "template", "noscript"])
    if page.body is None or len(page.body.text()) > MAX_TEXT:
        return None
    base = Base(url)
    if page.css_first("input[type=password], input[type=file], textarea, select") is not None:
        return None
    forms = [form for form in page.css("form") if _leads_home(form, base, url)]
    links = [link for link in page.css("a[href]") if _is_home(link, base, url)]
    if len(forms) > 1 or len(links) > FEW_LINKS:
        return None
    if forms:
        return _of_form(forms[0], base, url)
    if found := _refreshed(refresh, base) or _refresh(page, base):
        return found
    leaves = len(page.css("a[href]")) - len(links)
    if leaves > FEW_LEAVE or urlsplit(url).path not in ("", "/"):
        return None
    if handled := _of_handlers(page, base, url):
        return handled
    return _of_link(links[0], base) if len(links) == 1 and leaves else None


def _is_known(charset: str) -> bool:
    try:
        "".encode(charset)
    except (LookupError, UnicodeError):
        return False
    return True


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0]


def _is_home(link: LexborNode, base: Base, url: str) -> bool:
    return _host(base.join(link.attributes.get("href") or "")) == _host(url)


def _leads_home(form: LexborNode, base: Base, url: str) -> bool:
    """Tell whether a form is sent to where its page is: another one lets visitors leave."""
    return _host(base.join(form.attributes.get("action") or url)) == _host(url)


def _of_form(form: LexborNode, base: Base, url: str) -> Door | None:
    fields: list[tuple[str, str]] = []
    buttons = 0
    for control in form.css("input, button"):
        kind = (control.attributes.get("type") or "").lower()
        kind = kind or ("submit" if control.tag == "button" else "text")
        name, value = control.attributes.get("name") or "", control.attributes.get("value")
        if kind in _PRESSED:
            buttons += 1
            value = value or ""
        elif kind == "checkbox":
            value = value or "on"
        elif kind != "hidden":
            return None
        if name:
            fields.append((name, value or ""))
    said = urlencode(fields, errors="replace")
    action = (base.join(form.attributes.get("action") or url)).partition("#")[0]
    about = f"{action} {said} {form.text()}"
    if buttons != 1 or len(fields) > _MOST_FIELDS or len(said) > _LONGEST:
        return None
    if _OTHERS_DO_MORE.search(about.replace(_host(url), "", 1)):
        return None
    if (form.attributes.get("method") or "").lower() == "post":
        return Door(action, "POST", said)
    bare = action.partition("?")[0]
    return Door(f"{bare}?{said}" if said else bare)


def _of_link(link: LexborNode, base: Base) -> Door | None:
    """Return where a front page's only link to its own site leads; another lets visitors leave."""
    target = base.join(link.attributes.get("href") or "").partition("#")[0]
    about = f"{target} {link.text()}".replace(_host(target), "", 1)
    return None if _OTHERS_DO_MORE.search(about) else Door(target)


def _of_handlers(page: LexborHTMLParser, base: Base, url: str) -> Door | None:
    """Return where a front page's only button leads whose script sets the location."""
    found = {
        base.join(place).partition("#")[0]: element.text()
        for element in page.css("[onclick]")
        if (place := handled_location(element.attributes.get("onclick") or ""))
    }
    own = [target for target in found if _host(target) == _host(url)]
    if len(own) != 1 or len(found) > FEW_LEAVE:
        return None
    about = f"{own[0]} {found[own[0]]}".replace(_host(url), "", 1)
    return None if _OTHERS_DO_MORE.search(about) else Door(own[0])


def _refresh(page: LexborHTMLParser, base: Base) -> Door | None:
    """Return where a page that only waits sends its visitors."""
    for meta in page.css("meta[http-equiv]"):
        if (meta.attributes.get("http-equiv") or "").strip().lower() != "refresh":
            continue
        if found := _refreshed(meta.attributes.get("content") or "", base):
            return found
    return None


def _refreshed(content: str, base: Base) -> Door | None:
    found = _REFRESH.match(content)
    if found and found[1].count(".") < 2 and float(found[1].strip(".") or 0) <= _SOON:
        return Door(base.join(found[2].strip()), is_button=False)
    return None
