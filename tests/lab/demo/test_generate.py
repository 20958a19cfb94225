"""The demo web: what it is made of, and that its truth is what a browser would find."""

from __future__ import annotations

import filecmp
import gzip
import http.client
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from parsel import Selector
from protego import Protego
from scrapy.utils.sitemap import Sitemap, sitemap_urls_from_robots

from lswc.crawl.web import TruthPage, WebError, prepare, truth
from lswc.lab.demo.generate import MARKER
from lswc.lab.demo.hosts import read_table
from lswc.lab.demo.hypertext import DOCUMENT, DemoWeb
from lswc.lab.demo.vocabulary import VOCABULARIES, zawgyi
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    Serve = Callable[[Path], AbstractContextManager[int]]

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crawls = tmp_path_factory.mktemp("crawls")
    (crawls / "demo-web").mkdir()
    (crawls / "demo-web" / "half").write_text("of an older one")
    folder = prepare("demo", crawls)
    assert folder == crawls / "demo-web"
    return folder


@pytest.fixture(scope="module")
def pages(demo: Path) -> dict[str, TruthPage]:
    found = truth(demo)
    assert found is not None
    return found


def files(folder: Path) -> list[Path]:
    return sorted(file.relative_to(folder) for file in folder.rglob("*"))


def test_the_same_seed_gives_the_same_web(demo: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    # Another process, so that no chance of hashing can hide.
    code = "import sys; from pathlib import Path; from lswc.lab.demo.generate import generate\n"
    code += "generate(Path(sys.argv[1]))"
    again.mkdir()
    subprocess.run([sys.executable, "-W", "error", "-c", code, again], cwd=ROOT, check=True)
    names = [str(name) for name in files(again) if (again / name).is_file()]
    assert files(again) == [name for name in files(demo) if str(name) != MARKER]
    _, different, errors = filecmp.cmpfiles(demo, again, names, shallow=False)
    assert (different, errors) == ([], [])
    first, other = ([page.title for page in DemoWeb(seed).pages] for seed in (1, 2))
    assert first != other


def test_it_is_made_once_and_made_again_when_it_is_not_whole(demo: Path) -> None:
    assert not (demo / "half").exists()
    before = demo.stat().st_ino
    assert prepare("demo", demo.parent) == demo
    assert demo.stat().st_ino == before
    assert list(demo.parent.iterdir()) == [demo]


def test_two_that_begin_at_once_make_one(tmp_path: Path) -> None:
    """The first one's folder is never replaced by the second's."""
    code = "import sys; from pathlib import Path; from lswc.lab.demo.generate import prepare\n"
    code += "print(prepare(Path(sys.argv[1])).stat().st_ino)"
    command = [sys.executable, "-c", code, str(tmp_path / "demo-web")]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert said[0]
    assert said[0] == said[1]


def test_no_setting_is_the_real_web(tmp_path: Path) -> None:
    assert prepare("", tmp_path) is None
    assert not list(tmp_path.iterdir())


def test_a_folder_without_hosts_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("not a web")
    for name in (tmp_path, tmp_path / "none"):
        with pytest.raises(WebError, match="LSWC_WEB: "):
            prepare(str(name), tmp_path)


def test_truth_is_known_only_where_it_is_told(tmp_path: Path) -> None:
    assert truth(tmp_path) is None


def test_its_size_and_languages(pages: dict[str, TruthPage]) -> None:
    languages = Counter(page.language for page in pages.values())
    sizes = sorted(Counter(page.server for page in pages.values()).values())
    assert len(sizes) >= 60
    assert len(pages) >= 3000
    assert 0.3 <= languages["th"] / len(pages) <= 0.4
    assert all(languages[name] >= 200 for name in VOCABULARIES)
    assert sizes[0] == 2
    assert sizes[-1] >= 10 * sizes[len(sizes) // 2]


def test_thai_hosts_lie_under_many_domains(pages: dict[str, TruthPage]) -> None:
    thai = {page.server for page in pages.values() if page.language == "th"}
    domains = Counter(name.rpartition(".")[2] for name in thai)
    assert min(domains["com"], domains["net"], domains["th"]) >= 5


def test_every_encoding_and_lie_is_there(demo: Path, pages: dict[str, TruthPage]) -> None:
    thai = {page.encoding for page in pages.values() if page.language == "th"}
    assert thai == {"tis-620", "windows-874", "utf-8", "numeric"}
    burmese = {page.encoding for page in pages.values() if page.language == "my"}
    assert burmese == {"utf-8", "zawgyi", "numeric"}
    hosts = read_table()
    lies = [host for host in hosts if host.languages == ("th",) and host.declares != host.encoding]
    assert len(lies) >= 4
    english = [host for host in hosts if host.languages == ("en",) and host.declares]
    assert sum(str(host.declares) in ("tis-620", "windows-874") for host in english) >= 3
    file = demo / "www.phukethotels-demo.com" / "index.html"
    assert b"charset=windows-874" in file.read_bytes()


class Visit(NamedTuple):
    """A page as the browser found it, so many links from the seeds."""

    distance: int
    body: bytes
    links: list[str]


class Browser:
    """Walks the web over HTTP as the truth is defined: links and redirects, robots.txt obeyed."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._robots: dict[str, Protego] = {}

    def get(self, url: str) -> tuple[int, str, bytes]:
        """Return status, Location and body, following nothing."""
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        headers = {"Host": parts.netloc, "Accept-Language": "th, *;q=0.5"}
        self._connection.request("GET", target, headers=headers)
        response = self._connection.getresponse()
        return response.status, response.headers["Location"] or "", response.read()

    def allowed(self, url: str) -> bool:
        host = urlsplit(url).netloc
        if host not in self._robots:
            status, _, body = self.get(f"http://{host}/robots.txt")
            self._robots[host] = Protego.parse(body.decode() if status == 200 else "")
        return bool(self._robots[host].can_fetch(url, "lswc"))

    def fetch(self, url: str) -> tuple[str, int, bytes]:
        """Return where the redirects end, status and body."""
        status = 404
        for _ in range(5):
            if not self.allowed(url):
                return url, 403, b""
            status, location, body = self.get(url)
            if not location:
                return url, status, body
            url = urljoin(url, location)
        return url, status, b""


def links(url: str, body: bytes) -> Iterator[str]:
    # Only in ISO-2022-JP may bytes of text look like tags.
    page = Selector(body.decode("iso-2022-jp" if b"\x1b$" in body else "latin-1") or "<p>")
    base = urljoin(url, page.css("base").attrib.get("href", ""))
    refresh = [content.partition("url=")[2] for content in page.xpath(REFRESH).getall()]
    for href in [*page.xpath(FOLLOWED).getall(), *page.css("frame::attr(src)").getall(), *refresh]:
        target = parse(urljoin(base, href))
        assert target is not None
        yield target.href


FOLLOWED = "//a[not(contains(@rel, 'nofollow'))]/@href"
REFRESH = "//meta[@http-equiv='refresh' or @HTTP-EQUIV='refresh']/@content"
MARKUP = re.compile(r"<a .*?</a>|<style.*?</style>|<[^>]*>", re.IGNORECASE | re.DOTALL)
NO_TEXT = re.compile(rb"<noscript>[^<]*|<[^>]*>|\s")
SCRIPTS = {"th": "THAI", "my": "MYANMAR", "en": "LATIN"}


def language(text: str) -> str | None:
    """Tell the language by most of the running text's letters."""
    names = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text)
    if names["HIRAGANA"] > 0.2 * names.total():
        return "ja"
    best = max(("th", "my", "en"), key=lambda name: names[SCRIPTS[name]])
    return best if names[SCRIPTS[best]] > 0.5 * names.total() else None


@pytest.fixture(scope="module")
def walked(serve: Serve, demo: Path) -> dict[str, Visit]:
    """Every page that can be reached from the Thai seeds: distance and body."""
    seeds = (demo / "seeds-th.txt").read_text().split()
    with serve(demo) as port, closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        return walk(Browser(connection), seeds)


def walk(browser: Browser, level: list[str]) -> dict[str, Visit]:
    asked, pages, distance = set(level), dict[str, Visit](), 0
    while level:
        following = []
        for url in level:
            if urlsplit(url).path.startswith("/calendar/") or url.endswith(DOCUMENT):
                continue
            end, status, body = browser.fetch(url)
            if status == 200 and end not in pages:
                pages[end] = Visit(distance, body, list(links(end, body)))
                new = [link for link in pages[end].links if link not in asked]
                following += new
                asked.update(new)
        level, distance = list(dict.fromkeys(following)), distance + 1
    return pages


def test_the_truth_is_what_a_browser_finds(
    walked: dict[str, Visit], pages: dict[str, TruthPage]
) -> None:
    expected = {url: p.reachable["th"] for url, p in pages.items() if "th" in p.reachable}
    assert {url: visit.distance for url, visit in walked.items()} == expected
    assert len(expected) > 0.95 * len(pages)


def test_each_page_is_in_the_language_that_the_truth_says(
    walked: dict[str, Visit], pages: dict[str, TruthPage]
) -> None:
    for url, (_, body, _) in walked.items():
        page = pages[url]
        codec = {"numeric": "ascii", "zawgyi": "utf-8", "windows-874": "cp874"}
        if page.language == "zxx":
            assert not NO_TEXT.sub(b"", body) or b"\0" in body
            continue
        text = body.decode(codec.get(page.encoding, page.encoding))
        assert language(unescape(MARKUP.sub(" ", text))[:600]) == page.language, url


def named(browser: Browser, url: str) -> Iterator[str]:
    """Yield the pages that a sitemap or feed names, and those of an index, as Scrapy reads them."""
    _, _, body = browser.get(url)
    body = gzip.decompress(body) if url.endswith(".gz") else body
    if b"<urlset" in body or b"<sitemapindex" in body:
        for found in Sitemap(body):
            assert urlsplit(found["loc"]).netloc == urlsplit(url).netloc
            yield from named(browser, found["loc"]) if b"<sitemapindex" in body else [found["loc"]]
    else:
        feed = Selector(body.decode(), type="xml")
        feed.remove_namespaces()
        yield from feed.xpath("//item/link/text() | //entry/link/@href").getall()


def test_some_pages_are_only_in_the_listings_of_their_hosts(
    demo: Path, serve: Serve, walked: dict[str, Visit], pages: dict[str, TruthPage]
) -> None:
    listed = {url: page.listed for url, page in pages.items() if page.listed}
    assert Counter(listed.values()).keys() == {"sitemap", "index", "rss", "atom"}
    assert sum(pages[url].language == "th" for url in listed) > 50
    assert not listed.keys() & walked.keys()
    found = dict[str, str]()
    with serve(demo) as port, closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        browser = Browser(connection)
        for host in {pages[url].server for url in listed}:
            _, _, robots = browser.get(f"http://{host}/robots.txt")
            said = list(sitemap_urls_from_robots(robots))
            for url in said or [f"http://{host}/sitemap.xml"]:
                found |= dict.fromkeys(named(browser, url), "index" if said else "sitemap")
            _, _, body = browser.get(f"http://{host}/")
            for feed in Selector(body.decode("latin-1")).xpath("//link[@rel='alternate']"):
                kind = feed.attrib["type"].removeprefix("application/").removesuffix("+xml")
                for page in named(browser, urljoin(f"http://{host}/", feed.attrib["href"])):
                    found.setdefault(page, kind)
    assert {url: kind for url, kind in found.items() if url in listed} == listed
    assert found.keys() <= pages.keys()


def test_a_document_and_an_app_that_a_script_writes(demo: Path) -> None:
    (host,) = (host.name for host in read_table() if "document" in host.features)
    document = (demo / host / DOCUMENT[1:]).read_bytes()
    table = int(document.rsplit(b"startxref\n")[1].split()[0])
    assert document[table:].startswith(b"xref\n")
    offsets = [int(line[:10]) for line in document[table:].splitlines() if line.endswith(b" n ")]
    starts = [document[offset:].split(b" obj")[0] for offset in offsets]
    assert starts == [b"%d 0" % number for number in range(1, len(starts) + 1)]
    assert language((demo / host / "app.js").read_text()) == "th"


def test_islands_lie_behind_one_to_four_foreign_pages(
    walked: dict[str, Visit], pages: dict[str, TruthPage]
) -> None:
    thai = [url for url in walked if pages[url].language == "th" and "-island-" not in url]
    rows = dict.fromkeys(thai, 0)  # pages in a row, up to this one, that aren't Thai
    tunnels: dict[str, int] = {}
    queue = list(rows)
    for url in queue:
        for link in walked[url].links:
            if "-island-" in link:
                tunnels.setdefault(urlsplit(link).netloc, rows[url])
            elif link in walked and link not in rows:
                rows[link] = rows[url] + 1
                queue.append(link)
    assert sorted(tunnels.values()) == [1, 1, 2, 2, 3, 3, 4, 4]


def test_a_host_speaks_english_to_who_does_not_ask_for_thai(demo: Path, serve: Serve) -> None:
    host = "www.twotongues-demo.org"
    found = {}
    with serve(demo) as port, closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        for accepted in ("th, *;q=0.5", "ja, *;q=0.5", "en"):
            connection.request("GET", "/", headers={"Host": host, "Accept-Language": accepted})
            response = connection.getresponse()
            text = MARKUP.sub(" ", response.read().decode())
            found[accepted] = (language(text[:600]), response.headers["Content-Language"])
            assert response.headers["Vary"] == "Accept-Language"
    assert found == {
        "th, *;q=0.5": ("th", "th"), "ja, *;q=0.5": ("en", "en"), "en": ("en", "en"),
    }  # fmt: skip


def test_what_leads_nowhere(demo: Path, walked: dict[str, Visit]) -> None:
    hosts = {child.name for child in demo.iterdir() if child.is_dir()}
    found = {link for visit in walked.values() for link in visit.links}
    assert len({urlsplit(link).netloc for link in found} - hosts) >= 3
    assert sum("/missing/" in link for link in found) >= 50
    assert sum("/moved/" in link for link in found) >= 50
    assert sum(urlsplit(link).path.startswith("/calendar/") for link in found) == 2
    rules = json.loads((demo / "web.json").read_text())
    assert any(host.get("delay", 0) > 0 for host in rules.values())


def test_zawgyi_is_the_order_in_which_its_font_shows_letters() -> None:
    assert zawgyi("ကျေး") == "\u1031\u1000\u103a\u1038"
    assert zawgyi("မြန်မာ") == "\u103b\u1019\u1014\u1039\u1019\u102c"
    assert zawgyi("သင်္ကြန်") == "\u101e\u103b\u1000\u1064\u1014\u1039"
    assert zawgyi("plain ไทย") == "plain ไทย"
    assert "\u1031" in zawgyi("".join(VOCABULARIES["my"].parts["does"]))
