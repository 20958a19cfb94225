"""Pages and links of the demo web, before they are written down as HTML."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING

from lswc.lab.demo.hosts import Host, read_table
from lswc.lab.demo.vocabulary import VOCABULARIES

if TYPE_CHECKING:
    from collections.abc import Iterator

NO_LANGUAGE = "zxx"  # ISO 639-2: no linguistic content
SECTIONS = "news travel culture people articles archive library photos food music sport history"
USERS = "somchai malee alan kenji anong mary thida"
LISTED = 12  # pages that a section's index names; the rest hang on each other's "next"

# Of 100 links from a page's language to other hosts, how many go to which.
AFFINITY = {
    "th": {"th": 60, "en": 29, "ja": 6, "my": 5},
    "en": {"en": 80, "ja": 9, "th": 7, "my": 4},
    "ja": {"ja": 80, "en": 13, "th": 5, "my": 2},
    "my": {"my": 65, "en": 22, "th": 10, "ja": 3},
}
SEEDS = {
    "th": "www.siamsabai-portal.com/ www.thaiweblink-demo.co.th/ www.krungdaily-demo.net/ "
    "www.asialibrary-demo.org/th/",
    "en": "www.webdirectory-demo.com/ www.worldportal-demo.net/ www.asiaguide-demo.org/",
    "ja": "www.nihonportal-demo.co.jp/ www.kyotoguide-demo.jp/ www.asialibrary-demo.org/ja/",
    "my": "www.myanmarweb-demo.com/ www.baganinfo-demo.com.mm/ www.asialibrary-demo.org/my/",
}
# What the Thai portals name first on their front pages: the big and irrelevant.
GREAT = "www.encyclomedia-demo.com www.sportsdaily-demo.com www.softdocs-demo.org "
GREAT += "www.nihonportal-demo.co.jp www.newsworld-demo.com www.kyotoguide-demo.jp"
UNLINKED = {"index": 10, "sitemap": 10, "rss": 6, "atom": 6}
"""How many pages are only in each of a host's listings, by the feature that says it has it."""

DOCUMENT, SHELL = "/guide.pdf", "/app.html"
DEAD_HOSTS = (
    "www.gone-demo.com www.closed-down-demo.co.th old.vanished-demo.net www.nowhere-demo.jp"
)
MOVED_HOSTS = {
    "www.oldsiam-demo.com": "www.siamsabai-portal.com",
    "library-old-demo.org": "www.asialibrary-demo.org",
}


@dataclass(eq=False)
class DemoPage:
    """A page; ``kind`` is text, image, frames, refresh, shell, empty or binary.

    ``otherwise`` is the page that is served under the same URL to who doesn't ask for the language.
    """

    host: Host
    path: str
    language: str
    title: str
    kind: str = "text"
    links: list[DemoLink] = field(default_factory=list)
    otherwise: DemoPage | None = None

    @property
    def url(self) -> str:
        """Its address, by http."""
        return f"http://{self.host.name}{self.path}"

    @property
    def excluded(self) -> bool:
        """Whether the host's robots.txt forbids the page."""
        features = self.host.features
        return "closed" in features or ("private" in features and self.path.startswith("/archive/"))


@dataclass(frozen=True)
class DemoLink:
    """A link; ``target`` is where a browser ends up, None if nowhere."""

    href: str
    text: str
    target: DemoPage | None = None
    nofollow: bool = False


@dataclass
class DemoSite:
    """A host's pages: its front page, its sections (index first), whatever else it has.

    ``unlinked`` are those that only a listing names, by the feature that says which.
    """

    host: Host
    front: DemoPage
    sections: list[list[DemoPage]]
    others: list[DemoPage] = field(default_factory=list)
    redirects: dict[str, tuple[int, str]] = field(default_factory=dict)
    unlinked: dict[str, list[DemoPage]] = field(default_factory=dict)

    @property
    def pages(self) -> list[DemoPage]:
        """The pages that links lead to, or might."""
        return [self.front, *(page for section in self.sections for page in section), *self.others]


class DemoWeb:
    """The demo web's sites and links, the same for the same seed.

    ``random`` is the source of all chance in them, and of what is left to chance in the HTML.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        hosts = read_table()
        self.sites = {h.name: self._site(h) for h in hosts if "negotiates" not in h.features}
        open_sites = [s for s in self.sites.values() if "island" not in s.host.features]
        self._pool: dict[str, list[DemoPage]] = {name: [] for name in VOCABULARIES}
        self._fronts: dict[str, list[DemoPage]] = {name: [] for name in VOCABULARIES}
        for site in open_sites:
            for page in site.pages:
                self._pool[page.language].append(page)
            for page in [site.front, *(section[0] for section in site.sections[:2])]:
                self._fronts[page.language].append(page)
        for site in self.sites.values():
            self._link_inside(site)
            self._link_across(site)
        self._introduce(open_sites)
        self._tunnels()
        self._oddities()
        for site in self.sites.values():
            self._dress_front(site)
        state = self.random.getstate()
        for host in hosts:
            if "negotiates" in host.features:
                self._negotiate(host)
        for site in self.sites.values():
            self._leave_unlinked(site)
            self._show_otherwise(site)
        self.random.setstate(state)  # the others are as they would be without

    @property
    def pages(self) -> Iterator[DemoPage]:
        """All HTML pages, host by host; then those that only a listing names."""
        for site in self.sites.values():
            yield from site.pages
        yield from self.listed

    @property
    def listed(self) -> dict[DemoPage, str]:
        """The pages that no link leads to, and in which listing each is."""
        return {
            page: kind
            for site in self.sites.values()
            for kind, pages in site.unlinked.items()
            for page in pages
        }

    def distances(self, language: str) -> dict[DemoPage, int]:
        """Count the links from the language's seeds to each page that can be reached."""
        by_url = {page.url: page for page in self.pages}
        level = [by_url[f"http://{seed}"] for seed in SEEDS[language].split()]
        distance_of = dict.fromkeys(level, 0)
        while level:
            targets = [
                link.target
                for page in level
                for link in page.links
                if link.target and not link.nofollow and not link.target.excluded
            ]
            distance = distance_of[level[0]] + 1
            level = [page for page in dict.fromkeys(targets) if page not in distance_of]
            distance_of.update(dict.fromkeys(level, distance))
        return distance_of

    # A host's own pages

    def _site(self, host: Host) -> DemoSite:
        language = host.languages[0]
        front = self._page(host, "/", "en" if "english" in host.features else language)
        return DemoSite(host, front, [self._section(host, *part) for part in self._parts(host)])

    def _parts(self, host: Host) -> list[tuple[int, str, str, int]]:
        """Return (number, directory, language, pages) of each section."""
        names = SECTIONS.split()
        languages: tuple[str, ...] = host.languages
        if "users" in host.features:
            names = [f"~{user}" for user in USERS.split()]
        elif len(languages) > 1:
            names = list(languages)
        else:
            languages *= min(len(names), max(1, round(host.pages**0.5 / 1.5)))
            if "private" in host.features and len(languages) > 1:
                names[1] = "archive"
        count, more = divmod(host.pages - 1, len(languages))
        return [
            (number, names[number], language, count + (number < more))
            for number, language in enumerate(languages)
        ]

    def _section(
        self, host: Host, number: int, name: str, language: str, count: int
    ) -> list[DemoPage]:
        if "query" in host.features:
            paths = [f"/view.php?cat={number}&id={page}" for page in range(1, count)]
            paths.insert(0, f"/list.php?cat={number}")
        else:
            paths = [f"/{name}/", *(f"/{name}/{page}.html" for page in range(1, count))]
        return [self._page(host, path, language) for path in paths[:count]]

    def _page(self, host: Host, path: str, language: str) -> DemoPage:
        site = host.name.split(".")[1].partition("-")[0].capitalize()
        topic = VOCABULARIES[language].pick("topic", self.random)
        return DemoPage(host, path, language, f"{topic} - {site}")

    def _link_inside(self, site: DemoSite) -> None:
        for section in site.sections:
            if not section:
                continue
            index = section[0]
            self._link(site.front, index)
            self._link(index, site.front, VOCABULARIES[index.language].home)
            for page in section[1 : LISTED + 1]:
                self._link(index, page)
            for page, following in pairwise(section):
                self._link(page, following, VOCABULARIES[page.language].next)
                self._link(following, page, VOCABULARIES[following.language].previous)
            for page in section[1:]:
                self._link(page, index)
                self._link(page, self.random.choice(section))
                self._link(page, self.random.choice(site.pages))

    def _negotiate(self, host: Host) -> None:
        """Add a host with each page in two languages, at the end of what the seeds link to."""
        english, asked = host.languages
        site = self.sites[host.name] = self._site(host._replace(languages=(asked,)))
        self._link_inside(site)
        for page in site.pages:
            page.otherwise = self._page(host, page.path, english)
            page.otherwise.links = [
                replace(link, text=VOCABULARIES[english].pick("links", self.random))
                for link in page.links
            ]
        for seed in ("www.thaiweblink-demo.co.th", "www.webdirectory-demo.com"):
            self._link(self.sites[seed].front, site.front)

    def _leave_unlinked(self, site: DemoSite) -> None:
        """Add the pages that nobody links to, to each listing that the host has."""
        host = site.host
        for kind in sorted(UNLINKED.keys() & host.features):
            pages = [
                self._page(host, f"/{kind}/{number}.html", host.languages[0])
                for number in range(UNLINKED[kind])
            ]
            for page in pages:
                self._link(page, site.front, VOCABULARIES[page.language].home)
            site.unlinked[kind] = pages

    def _show_otherwise(self, site: DemoSite) -> None:
        """Link to what isn't HTML, and to what is none before a script has run."""
        host, text = site.host, VOCABULARIES[site.host.languages[0]]
        if "document" in host.features:
            site.front.links.append(DemoLink(DOCUMENT, text.pick("links", self.random)))
        if "shell" in host.features:
            shell = DemoPage(host, SHELL, NO_LANGUAGE, "", "shell")
            site.others.append(shell)
            self._link(site.front, shell, text.pick("links", self.random))

    # Links between hosts

    def _link_across(self, site: DemoSite) -> None:
        hub = "hub" in site.host.features
        indexes = [site.front, *(section[0] for section in site.sections if section)]
        for page in site.pages:
            count = self.random.choice((0, 0, 0, 1, 1, 2))
            if hub:
                count = 9 if page in indexes else count + 1
            for _ in range(count):
                target = self._elsewhere(page)
                self._link(page, target, nofollow=self.random.random() < 0.03)

    def _elsewhere(self, page: DemoPage) -> DemoPage:
        shares = AFFINITY[page.language]
        (language,) = self.random.choices(list(shares), list(shares.values()))
        pool = self._fronts if self.random.random() < 0.75 else self._pool
        target = self.random.choice(pool[language])
        return target if target.host != page.host else self._elsewhere(page)

    def _introduce(self, sites: list[DemoSite]) -> None:
        """See to it that hubs name every host that isn't an island, and the great ones first."""
        hubs = [site for site in sites if "hub" in site.host.features]
        for site in sites:
            near = [hub for hub in hubs if hub.host.languages[0] == site.host.languages[0]]
            for hub in (self.random.choice(near), self.random.choice(hubs)):
                if hub is not site:
                    self._link(self.random.choice(hub.sections)[0], site.front)
        for hub in hubs:
            if hub.host.languages == ("th",):
                for name in reversed(GREAT.split()):
                    self._link(hub.front, self.sites[name].front, first=True)

    def _tunnels(self) -> None:
        """Hide each island behind 1 to 4 foreign pages in a row, on as many hosts or on one."""
        islands = [site for site in self.sites.values() if "island" in site.host.features]
        entrances = [page for page in self._pool["th"] if "hub" in page.host.features]
        foreign = [
            site
            for site in self.sites.values()
            if site.host.languages in {("en",), ("ja",)}
            and not site.host.features & {"closed", "private", "slow", "calendar", "base"}
        ]
        for number, island in enumerate(islands):
            length = number % 4 + 1
            sites = self.random.sample(foreign, length)
            if number >= 4:
                sites = sites[:1] * length
            page = self.random.choice(entrances)
            for step, site in enumerate(sites):
                following = self._page(
                    site.host, f"/column/{number}-{step}.html", site.host.languages[0]
                )
                site.others.append(following)
                self._link(following, site.front, VOCABULARIES[following.language].home)
                self._link(page, following)
                page = following
            self._link(page, island.front)

    def _link(
        self,
        page: DemoPage,
        target: DemoPage,
        text: str = "",
        *,
        nofollow: bool = False,
        first: bool = False,
    ) -> None:
        own = VOCABULARIES[page.language].pick("links", self.random)
        text = text or (target.title if self.random.random() < 0.7 else own)
        link = DemoLink(self._href(page, target), text, target, nofollow)
        page.links.insert(0 if first else len(page.links), link)

    def _href(self, page: DemoPage, target: DemoPage) -> str:
        """Write a link to the target as absolute, by its path, or relative."""
        if page.host != target.host:
            return target.url
        folder, name = target.path.rpartition("/")[::2]
        if "base" in page.host.features:
            return target.path[1:] or target.url
        form = self.random.random()
        if form < 0.35 and name and folder == page.path.rpartition("/")[0]:
            return name
        if form < 0.1 and folder and not name:
            return folder  # the server redirects it to the folder
        return target.url if form > 0.8 else target.path

    # What is odd on the web

    def _oddities(self) -> None:
        self._redirects()
        self._dead_links()
        for site in self.sites.values():
            if "calendar" in site.host.features:
                site.front.links.append(DemoLink("/calendar/2026/11/", "2026"))
        odd = self.sites["www.oldrailways-demo.com"]
        for kind in ("empty", "binary"):
            page = DemoPage(odd.host, f"/{kind}.html", NO_LANGUAGE, kind, kind)
            odd.others.append(page)
            odd.front.links.append(DemoLink(page.path, kind, page))

    def _redirects(self) -> None:
        pages = [page for page in self.pages if page.links]
        for number, page in enumerate(self.random.sample(pages, 60)):
            site = self.sites[page.host.name]
            near = self.random.choice([site.front, *site.sections[0]])
            target = self._elsewhere(page) if number % 3 == 0 else near
            path = f"/moved/{number}.html"
            site.redirects[path] = (self.random.choice((301, 302, 307)), target.url)
            page.links.append(DemoLink(f"http://{page.host.name}{path}", target.title, target))
        for old, new in MOVED_HOSTS.items():
            target = self.sites[new].front
            for page in self.random.sample(pages, 3):
                page.links.append(DemoLink(f"http://{old}/", target.title, target))
        loop = self.sites["www.worldportal-demo.net"]
        loop.redirects |= {"/loop/a": (302, "/loop/b"), "/loop/b": (302, "/loop/a")}
        loop.front.links.append(DemoLink("/loop/a", "round and round"))

    def _dead_links(self) -> None:
        dead = DEAD_HOSTS.split()
        pages = [page for page in self.pages if page.links]
        for number, page in enumerate(self.random.sample(pages, 100)):
            text = VOCABULARIES[page.language].pick("links", self.random)
            host = page.host.name if number % 10 else dead[number // 10 % len(dead)]
            page.links.append(DemoLink(f"http://{host}/missing/{number}.html", text))

    def _dress_front(self, site: DemoSite) -> None:
        """Make the front page a frameset, an image map or a page that refreshes to another."""
        front, features = site.front, site.host.features
        kind = next((kind for kind in ("frames", "image", "refresh") if kind in features), "text")
        if kind == "text":
            return
        names = {"frames": ("menu", "main"), "refresh": ("home",), "image": ()}[kind]
        pages = [self._page(site.host, f"/{name}.html", front.language) for name in names]
        if pages:
            pages[-1].links = front.links
            front.links = [DemoLink(page.path, page.title, page) for page in pages]
            site.others += pages
        if kind == "frames":
            pages[0].links = [
                DemoLink(link.href, link.text, link.target) for link in pages[1].links[:5]
            ]
        front.kind = kind
        if kind != "refresh":
            front.language, front.title = NO_LANGUAGE, ""
