"""URL in canonical form, and the server, directory and site that it belongs to."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from hashlib import blake2b
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from string import ascii_letters, digits
from struct import unpack
from typing import TYPE_CHECKING, NamedTuple

import can_ada
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

TRACKING = frozenset(tomllib.loads((files("lswc") / "tracking.toml").read_text("utf-8"))["names"])
"""Names, in lower case, of query parameters that say who follows a link, not where it leads.

Besides these: all that begin with ``utm_`` or ``aspsessionid``, and a ``sid`` of 32 hex digits.
"""

_NAMED = re.compile(r"(?:utm_|aspsessionid|sid=[0-9a-f]{32}$)")
_SESSION = re.compile(
    r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\([sfa]\([a-z0-9]{24}\)\)(?=/)", re.IGNORECASE
)
# An escape that follows half of another would complete it when decoded.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})|[][\\^`{|}]")
_NOT_NORMAL = re.compile(r"[][\\^`{|}%]")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Most links are what the standard makes of them, but for the fragment. A name that ends in letters
# alone is no number, as 0x7f.1 would be.
_PLAIN = re.compile(
    r"(https?)://([a-z0-9-][a-z0-9.-]*\.[a-z]{2,})(/[\w~+/.-]*+)(?:\?([\w~/=&;,+.-]*+))?(?:(#[/!][!-~]*+)|#[!-~]*+)?",
    re.ASCII,
)
_RULE = re.compile(r"^(?!//)\S+", re.MULTILINE)  # of the Public Suffix List
_ROUTE = len("#/")  # of an app's front page, which needs none
_PORTS = {"http": 80, "https": 443}
_UNRESERVED = frozenset(ascii_letters + digits + "-._~")  # RFC 3986 §2.3


class Url(Struct, frozen=True, array_like=True, gc=False):
    """A URL taken apart.

    ``href`` is its canonical form: the WHATWG serialisation without fragment, credentials, an
    empty query, the root's dot, session ids and tracking parameters, its escapes as RFC 3986 §2
    and §6.2.2 want them. ``route`` is a fragment by which scripts tell their pages apart, such as
    ``#/about`` or ``#!about``: that one is part of ``href``, and no server sees it. ``server`` is
    the host, plus the port if it isn't the scheme's default (so http and https are one server);
    ``port`` is the one that is connected to, 0 for a scheme without servers; ``path`` begins with a
    slash; ``query`` has no mark.
    """

    href: str
    scheme: str
    server: str
    hostname: str
    port: int
    path: str
    query: str = ""
    route: str = ""

    @property
    def without_route(self) -> Url:
        """What a server is asked for."""
        if not self.route:
            return self
        return replace(self, href=self.href.removesuffix(self.route), route="")


def parse(url: str) -> Url | None:
    """Take an absolute URL apart by the WHATWG URL Standard.

    None if it isn't a valid one, and for a host that ends in an empty label: no such name exists.
    """
    plain = _PLAIN.fullmatch(url)
    if plain is not None:
        scheme, host, path, query, route = plain.groups()
        if "/." not in path and ".." not in host and "xn--" not in host:
            parts = scheme, host, host, _PORTS[scheme], path
            return _of_parts(*parts, query or "", route if route and len(route) > _ROUTE else "")
    try:
        parsed = can_ada.parse(url)
    except ValueError:
        return None
    except TypeError:  # surrogates, which no page has and UTF-8 can't carry
        return parse(_SURROGATE.sub("\ufffd", url))
    scheme, hostname = parsed.protocol[:-1], parsed.hostname
    if scheme not in _PORTS:
        parsed.hash = ""
        return Url(parsed.href, scheme, parsed.host, hostname, 0, parsed.pathname)
    server, path, query = parsed.host, _normal(parsed.pathname), parsed.search[1:]
    if hostname[-1] == ".":
        server, hostname = hostname[:-1] + server[len(hostname) :], hostname[:-1]
        if not hostname or hostname[-1] == ".":
            return None
    if (";" in path or "(" in path) and (bare := _SESSION.sub("", path)) != path:
        path = can_ada.parse(f"http://a{bare}").pathname  # what is left may be a dot segment
    port = int(parsed.port or _PORTS[scheme])
    route = parsed.hash if len(parsed.hash) > _ROUTE and parsed.hash[1] in "/!" else ""
    return _of_parts(scheme, server, hostname, port, path, _normal(query), route)


def parse_served(url: str) -> Url | None:
    """Take an absolute URL apart as a server sees it, without a route of scripts; as ``parse``."""
    found = parse(url)
    return found if found is None else found.without_route


def _of_parts(
    scheme: str, server: str, hostname: str, port: int, path: str, query: str, route: str
) -> Url:
    """Return a URL without the parameters that say who follows a link."""
    if query:
        query = "&".join(filter(_is_wanted, query.split("&")))
    href = f"{scheme}://{server}{path}?{query}" if query else f"{scheme}://{server}{path}"
    if route:
        return Url(href + route, scheme, server, hostname, port, path, query, route)
    return Url(href, scheme, server, hostname, port, path, query)


def _normal(text: str) -> str:
    return _ESCAPE.sub(_escape, text) if _NOT_NORMAL.search(text) else text


def _escape(escape: re.Match[str]) -> str:
    if escape[1] is None:  # the standard lets it be, RFC 3986 and Scrapy don't
        return f"%{ord(escape[0]):02X}"
    char = chr(int(escape[1], 16))
    return char if char in _UNRESERVED else escape[0].upper()


def _is_wanted(parameter: str) -> bool:
    lower = parameter.lower()
    return lower.partition("=")[0] not in TRACKING and not _NAMED.match(lower)


def directory(url: Url) -> str:
    """Return the server plus the path up to and including its second slash (Tamura 2007 §4.3)."""
    end = url.path.find("/", 1)
    return f"{url.server}{url.path[: end + 1] if end > 0 else '/'}"


@cache
def _suffix_rules() -> frozenset[str]:
    """Return the rules of the Public Suffix List, private ones too, as URLs have their names."""
    # The snapshot that tldextract brings. To import that loads an HTTP client, which took each
    # process, and each reader of a crawl, a third of its start.
    found = find_spec("tldextract")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("tldextract")
    lines = (Path(found.origin).parent / ".tld_set_snapshot").read_text("utf-8")
    rules = _RULE.findall(lines)
    return frozenset(
        rule if rule.isascii() else can_ada.idna_encode(rule).decode() for rule in rules
    )


def _below_suffix(hostname: str) -> str | None:
    """Return the public suffix with one label more; "" for a suffix itself.

    None if the list has no rule for it. https://github.com/publicsuffix/list/wiki/Format says how
    rules match.
    """
    plain, exceptions, wild = _kinds_of_rules()
    before, name = "", hostname
    while name:
        label, _, parent = name.partition(".")
        if name in exceptions:
            return name
        if name in plain or parent in wild:
            return f"{before}.{name}" if before else ""
        before, name = label, parent
    return None


@cache
def _kinds_of_rules() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the rules' names: of plain ones, of exceptions, and of those for all below a name."""
    kinds: dict[str, set[str]] = {"": set(), "!": set(), "*.": set()}
    for rule in _suffix_rules():
        kind = next((sign for sign in ("!", "*.") if rule.startswith(sign)), "")
        kinds[kind].add(rule.removeprefix(kind))
    return frozenset(kinds[""]), frozenset(kinds["!"]), frozenset(kinds["*."])


def registered_domain(hostname: str) -> str:
    """Return the registered domain, private suffixes on; "" where there is none.

    So every blog of a blog host is a site of its own. Under a top-level domain that the list
    doesn't know it is the last two labels: the list's default rule is "*".
    """
    found = _below_suffix(hostname)
    if found is not None or not tld(hostname):
        return found or ""
    labels = hostname.split(".")
    return ".".join(labels[-2:]) if len(labels) > 1 else ""


def has_public_suffix(hostname: str) -> bool:
    """Tell whether a name is under a suffix that the Public Suffix List knows."""
    return bool(_below_suffix(hostname))


@lru_cache(maxsize=65_536)
def site(hostname: str) -> str:
    """Return the registered domain; the host itself where there is none."""
    return registered_domain(hostname) or hostname


def site_of(server: str) -> str:
    """Return the site of a server, which may be written with a port."""
    host, _, port = server.rpartition(":")
    return site(host if host and port.isdecimal() else server)


class Home(NamedTuple):
    """Where a URL is: its server, its site, and its folder, to the last slash of its path."""

    server: str
    site: str
    folder: str


def home(url: Url) -> Home:
    """Return where a URL is."""
    folder = url.server + url.path[: url.path.rfind("/") + 1]
    return Home(url.server, site(url.hostname), folder)


def tld(hostname: str) -> str:
    """Return the last label of a host name in lower case, without the dot; "" for an address."""
    label = hostname.rstrip(".").rpartition(".")[2]
    return "" if label.isdecimal() or label.endswith("]") else label


def fingerprint(href: str) -> int:
    """Return the 64-bit key by which a frontier knows a canonical URL again.

    http and https twins have the same. Two of 40 million URLs share one with a chance of 1 in
    23,000.
    """
    return fingerprints([href])[0]


def fingerprints(hrefs: Sequence[str]) -> tuple[int, ...]:
    """Return the fingerprint of each canonical URL."""
    digests = [blake2b(href.partition("://")[2].encode(), digest_size=8).digest() for href in hrefs]
    return unpack(f">{len(digests)}q", b"".join(digests))


_LABEL = re.compile(r"\bxn--[a-z0-9-]{1,59}")


def readable(text: str) -> str:
    """Return a text with its host names in their own script: "xn--o3cw4h" is written in Thai."""
    return _LABEL.sub(_in_own_script, text) if "xn--" in text else text


def _in_own_script(label: re.Match[str]) -> str:
    try:
        return label[0].encode().decode("idna")
    except UnicodeError:
        return label[0]
