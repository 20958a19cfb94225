"""What the hostile web serves, and how the crawl is to end each of it.

A case is a host ``<name>.example``. ``FETCHED`` says how the URL's request ends ("html" is a
page recorded), ``DISCARDED`` why a link is never fetched.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import zlib
from functools import cache
from typing import TYPE_CHECKING

import brotli

from lswc.guest.server_rules import TDMREP_PATH
from lswc.language.html import BOUNDS
from lswc.safety.content_types import Kind
from tests.reading import made
from tests.reading.hostile_documents import CUT as CUT_DOCUMENTS
from tests.reading.hostile_documents import documents, form_in_itself
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PUBLIC = "93.184.215.14"

ADDRESSES: dict[str, list[list[str]]] = {
    "localhost": [["127.0.0.1"]],
    "metadata.google.internal": [["169.254.169.254"]],
    "private.example": [["10.1.2.3"]],
    "private6.example": [["fd00::1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "nat64.example": [["64:ff9b::a9fe:a9fe"]],
    "sixtofour.example": [["2002:7f00:1::"]],
    "multicast.example": [["224.0.0.1"]],
    "mixed.example": [["192.168.1.1", PUBLIC, "::1"]],
}
"""What a name resolves to, the first time, the second, and so on; other names are public."""

MAXSIZE = 1_000_000
MAX_DOCUMENT = 2_000_000
HEADERS = 65_536
REDIRECTS = 5
DUPLICATES = 10
LINKS = BOUNDS.links
URL_LENGTH = 2_083
CRAWL_DELAY = 2
RETRY_AFTER = 2

GOOD = "http://good-0.example/"

DISCARDED = {
    "file:///etc/hostname": "scheme",
    "ftp://ftp.example/": "scheme",
    "javascript:alert(1)": "scheme",
    "data:text/html,x": "scheme",
    "mailto:a@b.example": "scheme",
    "gopher://old.example/": "scheme",
    "http://127.0.0.1/secret": "address not public",
    "http://127.0.0.1.:80/secret": "address not public",
    "http://2130706433/secret": "address not public",
    "http://0x7f000001/secret": "address not public",
    "http://0177.0.0.1/secret": "address not public",
    "http://127.1/secret": "address not public",
    "http://0/secret": "address not public",
    "http://１２７.０.０.１/secret": "address not public",
    "http://169.254.169.254/secret": "address not public",
    "http://10.0.0.1/secret": "address not public",
    "http://[::1]/secret": "address not public",
    "http://[::ffff:127.0.0.1]/secret": "address not public",
    "http://[64:ff9b::7f00:1]/secret": "address not public",
    "http://[fd00:ec2::254]/secret": "address not public",
    "http://good-0.example:22/": "port",
    "http://good-0.example:6379/": "port",
    "http://good-0.example:65536/": "invalid URL",
    "http://exa mple.example/": "invalid URL",
    "http://a%00b.example/": "invalid URL",
}
"""Links that aren't followed, and the reason that is counted."""

LIMITS: dict[str, tuple[Callable[[int], str], int, str]] = {
    "characters": (lambda n: GOOD.ljust(n, "x"), URL_LENGTH, "URL too long"),
    "segments": (lambda n: GOOD + "/".join(map(str, range(n))), 24, "deep path"),
    "equal segments": (lambda n: GOOD + "a/" * n, 3, "repeated path segment"),
    "parameters": (lambda n: f"{GOOD}?{_query('p{i}=1', n)}", 12, "faceted query"),
    "equal parameters": (lambda n: f"{GOOD}?{_query('c={i}', n)}", 3, "faceted query"),
}
"""Links with so many of something, the most that is followed, and why one with more isn't."""


def _query(parameter: str, number: int) -> str:
    return "&".join(parameter.format(i=i) for i in range(number))


NAMES: dict[str, str] = {}
"""What long links are called."""

BELOW = [f"{GOOD[:-1]}:8080/"]
"""Links at the limits: all are recorded."""

for _what, (_link, _most, _reason) in LIMITS.items():
    NAMES[_link(_most)] = f"{_most} {_what}"
    NAMES[_link(_most + 1)] = f"{_most + 1} {_what}"
    BELOW.append(_link(_most))
    DISCARDED[_link(_most + 1)] = _reason


DOCUMENTS = {name.lower().replace(" ", "-"): document for name, document in documents().items()}
"""Documents that are hostile, by the host that has one."""

FETCHED: dict[str, dict[str, str]] = {
    "addresses": {
        "localhost/": "address not public",
        "metadata.google.internal/": "address not public",
        "private.example/": "address not public",
        "private-target.example/": "address not public",
        "private6.example/": "address not public",
        "mapped.example/": "address not public",
        "nat64.example/": "address not public",
        "sixtofour.example/": "address not public",
        "multicast.example/": "address not public",
        "mixed.example/": "html",
        "nowhere.invalid/": "name lookup failed",
    },
    "redirects": {
        "to-private.example/": "redirect",
        "to-private-name.example/": "redirect",
        "to-port.example/": "redirect",
        "to-file.example/": "status 302",
        "to-ftp.example/": "status 302",
        "to-data.example/": "status 302",
        "to-javascript.example/": "invalid URL",
        "to-nowhere.example/": "status 302",
        "to-itself.example/": "redirect loop",
        "circle-a.example/": "redirect",
        "circle-b.example/": "redirect",
        "chain.example/0": "cookie wall",  # its first hops might have set a cookie
        f"chain.example/{REDIRECTS}": "too many redirects",
        "short-chain.example/0": "redirect",
        f"short-chain.example/{REDIRECTS}": "html",
        "session-redirect.example/": "html",
    },
    "sizes": {
        "bomb-gzip.example/": "decompressed too large",
        "bomb-deflate.example/": "decompressed too large",
        "bomb-brotli.example/": "decompressed too large",
        "bomb-twice.example/": "decompressed too large",
        "bomb-by-one-byte.example/": "decompressed too large",
        "below-bomb.example/": "html",
        "not-gzip.example/": "broken compression",
        "cut-gzip.example/": "html",
        "big.example/": "too large",
        "big-unsaid.example/": "too large",
        "big-endless.example/": "too large",
        "below-big.example/": "html",
        "below-big-unsaid.example/": "html",
        "claims-more.example/": "html",
        "claims-less.example/": "html",
        "claims-much.example/": "too large",
        "claims-negative.example/": "download failed",
        "claims-two.example/": "download failed",
        "links-million.example/": "too large",
        "headers-endless.example/": "headers too large",
        "headers-below.example/": "html",
        "header-long.example/": "headers too large",
        "header-below.example/": "html",
        "continues.example/": "headers too large",
        "cookies.example/": "html",
        "folded.example/": "headers too large",
    },
    "servers": {
        "drip.example/": "timeout",
        "drip-headers.example/": "timeout",
        "silent.example/": "timeout",
        "slow.example/": "html",
        "hangs-up.example/": "download failed",
        "garbage.example/": "download failed",
        "chunk-size.example/": "html",
        "chunks-cut.example/": "html",
        "status-999.example/": "status invalid",
        "status-zero.example/": "download failed",
        "status-long.example/": "download failed",
        "no-content.example/": "not HTML",
        "bare-lf.example/": "html",
    },
    "content": {
        "video.example/": "not HTML",
        "zip-as-html.example/": "not HTML",
        "pdf-untyped.example/": "document",
        "image-as-html.example/": "not HTML",
        "gzip-file.example/": "not HTML",
        "html-untyped.example/": "html",
        "charset-unknown.example/": "html",
        "charset-utf-7.example/": "html",
        "charset-wrong-bom.example/": "html",
        "nul.example/": "html",
        "random-bytes.example/": "html",
        "nested.example/": "html",
        "nested-links.example/": "html",
        "attributes.example/": "html",
        "attribute-huge.example/": "html",
        "comment-open.example/": "html",
        "links-most.example/": "html",
        "links-many.example/": "html",
        "links-unread.example/": "html",
        "links-cut.example/": "html",
        "base-huge.example/": "html",
    },
    "documents": {
        **{f"{name}.example/": "document" for name in DOCUMENTS},
        "form-in-itself.example/": "reader died",
        "pdf-big.example/": "too large",
        "pdf-unsaid.example/": "too large",
        "pdf-gzip-bomb.example/": "decompressed too large",
        "pdf-is-html.example/": "html",
        "pdf-is-none.example/": "not HTML",
        "text-is-binary.example/": "not HTML",
        "docx-is-another.example/": "not HTML",
    },
    "guest": {
        "retry-after.example/": "html",
        "retry-later.example/": "status 429",
        "retry-later.example/2": "Retry-After too long",
        "retry-never.example/": "status 503",
        "retry-never.example/2": "Retry-After too long",
        "crawl-delay-most.example/": "html",
        "crawl-delay-longer.example/": "Crawl-delay too long",
        "crawl-delay-endless.example/": "Crawl-delay too long",
        "robots-forbids.example/": "robots.txt",
        "robots-forbids-others.example/": "html",
        "robots-failing.example/": "robots.txt unavailable",
        "robots-overloaded.example/": "robots.txt unavailable",
        "robots-to-private.example/": "address not public",
        "robots-garbage.example/": "html",
        "robots-big.example/": "html",
        "robots-endless-headers.example/": "headers too large",
        "noindex.example/": "noindex",
        "noarchive.example/": "noarchive",
        "nofollow.example/": "html",
        "noindex-others.example/": "html",
    },
    "traps": {
        "calendar.example/": "html",
        "sessions.example/": "html",
        "soft-404.example/": "html",
        "deeper.example/": "html",
        "n0.farm.co.th/": "html",
        "mirror-0.example/": "html",
        "mirror-1.example/": "html",
    },
}
"""How the request for a host and path ends, by kind of case."""

HTTPS = {
    "closed-http.example/": "timeout",  # the https twin of a URL that is refused
    "tls-silent.example/": "timeout",
    "tls-garbage.example/": "download failed",
}
"""The same by https, where nothing speaks TLS."""

UNREAD = {
    "fields-without-end-in-rtf.example/": 25_000 - LINKS,
    "links-without-end-in-rtf.example/": 40_000 - LINKS,
    "links-cut.example/": 50_000 - LINKS,
    "nested-links.example/": 40_000 - LINKS,
    "base-huge.example/": 5_000 - LINKS,
    "many-links.example/": 1,  # more aren't counted
}
"""Links beyond the limit, all of them counted. Front pages of relevant servers have larger ones."""

CUT = {
    "links-cut.example/",
    "nested-links.example/",
    *(f"{name.lower().replace(' ', '-')}.example/" for name in CUT_DOCUMENTS),
}
"""Pages that may have links where the parser doesn't look."""

ADDRESSES["private-target.example"] = [["10.9.9.9"]]


def hub() -> list[str]:
    """Return all links of the seed page: cases with good pages in between."""
    links = [*DISCARDED, *BELOW]
    links += [f"http://{place}" for kind in FETCHED.values() for place in kind if _is_linked(place)]
    links += [f"https://{place}" for place in HTTPS]
    mixed = [(link, f"http://good-{n}.example/") for n, link in enumerate(links)]
    return [link for pair in mixed for link in pair]


_FOUND_OTHERWISE = ("circle-b.example", "private-target.example", "mirror-1.example")


def _is_linked(place: str) -> bool:
    host, _, path = place.partition("/")
    return path in ("", "0", "2") and host not in _FOUND_OTHERWISE


def good() -> set[str]:
    """Return the URLs of the good pages in between."""
    return {link for link in hub() if link.startswith("http://good-")} - {*DISCARDED, *BELOW}


async def answer(host: str, path: str, writer: asyncio.StreamWriter) -> None:
    """Answer one request, then the connection is closed."""
    name = host.partition(":")[0].removesuffix(".example")
    if path == "/robots.txt":
        await _send(writer, _robots(name))
    elif path == TDMREP_PATH:
        await _send(writer, respond("", start="404 Not Found"))
    elif name in _ENDLESS:
        await _drip(writer, *_ENDLESS[name])
    elif name == "silent" or name in ("tls-silent", ""):
        await asyncio.sleep(60)
    elif name == "slow":
        await _slow(writer)
    else:
        await _send(writer, _page(name, path))


async def _send(writer: asyncio.StreamWriter, parts: bytes | Iterator[bytes]) -> None:
    for part in [parts] if isinstance(parts, bytes) else parts:
        writer.write(part)
        await writer.drain()


async def _slow(writer: asyncio.StreamWriter) -> None:
    page = respond(html("", seed=1))
    for start in range(0, len(page), len(page) // 4):
        writer.write(page[start : start + len(page) // 4])
        await writer.drain()
        await asyncio.sleep(0.5)


async def _drip(writer: asyncio.StreamWriter, first: bytes, again: bytes) -> None:
    writer.write(first)
    while True:
        await writer.drain()
        await asyncio.sleep(0.2)
        writer.write(again)


OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_ENDLESS = {
    "drip": (OK + b"\r\n<html>", b"x"),
    "drip-headers": (OK, b"X: y\r\n"),
}


def html(text: str = "", *links: str, seed: int | None = None) -> str:
    """Return a Thai page; ``seed`` gives it words of its own."""
    words = THAI.split()[0]
    chosen = random.Random(seed)
    own = "".join(chosen.choice(words) for _ in range(400)) if seed is not None else THAI * 3
    anchors = "".join(f'<a href="{link}">{n}</a> ' for n, link in enumerate(links))
    return f"<html><body><p>{own}</p>{text}{anchors}</body></html>"


def respond(body: str | bytes, headers: str = "", start: str = "200 OK") -> bytes:
    """Return a response with the length of its body, after which the connection is closed."""
    data = body if isinstance(body, bytes) else body.encode()
    kind = "" if "Content-Type" in headers else "Content-Type: text/html\r\n"
    length = "" if "Content-Length" in headers else f"Content-Length: {len(data)}\r\n"
    head = f"HTTP/1.1 {start}\r\nConnection: close\r\n{kind}{length}{headers}\r\n"
    return head.encode() + data


def _redirect(target: str) -> bytes:
    return respond(b"", f"Location: {target}\r\n", "302 Found")


def _repeat(first: bytes, again: bytes) -> Iterator[bytes]:
    yield first
    while True:
        yield again


_ROBOTS = {
    "crawl-delay-most": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY}",
    "crawl-delay-longer": f"User-agent: *\nCrawl-delay: {CRAWL_DELAY + 1}",
    "crawl-delay-endless": "User-agent: *\nCrawl-delay: 1e300",
    "robots-forbids": "User-agent: lswc\nDisallow: /",
    "robots-forbids-others": "User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /x",
}


def _robots(name: str) -> bytes | Iterator[bytes]:
    text = "Content-Type: text/plain\r\n"
    if name in _ROBOTS:
        return respond(_ROBOTS[name], text)
    match name:
        case "robots-failing":
            return respond("", text, "500 Oops")
        case "robots-overloaded":
            return respond("", text, "429 Too Many Requests")
        case "robots-to-private":
            return _redirect("http://127.0.0.1/robots.txt")
        case "robots-garbage":
            return respond(bytes(range(256)) * 100, text)
        case "robots-big":
            return _repeat(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n", b"Allow: /\n" * 1000)
        case "robots-endless-headers":
            return _repeat(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000)
    return respond("", text, "404 Not Found")


def _page(name: str, path: str) -> bytes | Iterator[bytes]:
    family = name.partition("-")[0]
    if name == "hub":
        return respond(html("", *hub(), seed=0))
    if name.endswith(".farm.co.th"):
        start = random.Random(name + path).randrange(10_000)
        return respond(html("", *(f"http://n{start + n}.farm.co.th/" for n in range(40))))
    if name.startswith("mirror-"):
        return _mirror(int(name.removeprefix("mirror-")), int(path[1:] or 0))
    for group in (_redirects, _sizes, _http, _content, _documents, _guests, _traps):
        found = group(name, path)
        if found is not None:
            return found
    seed = sum(map(ord, name + path)) * 7919 + len(path)
    return respond(html("", seed=seed if family != "hub" else 0))


def _mirror(host: int, number: int) -> bytes:
    """Return one of the same 30 pages that all mirrors have; the last leads to the next mirror."""
    following = [f"http://mirror-{host + 1}.example/"] if number == 29 else []
    links = [f"/{n}" for n in range(30)] if number == 0 else following
    return respond(html("", *links, seed=number + 5000))


def _redirects(name: str, path: str) -> bytes | None:
    targets = {
        "to-private": "http://127.0.0.1/secret",
        "to-private-name": "http://private-target.example/",
        "to-port": "http://good-0.example:22/",
        "to-file": "file:///etc/passwd",
        "to-ftp": "ftp://ftp.example/",
        "to-data": "data:text/html,x",
        "to-javascript": "javascript:alert(1)",
        "to-itself": "/",
        "circle-a": "http://circle-b.example/",
        "circle-b": "http://circle-a.example/",
        "chain": f"/{int(path[1:] or 0) + 1}" if name == "chain" else "",
    }
    if name == "to-nowhere":
        return respond(b"", "", "302 Found")
    if name == "short-chain" and int(path[1:]) < REDIRECTS:
        return _redirect(f"/{int(path[1:]) + 1}")
    if name == "session-redirect" and "PHPSESSID" not in path:
        return _redirect("/?PHPSESSID=0123456789abcdef")
    return _redirect(targets[name]) if name in targets else None


@cache
def _zeros(size: int) -> bytes:
    return html("").encode() + b" " * size


def _sizes(name: str, path: str) -> bytes | Iterator[bytes] | None:
    return _encoded(name) or _claimed(name) or _heads(name)


def _encoded(name: str) -> bytes | None:
    page = html("", seed=len(name) + 900).encode()
    match name:
        case "bomb-gzip":
            return _packed(gzip.compress(_zeros(50_000_000), 1), "gzip")
        case "bomb-deflate":
            return _packed(zlib.compress(_zeros(50_000_000), 1), "deflate")
        case "bomb-brotli":
            return _packed(brotli.compress(_zeros(50_000_000), quality=1), "br")
        case "bomb-twice":
            return _packed(gzip.compress(gzip.compress(_zeros(200_000_000), 1), 9), "gzip, gzip")
        case "bomb-by-one-byte":
            return _packed(gzip.compress(page.ljust(MAXSIZE + 1)), "gzip")
        case "below-bomb":
            return _packed(gzip.compress(page.ljust(MAXSIZE)), "gzip")
        case "not-gzip":
            return _packed(page, "gzip")
        case "cut-gzip":
            return _packed(gzip.compress(page)[:-20], "gzip")
    return None


def _packed(body: bytes, encoding: str) -> bytes:
    return respond(body, f"Content-Encoding: {encoding}\r\n")


def _claimed(name: str) -> bytes | Iterator[bytes] | None:
    page = html("", seed=len(name) + 900).encode()
    lengths = {
        "claims-more": [len(page) + 1000],
        "claims-less": [len(page) - 300],
        "claims-much": [99_999_999_999],
        "claims-negative": [-1],
        "claims-two": [5, 6],
    }
    if name in lengths:
        return respond(page, "".join(f"Content-Length: {n}\r\n" for n in lengths[name]))
    match name:
        case "big":
            return respond(page.ljust(MAXSIZE + 1))
        case "big-unsaid":
            return OK + b"\r\n" + page.ljust(MAXSIZE + 1)
        case "big-endless":
            return _repeat(OK + b"\r\n" + page, b" " * 65_536)
        case "below-big":
            return respond(page.ljust(MAXSIZE))
        case "below-big-unsaid":
            return OK + b"\r\n" + page.ljust(MAXSIZE)
    return None


def _heads(name: str) -> bytes | Iterator[bytes] | None:
    page = html("", seed=len(name) + 900).encode()
    match name:
        case "headers-endless":
            return _repeat(OK, b"X-Endless: " + b"y" * 100 + b"\r\n")
        case "headers-below":
            return respond(page, "".join(f"X-{n:02}: {'y' * 993}\r\n" for n in range(65)))
        case "header-long":
            return _with_head(page, HEADERS + 1)
        case "header-below":
            return _with_head(page, HEADERS)
        case "continues":
            return _repeat(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100)
        case "cookies":
            return respond(page, "".join(f"Set-Cookie: c{n}={'v' * 50}\r\n" for n in range(500)))
        case "folded":
            return _repeat(OK + b"X: y\r\n", b" " + b"z" * 1000 + b"\r\n")
    return None


def _with_head(page: bytes, size: int) -> bytes:
    """Return a response whose head has so many bytes, most of them in one line."""
    least = len(respond(page, "X: \r\n")) - len(page)
    return respond(page, f"X: {'y' * (size - least)}\r\n")


def _http(name: str, path: str) -> bytes | None:
    page = html("", seed=len(name) + 700).encode()
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    size = b"%x\r\n" % len(page)
    return {
        "hangs-up": b"",
        "garbage": b"\x00\xff" * 200 + b"\r\n\r\n",
        "chunk-size": chunked + b"zz\r\n" + page,
        "chunks-cut": chunked + size + page + b"\r\n",
        "status-999": respond(page, start="999 Odd"),
        "status-zero": respond(page, start="0 Odd"),
        "status-long": respond(page, start=f"{10**4000} Odd"),
        "no-content": b"HTTP/1.1 204 No Content\r\n\r\n",
        "bare-lf": b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + page,
    }.get(name)


def _content(name: str, path: str) -> bytes | Iterator[bytes] | None:
    page = html("", seed=len(name) + 500).encode()
    if path != "/":
        return respond(page) if name.startswith(("base-", "links-", "nested-")) else None
    links = (
        [b"<a href=/%d>x</a>" % (n % 450) for n in range(50_000)]
        if name.startswith("links-")
        else []
    )
    if name == "video":
        video = b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"
        return _repeat(video, b"\0" * 65_536)
    if name == "links-million":
        return respond(b"".join(b"<a href=/%d>x</a>" % n for n in range(1_000_000)))
    body, headers = {
        "zip-as-html": (b"PK\x03\x04" + bytes(1000), ""),
        "pdf-untyped": (b"%PDF-1.4 " + page, "Content-Type:\r\n"),
        "image-as-html": (b"\xff\xd8\xff\xe0" + page, ""),
        "gzip-file": (gzip.compress(page), ""),
        "html-untyped": (page, "Content-Type:\r\n"),
        "charset-unknown": (page, "Content-Type: text/html; charset=no-such\r\n"),
        "charset-utf-7": (b"+ADw-script+AD4-" + page, "Content-Type: text/html; charset=utf-7\r\n"),
        "charset-wrong-bom": (b"\xff\xfe" + page, ""),
        "nul": (b"\0".join(page[n : n + 50] for n in range(0, len(page), 50)), ""),
        "random-bytes": (random.Random(1).randbytes(50_000), ""),
        "nested": (b"<div>" * 100_000 + page, ""),
        "nested-links": (b"<a href=/x><table>" * 40_000 + page, ""),
        "attributes": (b"<p " + b"".join(b"a%d=1 " % n for n in range(80_000)) + b">" + page, ""),
        "attribute-huge": (b"<p title='" + b"x" * 900_000 + b"'>" + page, ""),
        "comment-open": (page + b"<!--" + b"<!-" * 100_000, ""),
        "links-most": (page + b"".join(links[:LINKS]), ""),
        "links-many": (page + b"".join(links[: LINKS + 1]), ""),
        "links-unread": (page + b"<a href=/>x</a>" * 3_100, ""),
        "links-cut": (b"".join(links) + page, ""),
        "base-huge": (b"<base href='/" + b"x/" * 50_000 + b"'>" + b"<a href=../y>" * 5000, ""),
    }.get(name, (None, ""))
    return None if body is None else respond(body, headers)


_TYPES = {
    Kind.PDF: "application/pdf",
    Kind.WORD: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    Kind.OPENDOCUMENT: "application/vnd.oasis.opendocument.text",
    Kind.POWERPOINT: ("application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    Kind.EXCEL: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Kind.EPUB: "application/epub+zip",
    Kind.RTF: "application/rtf",
    Kind.TEXT: "text/plain",
}


def _documents(name: str, path: str) -> bytes | Iterator[bytes] | None:
    if path != "/":
        return None
    if name in DOCUMENTS:
        kind, make = DOCUMENTS[name]
        return respond(make(), f"Content-Type: {_TYPES[kind]}\r\n")
    said = "Content-Type: application/pdf\r\n"
    if name == "pdf-unsaid":
        return _repeat(f"HTTP/1.1 200 OK\r\n{said}\r\n".encode() + b"%PDF-1.7\n", b"%" * 65_536)
    body, headers = _liars().get(name, (None, ""))
    return None if body is None else respond(body, headers)


@cache
def _liars() -> dict[str, tuple[bytes, str]]:
    """Return what isn't what it says, or larger, by host, with its headers."""
    said = "Content-Type: application/pdf\r\n"
    bomb = gzip.compress(b"%PDF-1.7\n" + bytes(10 * MAX_DOCUMENT))
    archive = made.zipped({"[Content_Types].xml": b"", "of/another.xml": b""})
    return {
        "form-in-itself": (form_in_itself(3), said),
        "pdf-big": (made.pdf([["a"]]).ljust(MAX_DOCUMENT + 1, b"%"), said),
        "pdf-gzip-bomb": (bomb, f"{said}Content-Encoding: gzip\r\n"),
        "pdf-is-html": (html("", seed=700).encode(), said),
        "pdf-is-none": (b"no such file", said),
        "text-is-binary": (bytes(range(256)) * 900, "Content-Type: text/plain\r\n"),
        "docx-is-another": (archive, ""),
    }


_ASKED: set[str] = set()


def _guests(name: str, path: str) -> bytes | None:
    if name == "retry-after" and name not in _ASKED:
        _ASKED.add(name)
        return respond("", f"Retry-After: {RETRY_AFTER}\r\n", "429 Too Many Requests")
    page = html("", seed=len(name) + 300)
    match name:
        case "retry-later":
            return respond("", "Retry-After: 3601\r\n", "429 Too Many Requests")
        case "retry-never":
            return respond("", "Retry-After: 1000000000\r\n", "503 Busy")
        case "noindex":
            return respond("<meta name=robots content='NoIndex'>" + page)
        case "noarchive":
            return respond(page, "X-Robots-Tag: noarchive\r\n")
        case "nofollow":
            return respond("<meta name=robots content=nofollow>" + html("", "/secret", seed=1))
        case "noindex-others":
            return respond(page, "X-Robots-Tag: other: noindex, nofollow\r\n")
    return None


def _traps(name: str, path: str) -> bytes | None:
    number = random.Random(path).randrange(10**9)
    match name:
        case "calendar":
            day = int(path.strip("/").rpartition("/")[2] or 0)
            return respond(html(f"<p>{day}</p>", *(f"/{day // 30}/{day + n}" for n in (1, 2, 30))))
        case "sessions":
            links = (
                f"/?PHPSESSID={number:032x}",
                f"/;jsessionid={number:x}",
                f"/?sid={number:032x}",
            )
            return respond(html("", *links, seed=77))
        case "soft-404":
            return respond(html("", *(f"/{number + n}.html" for n in range(5))))
        case "deeper":
            return respond(html("", "a/", seed=len(path) + 400))
    return None
