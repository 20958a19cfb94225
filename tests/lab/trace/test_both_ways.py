"""The trace of a crawl is the trace of the frozen web that it crawled."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from lswc.lab.trace.builder import name_of
from lswc.lab.trace.format import Fate, Trace
from lswc.lab.trace.from_log import to_trace
from lswc.urls import parse
from tests.lab.trace.frozen import write_trace
from tests.scenarios.site import ENGLISH, THAI, Site, page

if TYPE_CHECKING:
    from pathlib import Path

HOSTS = ("www.one.co.th", "two.example.com", "three.or.th", "four.net")
SEED = "http://www.one.co.th/"
ALIKE = 12
"""Pages of a folder that are alike: more than may be in a row."""


def random_web(site: Site, seed: int) -> None:
    """Fill a site with twins, redirects, nofollow, near-duplicates, and servers that forbid all."""
    draw = random.Random(seed)
    paths = ["", "1.html", "2.html", "a/1.html", "b/2.html", "out", "on", "round", "twin"]
    paths += [f"same/{number}.html" for number in range(ALIKE)]
    addresses = [f"{host}/{path}" for host in HOSTS for path in paths]
    addresses += ["gone.example.net/", "www.one.co.th/missing.html"]
    redirects: dict[str, dict[str, Any]] = {}
    for host in HOSTS:
        for path in paths:
            links = draw.choices(addresses, k=draw.randint(2, 7))
            tags = [
                f'<a href="{draw.choice(("http", "https"))}://{link}"'
                f"{draw.choice(('', '', ' rel=nofollow'))}>{draw.choice(('ข่าว', 'news', ''))}</a>"
                for link in links
            ]
            text = f"{draw.choice((THAI, ENGLISH))} {draw.random()} " * draw.randint(2, 5)
            text = THAI if path.startswith("same/") else text
            body = page(text).replace("</body>", "".join(tags) + "</body>")
            site.add(f"{host}/{path}" if path else f"{host}/", body)
        targets = {
            "/out": f"http://{draw.choice(addresses)}",
            "/on": f"https://{host}/out",
            "/round": f"http://{draw.choice(HOSTS)}/round",
            "/twin": f"https://{host}/twin",
        }
        redirects[host] = {"redirects": {path: [301, to] for path, to in targets.items()}}
    site.add("four.net/robots.txt", "User-agent: *\nDisallow: /b/\n")
    (site.web / "web.json").write_text(json.dumps(redirects))
    site.seeds(SEED, "https://two.example.com/")


def told(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return what a trace says of each URL, without its scheme, and the seeds."""
    trace, table = Trace.read(folder), pq.read_table(folder / "urls.parquet")
    names = [name_of(url) if (url := parse(u)) else u for u in table["url"].to_pylist()]
    assert trace.anchors is not None
    assert trace.named is not None
    found = {}
    for number, name in enumerate(names):
        links = slice(trace.offsets[number], trace.offsets[number + 1])
        found[name] = {
            "fate": Fate(trace.fate[number]).name,
            "status": table["status"][number].as_py(),
            "language": table["language"][number].as_py(),
            "relevant": table["relevant"][number].as_py(),
            "distance": int(trace.distance[number]),
            "links": [names[target] for target in trace.targets[links]],
            "anchors": trace.anchors[links].tolist(),
            "named": trace.named[links].tolist(),
        }
    assert len(found) == len(names), "twins are one URL"
    return found, [names[seed] for seed in trace.seeds]


@pytest.mark.parametrize(("seed", "cookies"), [(1, 1), (2, 0), (8, 1)])
def test_a_crawl_has_the_trace_of_its_web(
    seed: int, cookies: int, site: Site, tmp_path: Path
) -> None:
    """With cookies, some front pages of the webs 1 and 8 are tried as doorways."""
    random_web(site, seed)
    site.crawl(LSWC_MAX_DUPLICATES=5, LSWC_TWINS=0, COOKIES_ENABLED=cookies, LSWC_IN_ORDER=1)
    to_trace(site.folder, tmp_path / "crawl")
    write_trace(site, tmp_path / "web", duplicates=5)
    crawled, seeds = told(tmp_path / "crawl")
    frozen, given = told(tmp_path / "web")
    assert sorted(seeds) == sorted(given)
    assert crawled.keys() == frozen.keys()
    for url, of_web in frozen.items():
        assert crawled[url] == of_web, url
