"""Hosts that show their pages only to who sends back cookies, or asks for a language by one."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlsplit

from typing_extensions import override

from tests.scenarios.host_web import HostWeb
from tests.scenarios.site import ENGLISH, THAI, words

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.scenarios.host_web import Answered, Asked

PAGES = 8
"""Pages of a host, besides its front page."""

OWN = "<i></i>"
"""Stands in pages for what no other page says."""


class Cookies(dict[str, str]):
    """The cookies of a request."""

    def __init__(self, said: str) -> None:
        super().__init__(
            (pair.partition("=")[0], pair.partition("=")[2]) for pair in said.split("; ") if pair
        )


def redirect(to: str, *cookies: str, status: int = 302) -> Answered:
    return status, "", [("Location", to), *(("Set-Cookie", cookie) for cookie in cookies)]


def page(path: str, order: list[int], more: str = "", text: str = THAI) -> Answered:
    """Return a page with links to all others, in this order."""
    listed = "".join(f"<li><a href='/p{n}'>{n}</a>" for n in order)
    return 200, f"<title>{path}</title><p>{text * 3}<p>{OWN}<ul>{listed}</ul>{more}", []


def notice(more: str) -> Answered:
    return 200, f"<title>Wait</title><p>{THAI}</p>{more}", []


class CookieWeb(HostWeb):
    """The hosts of this web; ``order`` shuffles the links of pages."""

    def __init__(self, order: int = 0) -> None:
        super().__init__()
        self.order = list(range(PAGES))
        Random(order).shuffle(self.order)
        self._sessions = 0

    @override
    def answer(self, asked: Asked) -> Answered:
        host, path = asked.host, asked.target
        found: Callable[..., Answered] = getattr(self, host.partition(".")[0])
        status, html, headers = found(asked.method, path, asked.body, Cookies(asked.cookie))
        text = str(html)
        own = words(host + path) if THAI in text else f"{host[:4]}{path[2:]} " * 60
        return status, text.replace(OWN, own), headers

    def _session(self) -> str:
        with self.lock:
            self._sessions += 1
            return f"s{self._sessions:030}"

    def behind(self, path: str) -> Answered:
        """Return a page with cookies of its own, which nobody needs and that change it."""
        status, html, headers = page(path, self.order)
        return status, html, [*headers, ("Set-Cookie", f"last={quote(path)}; Path=/")]

    # Walls

    def itself(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Redirects to the same URL until the cookie comes."""
        if cookies.get("seen") == "1":
            return self.behind(path)
        return redirect(path, "seen=1; Path=/")

    def bounce(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Sends to a check, which sets the cookie."""
        if path.startswith("/check?to="):
            return redirect(unquote(path[10:]), "seen=1; Path=/; HttpOnly")
        if cookies.get("seen") == "1":
            return self.behind(path)
        return redirect("/check?to=" + quote(path, safe=""))

    def probe(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Probes in two hops, which name no URL; sessions are never the same."""
        if path == "/probe1":
            return redirect("/probe2", status=303) if "sid" in cookies else redirect("/none")
        if path == "/probe2":
            return redirect(unquote(cookies.get("back", "/")), "ok=1; Path=/")
        if path == "/none":
            return 200, "<p>Please enable cookies.", []
        if cookies.get("ok") == "1" and "sid" in cookies:
            return self.behind(path)
        back = f"back={quote(path, safe='')}; Path=/"
        return redirect("/probe1", f"sid={self._session()}; Path=/", back)

    def added(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Adds a parameter to the URL while it looks whether the cookie comes back."""
        bare = path.partition("?")[0]
        if path.endswith("?detect=1"):
            return redirect(bare) if "ok" in cookies else (200, "<p>No cookies.", [])
        if "ok" in cookies:
            return self.behind(bare)
        return redirect(f"{bare}?detect=1", "ok=1")

    def refresh(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Sets its cookie with a page that loads itself anew."""
        if "seen" in cookies:
            return self.behind(path)
        said = notice("<meta http-equiv=refresh content='0'>")
        return said[0], said[1], [("Set-Cookie", "seen=1; Path=/")]

    def expiring(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Wants another session after some pages."""
        with self.lock:
            number = int(cookies.get("sid", "s0")[1:])
            good = self.asked["expiring.example"] - number < 5 and number > 0
            now = self.asked["expiring.example"]
        return self.behind(path) if good else redirect(path, f"sid=s{now}; Path=/")

    def several(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Wants three cookies, one after the other."""
        missing = next((name for name in "abc" if name not in cookies), None)
        return self.behind(path) if missing is None else redirect(path, f"{missing}=1; Path=/")

    def splash(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Leads to a page that sets the cookie."""
        if path == "/welcome":
            status, html, _ = notice("<a href=/>in</a>")
            return status, html, [("Set-Cookie", "seen=1; Path=/")]
        return self.behind(path) if "seen" in cookies else redirect("/welcome")

    # Doorways

    def _doorway(self, cookies: Cookies, path: str, form: str) -> Answered | None:
        if cookies.get("adult") == "yes":
            return None
        links = "<a href='ftp://elsewhere.example/'>Leave</a> <a href=/terms>Terms</a>"
        return notice(form + links)

    def post(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has a button that is posted, with what it hides."""
        if path == "/enter" and method == "POST":
            token = parse_qs(body).get("token", [""])[0]
            good = token and token == cookies.get("token")
            return redirect("/", *(["adult=yes; Path=/; Max-Age=3600"] if good else []), status=303)
        token = self._session()
        form = (
            f"<form action=/enter method=post><input type=hidden name=token value={token}>"
            "<button>เข้าสู่เว็บไซต์</button></form>"
        )
        said = self._doorway(cookies, path, form)
        if said is None:
            return self.behind(path)
        return said[0], said[1], [("Set-Cookie", f"token={token}; Path=/")]

    def get(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Asks for consent by a form that is sent to the same page."""
        bare, _, query = path.partition("?")
        if query == "agree=on&ok=Yes":
            return 200, "<p>Thanks", [("Set-Cookie", "adult=yes; Path=/")]
        form = (
            "<form><label><input type=checkbox name=agree> I am 18</label>"
            "<input type=submit name=ok value=Yes></form>"
        )
        return self._doorway(cookies, path, form) or self.behind(bare)

    def enter(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has a doorway for its front page, which leads on and stays."""
        if path == "/":
            return notice("<form action=/in><button>Enter</button></form>")
        if path == "/in":
            return redirect("/p1", "adult=yes; Path=/", status=307)
        return self.behind(path) if "adult" in cookies else redirect("/")

    def gate(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Redirects to a doorway that says where it leads back to."""
        if path.startswith("/age"):
            to = parse_qs(body or urlsplit(path).query).get("to", ["/"])[0]
            if method == "POST":
                return redirect(to, "adult=yes; Path=/")
            return notice(
                f"<form action=/age method=POST><input type=hidden name=to value='{to}'>"
                "<input type=image alt=Enter></form>"
            )
        if cookies.get("adult") == "yes":
            return self.behind(path)
        return redirect("/age?to=" + quote(path, safe=""))

    def delete(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has a button that nobody should press but its owner."""
        if method == "POST":
            return redirect("/", "adult=yes; Path=/")
        form = "<form action=/account/delete method=post><button>OK</button></form>"
        return self._doorway(cookies, path, form) or self.behind(path)

    # Languages

    def _said(self, path: str, thai: bool, switch: str) -> Answered:
        return page(path, self.order, switch, THAI if thai else ENGLISH)

    def param(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Changes its language by a parameter on any page, which a cookie keeps."""
        bare, _, query = path.partition("?")
        if query in ("lang=th", "lang=en"):
            return redirect(bare, f"{query}; Path=/")
        switch = f"<a href='{bare}?lang=en'>English</a> <a href='{bare}?lang=th'>ไทย</a>"
        return self._said(path, cookies.get("lang") == "th", switch)

    def setlang(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Changes its language by a path, in its session."""
        if path.startswith("/setlang/"):
            return redirect("/", f"locale={path[9:]}; Path=/; SameSite=Lax")
        switch = "<a href=/setlang/en>EN</a> <a href=/setlang/th>TH</a>"
        return self._said(path, cookies.get("locale") == "th", switch)

    def folders(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has its languages in folders, and needs no cookie."""
        switch = "<a href=/th/>ไทย</a>"
        return self._said(path, path.startswith("/th/"), switch)

    # Where cookies must change nothing

    def leaky(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Sets another language with each page, and shows it to who sends it back."""
        status, html, headers = self._said(path, "lang" not in cookies, "")
        return status, html, [*headers, ("Set-Cookie", "lang=en; Path=/")]

    def session(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Sets a session with a redirect that needs none."""
        if path == "/":
            return redirect("/home", f"PHPSESSID={self._session()}; Path=/")
        return page(path, self.order)

    def login(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has pages behind a login, which nothing opens."""
        if path.startswith("/login"):
            return notice("<form method=post><input name=user><input type=password name=p></form>")
        if path == "/" or int(path[2:]) % 2:
            return page(path, self.order)
        return redirect("/login?next=" + quote(path, safe=""), f"a={self._session()}; Path=/")

    def never(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Redirects to itself for ever, with another cookie each time."""
        if path.startswith("/p") or path == "/":
            return redirect(path, f"n={self._session()}; Path=/")
        return page(path, self.order)

    def mixed(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Has a front page, and redirects without end behind it."""
        if path == "/":
            return page(path, self.order)
        return redirect(path, f"n={self._session()}; Path=/")

    def flood(self, method: str, path: str, body: str, cookies: Cookies) -> Answered:
        """Sets hundreds of cookies, long ones, and for others; one of the first opens it."""
        if cookies.get("c7") == "1":
            return self.behind(path)
        many = [f"c{n}=1; Path=/" for n in range(300)]
        others = ["x=1; Domain=example", "y=2; Domain=other.example", f"z={'z' * 9_000}; Path=/"]
        return redirect(path, *others, *many)
