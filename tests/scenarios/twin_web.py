"""Sites that have two names, canonical URLs that are right or wrong, and sessions in links."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from typing_extensions import override

from tests.scenarios.host_web import HostWeb
from tests.scenarios.site import THAI, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.scenarios.host_web import Answered, Asked

PAGES = 40
"""Pages of a site, besides its front page."""


def page(seed: str, links: Iterable[str], head: str = "") -> Answered:
    """Return a page whose text no other seed's has."""
    listed = "".join(f"<li><a href='{link}'>x</a>" for link in links)
    html = (
        f"<html lang=th><head>{head}<title>{seed}</title></head><p>{THAI}{words(seed)}<ul>{listed}"
    )
    return 200, html, []


def number_of(path: str) -> int | None:
    name = path.removeprefix("/p")
    return int(name) if name.isdecimal() and int(name) < PAGES else None


class TwinWeb(HostWeb):
    """The hosts of this web, each with and without www."""

    @override
    def answer(self, asked: Asked) -> Answered:
        kind = asked.host.removeprefix("www.").partition(".")[0]
        found: Callable[[str, str, str], Answered] = getattr(self, kind)
        return found(asked.host, asked.path, asked.query)

    def _both(self, names: tuple[str, str], site: str, path: str, *more: str) -> Answered:
        links = [f"http://{name}/p{n}" for n in range(PAGES) for name in names]
        found = number_of(path)
        if path != "/" and found is None:
            return 404, "", []
        return page(f"{site}{path}", [*links, *more])

    def pair(self, host: str, path: str, query: str) -> Answered:
        """One site with and without www."""
        return self._both(("pair.example", "www.pair.example"), "pair", path)

    def main(self, host: str, path: str, query: str) -> Answered:
        """A site that has a mirror under another name, which has a page more."""
        names = ("main.example", "mirror.example")
        return self._both(names, "main", path, "http://mirror.example/only")

    def mirror(self, host: str, path: str, query: str) -> Answered:
        if path == "/only":
            return page("only", [])
        return self.main(host, path, query)

    def moved(self, host: str, path: str, query: str) -> Answered:
        """A site whose bare name redirects to www, and whose pages link to the bare one."""
        if not host.startswith("www."):
            return 301, "", [("Location", f"http://www.moved.example{path}")]
        return self._both(("moved.example", "www.moved.example"), "moved", path)

    def parting(self, host: str, path: str, query: str) -> Answered:
        """Two names whose first pages are alike, and the others aren't."""
        names = ("parting.example", "www.parting.example")
        is_alike = path == "/" or (number_of(path) or 99) < 4
        return self._both(names, "parting" if is_alike else host, path)

    def canonical(self, host: str, path: str, query: str) -> Answered:
        """Pages with a parameter that changes nothing, as their canonical URL says."""
        links = [f"/p{n}{how}" for n in range(PAGES) for how in ("?view=list", "")]
        head = f"<link rel=canonical href='{path}'>"
        return page(f"canonical{path}", links, head)

    def wrong(self, host: str, path: str, query: str) -> Answered:
        """Pages that all say that the front page is their canonical URL."""
        head = "<link rel=canonical href='http://wrong.example/'>"
        return page(f"wrong{path}", [f"/p{n}" for n in range(PAGES)], head)

    def session(self, host: str, path: str, query: str) -> Answered:
        """Links with a session that is another one on each page, under a name nobody knows."""
        visits = self.asked.total()
        token = f"a{visits:06d}9z{visits * 7919:08d}"
        links = [f"/p{n}?zkid={token}&x=1" for n in range(PAGES)]
        return page(f"session{path}", links)

    def query(self, host: str, path: str, query: str) -> Answered:
        """Pages that are told apart by a parameter with long values."""
        number = (parse_qs(urlsplit(f"?{query}").query).get("id") or ["front"])[0]
        return page(f"query{number}", [f"/show?id=article{n:08d}x" for n in range(PAGES)])
