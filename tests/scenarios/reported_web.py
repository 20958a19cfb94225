"""Hosts after what users of other crawlers reported: walls, copies without end, sessions."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote

from typing_extensions import override

from tests.scenarios.odd_web import OddWeb, redirect
from tests.scenarios.site import ENGLISH, THAI

if TYPE_CHECKING:
    from tests.scenarios.cookie_web import Cookies
    from tests.scenarios.host_web import Answered, Asked

PAGES = 12
"""Pages of a host, besides its front page."""


class ReportedWeb(OddWeb):
    """The hosts of this web; ``order`` shuffles the links of pages."""

    def __init__(self, order: int = 0) -> None:
        super().__init__(order)
        self.order = list(range(PAGES))
        Random(order).shuffle(self.order)
        self._number = 0

    def _next(self) -> int:
        with self.lock:
            self._number += 1
            return self._number

    @override
    def robots(self, host: str) -> Answered:
        if host == "barred.example":
            return 200, "User-agent: *\nDisallow: /own", [("Content-Type", "text/plain")]
        return super().robots(host)

    # Walls

    def ticket(self, asked: Asked, cookies: Cookies) -> Answered:
        """Bounces over another site, which says by a ticket who comes."""
        if asked.query.startswith("ticket="):
            return redirect(asked.path, "s=1; Path=/; HttpOnly")
        if "s" in cookies:
            return self.page(asked.path)
        back = quote(f"http://ticket.example{asked.path}", safe="")
        return redirect(f"http://sign.example/on?service={back}")

    def sign(self, asked: Asked, cookies: Cookies) -> Answered:
        to = parse_qs(asked.query).get("service", [""])[0]
        return redirect(f"{to}?ticket=t{self._next()}", "signed=1; Path=/")

    def visited(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets a cookie, bounces over another site, and sets another one."""
        if asked.query == "back=1":
            return redirect(asked.path, "done=1; Path=/")
        if {"b", "done"} <= cookies.keys():
            return self.page(asked.path)
        back = quote(f"http://visited.example{asked.path}?back=1", safe="")
        return redirect(f"http://other.example/x?r={back}", "b=1; Path=/")

    def other(self, asked: Asked, cookies: Cookies) -> Answered:
        return redirect(unquote(asked.query[2:]), "t=1; Path=/")

    def header(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets its cookie with a page that a header loads anew."""
        if "seen" in cookies:
            return self.page(asked.path)
        again = [("Set-Cookie", "seen=1; Path=/"), ("Refresh", f"0; url={asked.path}")]
        return 200, "<p>Loading", again

    def waiting(self, asked: Asked, cookies: Cookies) -> Answered:
        """Waits by META, and leads to what sets its cookie and sends back."""
        if asked.path == "/set":
            return redirect(unquote(asked.query[2:]), "seen=1; Path=/")
        if "seen" in cookies:
            return self.page(asked.path)
        to = f"/set?u={quote(asked.path, safe='')}"
        return 200, f"<meta http-equiv=refresh content='0; url={to}'><p>Please wait", []

    def stairs(self, asked: Asked, cookies: Cookies) -> Answered:
        """Leads over four steps, whose paths end with where it began."""
        if step := re.match(r"/s(\d)/(.*)", asked.path):
            at, rest = int(step[1]), step[2]
            return redirect(f"/s{at + 1}/{rest}" if at < 4 else f"/{rest}", f"h{at}=1; Path=/")
        if {"h1", "h2", "h3", "h4"} <= cookies.keys():
            return self.page(asked.path)
        return redirect(f"/s1{asked.path}")

    def values(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets cookies that are quoted, have signs in them, no value, no name, or an old date."""
        if cookies.get("v") == '"a b=c"' and cookies.get("w") == "x=y==":
            return self.page(asked.path)
        old = "; Path=/; Expires=Wed, 21-Oct-2037 07:28:00 GMT"
        return redirect(asked.path, f'v="a b=c"{old}', "w=x=y==; path=/", "u=; Path=/", "=n", "; ;")

    def turning(self, asked: Asked, cookies: Cookies) -> Answered:
        """Wants a cookie, sets another with each page, and takes any of them."""
        status, html, headers = self.page(asked.path)
        another = [("Set-Cookie", f"t=x{self._next()}; Path=/")]
        if "t" in cookies:
            return status, html, [*headers, *another]
        return 302, "", [("Location", asked.path), *another]

    def clicked(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has a doorway whose button is a script's."""
        if asked.path == "/enter":
            return redirect("/", "age=1; Path=/")
        if "age" in cookies:
            return self.page(asked.path)
        leave = "<a href='http://away.example/'>Leave</a>"
        return 200, f"<p>{THAI}<button onclick=\"location.href='/enter'\">OK</button>{leave}", []

    def foreign(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets cookies of a megabyte's length in all, for others, and one that opens."""
        if "ok" in cookies:
            return self.page(asked.path)
        suffix = ["a=1; Domain=example", "b=1; Domain=co.th", "c=1; Domain=away.example"]
        return redirect(asked.path, "ok=1; Path=/", *suffix, f"big={'x' * 40_000}; Path=/")

    def megabyte(self, asked: Asked, cookies: Cookies) -> Answered:
        """Sets one cookie that no browser takes."""
        return redirect(asked.path, f"ok={'x' * 1_000_000}; Path=/")

    # Languages

    def quiet(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names its languages by hreflang alone, and sets one with a page that leads back."""
        if asked.path.startswith("/i18n/set/"):
            back = "<meta http-equiv=refresh content='0;url=/'>ok"
            return 200, back, [("Set-Cookie", f"l={asked.path[10:]}; Path=/")]
        switch = "<a hreflang=en href=/i18n/set/en>A</a><a hreflang=th href=/i18n/set/th>B</a>"
        text = THAI if cookies.get("l") == "th" else ENGLISH
        return self.page(asked.path, more=switch, text=text)

    # Copies

    def _says(self, asked: Asked, own: str, path: str = "", link: str = "/p{}") -> Answered:
        return self.page(path or asked.path, link=link, more=f"<link rel=canonical href='{own}'>")

    def stamped(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names another URL as canonical each time: the pages have no end."""
        return self._says(asked, f"{asked.path}?v={self._next()}")

    def growing(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names its URL with one slash more."""
        return self._says(asked, f"{asked.path}/", asked.path.rstrip("/") or "/")

    def chain(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names a URL that names another."""
        return self._says(asked, asked.path + {"a": "?b"}.get(asked.query, ""), link="/p{}?a")

    def barred(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names what its robots.txt forbids."""
        return self._says(asked, f"/own{asked.path}")

    def missing(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names what isn't there."""
        return (404, "", []) if asked.path[:4] == "/own" else self._says(asked, f"/own{asked.path}")

    def said(self, asked: Asked, cookies: Cookies) -> Answered:
        """Names canonical URLs in a header."""
        plain = "".join(f"<a href=/p{n}>x</a>" for n in self.order)
        status, html, headers = self.page(asked.path, link="/p{}?from=list", more=plain)
        own = f'<http://said.example{asked.path}>; rel="canonical"'
        return status, html, [*headers, ("Link", own)]

    def folder(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has the session as a folder, and puts a new one back where none is."""
        token = f"(S({self._next() * 104_729:016d}zk))"
        session = re.match(r"/\(S\(\w+\)\)(/.*)", asked.path)
        if session is None:
            return redirect(f"/{token}{asked.path}")
        return self.page(session[1], link=f"/{token}/p{{}}")

    def times(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has the time in its links."""
        return self.page(asked.path, link=f"/p{{}}?t={1_700_000_000 + 37 * self._next()}")

    def sources(self, asked: Asked, cookies: Cookies) -> Answered:
        """Says in each link on which page it stands."""
        return self.page(asked.path, link=f"/p{{}}?ref={quote(asked.path, safe='')}")

    # Listings

    def again(self, asked: Asked, cookies: Cookies) -> Answered:
        """Has a sitemap that names one URL 50,000 times, and then the others."""
        if asked.path != "/sitemap.xml":
            return self.page(asked.path, link="/")
        one = "<url><loc>http://again.example/p0</loc></url>" * 50_000
        others = "".join(f"<url><loc>http://again.example/p{n}</loc></url>" for n in self.order)
        return 200, f"<urlset>{one}{others}</urlset>", [("Content-Type", "text/xml")]
