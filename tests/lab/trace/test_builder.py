"""Traces of frozen webs; and the real crawl of one visits its pages as the kernel does."""

from __future__ import annotations

import json
import random
import sys
from argparse import ArgumentParser
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from scrapy.utils.project import get_project_settings

from lswc.lab.commands.trace import Command as TraceCommand
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace.builder import TraceBuilder
from lswc.lab.trace.format import About, Fate, Trace, TraceError
from lswc.strategy import NAMES, Anchor, Named, strategy
from tests.lab.trace.frozen import write_trace
from tests.scenarios.site import ENGLISH, THAI, Site, run

if TYPE_CHECKING:
    from pathlib import Path

JAPANESE = "これは日本語で書かれたページです。今日のニュースは天気と貿易についてです。"
TEXTS = {
    "www.one.co.th": (THAI, THAI, ENGLISH),
    "blog.one.co.th": (THAI, ENGLISH, ""),
    "two.example.com": (ENGLISH, ENGLISH, THAI),
    "three.or.th": (ENGLISH, ENGLISH, ""),
    "four.net": (JAPANESE, JAPANESE, ENGLISH),
    "5.org": (ENGLISH, JAPANESE, THAI),
}
SEED = "http://www.one.co.th/"


def random_web(site: Site, seed: int) -> None:
    """Fill a site with pages in several languages, redirects, dead links and robots.txt."""
    draw = random.Random(seed)
    paths = ["", *(f"{folder}{i}.html" for folder in ("", "a/", "b/") for i in range(2))]
    addresses = [f"{host}/{path}" for host in TEXTS for path in paths]
    moved = [f"{host}/{name}" for host in TEXTS for name in ("out", "on", "round", "a/back")]
    fates = ["gone.example.net/", "www.one.co.th/missing.html", "four.net/moved.html"]
    elsewhere = [*fates, *moved]
    for address in addresses:
        links = draw.choices(addresses + elsewhere, k=draw.randint(2, 9))
        links += [*fates, "5.org/a/1.html"] if f"http://{address}" == SEED else []
        words = draw.choice(["ข่าว", "news", ""])
        items = "".join(f'<a href="http://{link}">{words}</a> ' for link in links)
        text = draw.choice(TEXTS[address.partition("/")[0]]) * (3 + len(links) % 4)
        site.add(
            address,
            f"<html><head><title></title></head><body>{text}<p>{items}</body>",
        )
    site.add("5.org/robots.txt", "User-agent: *\nDisallow: /a/\n")
    hosts = {}
    for number, host in enumerate(TEXTS):
        after = [*TEXTS, *TEXTS][number + 1]
        targets = {
            "/out": draw.choice(addresses),
            "/on": f"{host}/out",
            "/round": f"{after}/round",
            "/a/back": f"{host}/",
        }
        rules = {path: [301, f"http://{target}"] for path, target in targets.items()}
        hosts[host] = {"redirects": rules}
    hosts["four.net"]["redirects"]["/moved.html"] = [302, "http://three.or.th/a/1.html"]
    (site.web / "web.json").write_text(json.dumps(hosts))
    site.seeds(SEED, "http://two.example.com/")


def read(site: Site, folder: Path) -> tuple[Trace, list[str]]:
    write_trace(site, folder)
    return Trace.read(folder), pq.read_table(folder / "urls.parquet")["url"].to_pylist()


def test_every_fate_of_a_url(site: Site, tmp_path: Path) -> None:
    random_web(site, 1)
    trace, urls = read(site, tmp_path / "trace")
    fate = dict(zip(urls, map(Fate, trace.fate.tolist()), strict=True))
    assert fate[SEED] is Fate.PAGE
    assert fate["http://www.one.co.th/missing.html"] is Fate.FAILED
    assert fate["http://gone.example.net/"] is Fate.NEVER
    assert fate["http://5.org/a/1.html"] is Fate.NEVER
    assert fate["http://four.net/moved.html"] is Fate.REDIRECT
    moved = urls.index("http://four.net/moved.html")
    (target,) = trace.targets[trace.offsets[moved] : trace.offsets[moved + 1]]
    assert urls[target] == "http://three.or.th/a/1.html"
    assert trace.relevant.sum() > 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_the_real_crawl_visits_what_the_kernel_visits(
    seed: int, site: Site, tmp_path: Path
) -> None:
    random_web(site, seed)
    trace, urls = read(site, tmp_path / "trace")
    names = [name for name in NAMES if name != "perfect"]  # no live crawl has an oracle
    names += [f"tests.strategy.own_rules:{name}" for name in ("supported_first", "only_supported")]
    crawls = [sys.executable, "-m", "tests.lab.trace.crawls", str(site.web), str(tmp_path), *names]
    done = run(crawls)
    assert done.returncode == 0, done.stderr
    live = {name: Site(site.web, tmp_path / name).urls for name in names}
    assert len({tuple(visits) for visits in live.values()}) > 8  # the strategies do differ
    for name in names:
        visits = Simulation(trace, strategy(name), keep_visits=True).run().visits
        pages = [urls[visit] for visit in visits if trace.fate[visit] == Fate.PAGE]
        assert pages == live[name], name


def test_a_builder_takes_urls_in_any_order(tmp_path: Path) -> None:
    builder = TraceBuilder(About("th", ("th",), "by hand"))
    builder.failure("http://b.com/x", 404)
    builder.page(
        "http://a.co.th/",
        200,
        "th",
        "utf-8",
        [
            ("http://b.com/x", Anchor.OTHER, Named.OTHER),
            ("mailto:me@b.com", Anchor.NONE, Named.NONE),
            ("http://a.co.th/y", Anchor.TARGET, Named.TARGET),
        ],
    )
    builder.write(tmp_path, ["http://a.co.th/"])
    trace = Trace.read(tmp_path)
    urls = pq.read_table(tmp_path / "urls.parquet")["url"].to_pylist()
    assert urls == ["http://b.com/x", "http://a.co.th/", "http://a.co.th/y"]
    assert trace.fate.tolist() == [Fate.FAILED, Fate.PAGE, Fate.NEVER]
    assert trace.distance.tolist() == [1, 0, 1]
    assert trace.named is not None
    assert trace.named.tolist() == [Named.OTHER, Named.TARGET]
    assert trace.tld is not None
    assert trace.tld[trace.server].tolist() == [False, True, True]


def test_twins_are_one_url(tmp_path: Path) -> None:
    builder = TraceBuilder(About("th", ("th",), "by hand"))
    builder.page("http://a.th/", 200, "th", None, [("https://a.th/x", Anchor.NONE, Named.NONE)])
    builder.failure("http://a.th/x", 404)
    builder.write(tmp_path, ["https://a.th/"])
    assert Trace.read(tmp_path).fate.tolist() == [Fate.PAGE, Fate.FAILED]


def test_a_builder_without_seeds(tmp_path: Path) -> None:
    builder = TraceBuilder(About("th", (), ""))
    with pytest.raises(TraceError, match="no seed"):
        builder.write(tmp_path, ["mailto:nobody"])


def trace_command(*arguments: str) -> int:
    command = TraceCommand()
    command.settings = get_project_settings()
    parser = ArgumentParser()
    command.add_options(parser)
    command.run([], parser.parse_args(arguments))
    return command.exitcode


def test_the_command_makes_a_trace(site: Site, tmp_path: Path) -> None:
    random_web(site, 1)
    out = tmp_path / "trace"
    assert trace_command("--web", str(site.web), "--lang", "th", "--out", str(out)) == 0
    assert Trace.read(out).about.language == "th"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lang", "xx"], "xx"),
        (["--lang", "ja"], "has no seeds-ja.txt"),
        (["--lang", "th", "--web", "no/such/folder"], "no/such/folder"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(
    arguments: list[str],
    message: str,
    site: Site,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    random_web(site, 1)
    out = str(tmp_path / "trace")
    assert trace_command("--web", str(site.web), *arguments, "--out", out) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
