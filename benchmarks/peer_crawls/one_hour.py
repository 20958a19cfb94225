"""The spider that one writes in an hour: a language's pages first, by what one thinks of at once.

A link that names the language comes before one that names nothing, that before one that names
another; then links of relevant pages. ``-a by=``: names, nothing more; host, the share of relevant
pages of the target's host so far; folder, that of its folder; reranked, the same, but asked when a
connection is free, and not when the link is found.
"""

from collections import Counter, defaultdict, deque
from pathlib import Path
from re import split
from urllib.parse import urlsplit

import py3langid
import scrapy

CODES = set(
    "ar az be bg bn bs ca cs da de el en es et eu fa fi fr gl he hi hr hu hy id is it ja ka kk km"
    " ko lo lt lv mk mn ms my nb nl no pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh"
).union(("english", "german", "french", "spanish", "italian", "russian", "us", "cn", "tw", "jp"))
LINKS = ("//a/@href", "//area/@href", "//frame/@src", "//iframe/@src")
AT_ONCE = 32


class OneHour(scrapy.Spider):
    """Keeps the URL and the text of each page in the language."""

    name = "one_hour"

    def __init__(self, seeds, lang, words, by="names", **kwargs):
        super().__init__(start_urls=Path(seeds).read_text().split(), **kwargs)
        self.lang, self.words, self.by = lang, set(words.split(",")), by
        self.pages, self.hits = Counter(), Counter()
        self.known, self.waiting = set(), defaultdict(deque)
        self.running = Counter()

    async def start(self):
        """Ask for the seeds."""
        self.known.update(self.start_urls)
        if self.by == "reranked":
            for url in self.start_urls:
                self.waiting[1000, self.folder(url)].append(url)
            for request in self.best():
                yield request
            return
        for url in self.start_urls:
            yield scrapy.Request(url, priority=1000)

    def folder(self, url):
        """Return the host and folder of a URL."""
        parts = urlsplit(url)
        return parts.netloc, parts.path.rpartition("/")[0]

    def share(self, place):
        """Return the share of relevant pages of a host and folder so far."""
        host, _ = place
        of_host = (self.hits[host] + 1) / (self.pages[host] + 2)
        if self.by == "host":
            return of_host
        return (self.hits[place] + 2 * of_host) / (self.pages[place] + 2)

    def merit(self, url, tag, wanted):
        """Return what a link is worth by its names and its page."""
        words = set(split(r"[\W_]+", (tag or url.partition("//")[2]).lower()))
        named = 100 if words & self.words else -100 if words & CODES else 0
        return named + 30 * wanted

    def parse(self, response):
        """Keep a page, and follow its links."""
        yield from self.read(response)
        if self.by == "reranked":
            self.running[response.meta["host"]] -= 1
            yield from self.best()

    def failed(self, failure):
        """Go on without a page that didn't come."""
        self.running[failure.request.meta["host"]] -= 1
        yield from self.best()

    def read(self, response):
        """Yield a page, if it is relevant, and the requests for its links."""
        if not isinstance(response, scrapy.http.TextResponse) or not response.xpath("//body"):
            return
        words = response.xpath("//body//text()[not(parent::script or parent::style)]").getall()
        text = " ".join(" ".join(words).split())
        wanted = py3langid.classify(text[:5000])[0] == self.lang
        host, _ = place = self.folder(response.url)
        self.pages.update((host, place))
        self.hits.update((host, place) if wanted else ())
        if wanted:
            yield {"url": response.url, "text": text}
        tagged = [
            (link.attrib["href"], link.attrib["hreflang"])
            for link in response.css("[hreflang]")
            if "href" in link.attrib
        ]
        plain = [(link, "") for path in LINKS for link in response.xpath(path).getall()]
        for link, tag in tagged + plain:
            url = response.urljoin(link.strip()).partition("#")[0]
            if url in self.known or not url.startswith("http"):
                continue
            self.known.add(url)
            merit = self.merit(url, tag, wanted)
            if self.by == "reranked":
                self.waiting[merit, self.folder(url)].append(url)
                continue
            rated = 0 if self.by == "names" else int(100 * self.share(self.folder(url)))
            yield scrapy.Request(url, priority=merit + rated)

    def best(self):
        """Yield requests for the best of what waits, one a host, while there is room."""
        ranked = sorted(self.waiting, key=lambda key: -key[0] - 100 * self.share(key[1]))
        for key in ranked:
            host = key[1][0]
            if self.running.total() >= AT_ONCE:
                return
            if self.running[host]:
                continue
            url = self.waiting[key].popleft()
            if not self.waiting[key]:
                del self.waiting[key]
            self.running[host] += 1
            meta = {"host": host}  # a redirect keeps it
            yield scrapy.Request(url, errback=self.failed, dont_filter=True, meta=meta)
