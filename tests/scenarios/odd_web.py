"""Hosts that lead a crawler astray, each in a way that some server has."""

from __future__ import annotations

import gzip
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

from typing_extensions import override

from tests.scenarios.cookie_web import Cookies
from tests.scenarios.host_web import HostWeb
from tests.scenarios.site import ENGLISH, THAI, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.scenarios.host_web import Answered, Asked

PAGES = 30
"""Pages of a host, besides its front page."""

TYPES = (
    "TEXT/HTML", "text/html;;charset=utf-8", 'text/html; charset="utf-8"',
    "text/html; charset=utf-8,", "text/html; charset=utf-8; charset=utf-8",
    "unknown/unknown", "application/unknown", "*/*", "",
    "text/html ; q=1", "html; charset=utf-8", "application/xhtml+xml", "text/xml", "text\thtml",
    ",text/html", "text/html; charset=UTF8;", "text /html", "none", "charset=utf-8",
    "text/html;text/plain",     "application/xhtml+xml;profile='x'",
)  # fmt: skip
"""What a server may call its pages, that a browser shows."""


OWN = re.compile(r"\[\[(.*?)\]\]")
"""Stands in pages for a text of their own."""


def redirect(to: str, *cookies: str, status: int = 302) -> Answered:
    return status, "", [("Location", to), *(("Set-Cookie", cookie) for cookie in cookies)]


class OddWeb(HostWeb):
    """The hosts of this web; ``order`` shuffles the links of pages."""

    def __init__(self, order: int = 0) -> None:
        super().__init__()
        self.order = list(range(PAGES))
        Random(order).shuffle(self.order)

    @override
    def answer(self, asked: Asked) -> Answered:
        *_, kind = asked.host.removesuffix(".example").split(".")
        found: Callable[[Asked, Cookies], Answered] = getattr(self, kind)
        status, html, headers = found(asked, Cookies(asked.cookie))
        if isinstance(html, str):  # no host shows what another does
            html = OWN.sub(lambda place: words(kind + place[1]), html)
        return status, html, headers

    @override
    def robots(self, host: str) -> Answered:
        if host == "named.example":
            lines = [f"Sitemap: http://{host}/{name}" for name in LISTINGS]
            return (
                200,
                "User-agent: *\rDisallow:\r" + "\r".join(lines),
                [("Content-Type", "text/plain")],
            )
        return super().robots(host)

    def page(
        self, path: str, *, link: str = "/p{}", more: str = "", text: str = THAI, seed: str = ""
    ) -> Answered:
        """Return a page with links to all others."""
        listed = "".join(f"<li><a href='{link.format(n)}'>x</a>" for n in self.order)
        own = f"[[{seed or path}]]" if text == THAI else f"{path[1:]} is the place of it, " * 30
        return (
            200,
            f"<html><title>{path}</title><p>{text * 3}{own}<ul>{listed}</ul>{more}</html>",
            [],
        )

    # Walls

    def absolute(self, asked: Asked, cookies: Cookies) -> Answered:
        """Redirects to itself by its whole URL, in capitals, and takes any value."""
        if "v" in cookies:
            return self.page(asked.path)
        return redirect(
            f"HTTP://Absolute.Example:80{asked.path}", f"v={len(self.targets)}", status=307
        )

    def wide(self, asked: Asked, cookies: Cookies) -> Answered:
        """Bounces over another host of its site, which sets the cookie for all of them."""
        if asked.host.startswith("sso."):
            back = parse_qs(asked.query).get("return", ["http://wide.example/"])[0]
            return redirect(back, "seen=1; Domain=wide.example; Path=/")
        if "seen" in cookies:
            return self.page(asked.path)
        return redirect(f"http://sso.wide.example/set?return=http://wide.example{asked.path}")

    def hops(self, asked: Asked, cookies: Cookies) -> Answered:
        """Looks twice whether the cookie comes back, each time with where it came from."""
        to = unquote(asked.query.partition("u=")[2])
        if asked.path == "/check1":
            return redirect(f"/check2?u={quote(to, safe='')}", "a=1; Path=/")
        if asked.path == "/check2":
            return redirect(to, "b=1; Path=/") if "a" in cookies else redirect("/nocookies")
        if asked.path == "/nocookies":
            return 200, "<p>Turn on cookies.", []
        both = {"a", "b"} <= cookies.keys()
        return (
            self.page(asked.path) if both else redirect(f"/check1?u={quote(asked.path, safe='')}")
        )

    def coded(self, asked: Asked, cookies: Cookies) -> Answered:
        """Bounces over a check whose parameter says in base 64 where it came from."""
        if asked.path == "/c":
            to = urlsafe_b64decode(asked.query.partition("r=")[2]).decode()
            return redirect(to, "seen=1; Path=/")
        if "seen" in cookies:
            return self.page(asked.path)
        return redirect("/c?r=" + urlsafe_b64encode(asked.path.encode()).decode())

    def queries(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has pages by query, behind a redirect to themselves."""
        if "seen" in cookies:
            return self.page(asked.target, link="/show?id={}&x=1")
        return redirect(asked.target, "seen=1; Path=/; HttpOnly; SameSite=Strict")

    def probing(self, asked: Asked, cookies: Cookies) -> Answered:
        """Deletes the cookie by which it looked for cookies, and sets another."""
        if "in" in cookies:
            return self.page(asked.path)
        if "probe" in cookies:
            gone = "probe=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
            return redirect(asked.path, gone, "in=1; Path=/")
        return redirect(asked.path, "probe=1; Path=/")

    # Doorways

    def entry(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has links for a doorway: one leads in, the other away."""
        if asked.path == "/in":
            return redirect("/", "adult=1; Path=/")
        if "adult" in cookies:
            return self.page(asked.path)
        if asked.path != "/":
            return redirect("/")
        return 200, f"<p>{THAI}<a href=/in>เข้า</a> <a href=http://away.example/>ออก</a>", []

    def yesno(self, asked: Asked, cookies: Cookies) -> Answered:
        """Asks in two forms, one of which leads away."""
        if asked.path == "/yes":
            return redirect(unquote(asked.body.partition("to=")[2]) or "/", "age=18; Path=/")
        if "age" in cookies:
            return self.page(asked.path)
        field = f"<input type=hidden name=to value='{asked.path}'>"
        return 200, (
            f"<h1>18+</h1><form action=/yes method=post>{field}<input type=submit value=Yes></form>"
            "<form action=http://away.example/ method=get><input type=submit value=No></form>"
        ), []  # fmt: skip

    def consent(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sends to a consent page on another path, which comes back by a form of GET."""
        if asked.path == "/consent/accept":
            return redirect(parse_qs(asked.query).get("next", ["/"])[0], "consent=yes; Path=/")
        if asked.path == "/consent":
            to = parse_qs(asked.query).get("next", ["/"])[0]
            return 200, (
                f"<p>{THAI}<form action=/consent/accept><input name=next type=hidden value='{to}'>"
                "<button>ยอมรับ</button></form>"
            ), []  # fmt: skip
        if "consent" in cookies:
            return self.page(asked.path)
        return redirect(f"/consent?next={quote(asked.path)}")

    # Languages

    def _switching(self, asked: Asked, cookies: Cookies, switch: str) -> Answered:
        text = THAI if cookies.get("l") == "th" else ENGLISH
        return self.page(asked.path, more=switch, text=text)

    def referer(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets its language by a script, which leads back to the front page."""
        if asked.path == "/lang.php":
            return redirect("/", f"l={asked.query[2:]}; Path=/")
        switch = "<a href='/lang.php?l=en'>English</a><a href='/lang.php?l=th'>ภาษาไทย</a>"
        return self._switching(asked, cookies, switch)

    def direct(self, asked: Asked, cookies: Cookies) -> Answered:
        """Shows a page in the language at once, and the others from then on."""
        switch = f"<a href='{asked.path}?hl=th'>ไทย</a> <a href='{asked.path}?hl=en'>English</a>"
        if asked.query == "hl=th":
            status, html, _ = self._switching(asked, Cookies("l=th"), switch)
            return status, html, [("Set-Cookie", "l=th; Path=/")]
        return self._switching(asked, cookies, switch)

    # Types, listings

    def types(self, asked: Asked, cookies: Cookies) -> Answered:
        """Calls each page otherwise."""
        number = int(asked.path[2:] or 0)
        status, html, _ = self.page(asked.path)
        assert isinstance(html, str)
        kind = TYPES[number % len(TYPES)]
        if "xml" in kind:
            links = "".join(f"<a href='/p{n}'>x</a>" for n in self.order)
            html = (
                "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title><script src='x'/>"
                f"</head><body><p>{THAI}[[{asked.path}]]{links}</p></body></html>"
            )
        return status, html, [("Content-Type", kind)]

    def named(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has pages that only its listings name, each broken in another way."""
        listing = LISTINGS.get(asked.path[1:])
        if listing is not None:
            return 200, listing, [("Content-Type", "application/octet-stream")]
        return self.page(asked.target, link="/")

    # Copies

    def later(self, asked: Asked, cookies: Cookies) -> Answered:
        """Two names: the first pages are alike, and those that follow aren't."""
        number = int(asked.path[2:] or 0)
        following = range(number, min(number + 3, PAGES))
        names = ("later.example", "www.later.example")
        more = "".join(f"<a href=http://{name}/p{n}>x</a>" for n in following for name in names)
        seed = f"later{asked.path}" if number < 12 else asked.host + asked.path
        return 200, f"<p>{THAI}[[{seed}]]{more}", []

    def slashes(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names URLs as canonical that redirect to those with a slash."""
        if asked.path != "/" and not asked.path.endswith("/"):
            return redirect(f"{asked.path}/", status=301)
        head = f"<link rel=canonical href='{asked.path.rstrip('/') or '/'}'>"
        return self.page(asked.path, link="/p{}/", more=head)

    def amp(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has each page a second time, for phones, which most of its links lead to."""
        path = asked.path.removeprefix("/amp")
        head = f"<link rel=canonical href='http://amp.example{path or '/'}'>"
        return self.page(path or "/", link="/amp/p{}", more=head + "<a href=/p1>x</a>")

    def paged(self, asked: Asked, cookies: Cookies) -> Answered:
        """Says of each page of its list that the first is its canonical URL."""
        bare = asked.path
        return self.page(
            asked.target, link="/list?page={}", more=f"<link rel=canonical href='{bare}'>"
        )

    def cookieless(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has a session in the path, as servers have that can't set cookies: another each time."""
        token = f"{self.asked.total() * 7_919:012x}ab"
        path = asked.path.partition(";")[0]
        return self.page(path, link=f"/p{{}};zsid={token}")

    def tokens(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has a session of digits alone, as the first of its parameters, beside pages by query."""
        token = f"{self.asked.total() * 104_729:020d}"
        page = parse_qs(asked.query).get("page", ["front"])[0]
        return self.page(f"/{page}", link=f"/show?_tk={token}&page={{}}")


def _urls(first: int, last: int) -> Iterable[str]:
    return (f"http://named.example/n{n}?a=1&amp;b={n}" for n in range(first, last))


def _sitemap(urls: Iterable[str]) -> str:
    listed = "".join(f"<url><loc>\n {url}\n</loc></url>" for url in urls)
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{listed}</urlset>"


LISTINGS: dict[str, bytes] = {
    "utf16.xml": f"<?xml version='1.0' encoding='utf-16'?>{_sitemap(_urls(0, 3))}".encode("utf-16"),
    "packed": gzip.compress(gzip.compress(_sitemap(_urls(3, 6)).encode())),
    "bare": _sitemap(url.replace("&amp;", "&") for url in _urls(6, 9)).encode(),
    "junk": b"\r\n\r\nWarning: x in y on line 3\n" + _sitemap(_urls(9, 12)).encode(),
    "lines.txt": "\ufeff\ufeff".encode() + "\r".join(_urls(12, 15)).replace("&amp;", "&").encode(),
    "cut": _sitemap(_urls(15, 18)).removesuffix("</urlset>").encode() + b"<url><loc>http://named",
    "prefixed": _sitemap(_urls(18, 21)).replace("<url>", "<s:url>").replace("</url>", "</s:url>")
    .replace("loc>", "s:loc>").encode(),
    "CAPS.XML": _sitemap(f"<![CDATA[{u}]]>".replace("&amp;", "&") for u in _urls(21, 24)).upper()
    .replace("HTTP://NAMED.EXAMPLE/N", "http://named.example/n").replace("?A=1&B", "?a=1&b")
    .encode(),
    "guid.rss": (
        "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel>"
        + "".join(f"<item><guid>{url}</guid></item>" for url in _urls(24, 26))
        + "".join(f"<item><atom:link href='{url}'/></item>" for url in _urls(26, 27))
        + "</channel></rss>"
    ).encode(),
    "relative": _sitemap(_urls(27, 30)).replace("http://named.example", "").encode(),
}  # fmt: skip
"""Listings of the host ``named``: three of its pages are in each."""
