"""A redirect's target has its own place, whatever page the link to the redirect stands on."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace.builder import TraceBuilder
from lswc.lab.trace.format import About, Trace
from lswc.strategy import (
    SEED,
    Anchor,
    Locality,
    Named,
    all_facts,
    decode,
    encode,
    redirected,
    strategy,
)

if TYPE_CHECKING:
    from pathlib import Path


class Web:
    """A web by hand, and what a strategy visits of it, in order."""

    def __init__(self, folder: Path) -> None:
        self.builder, self.folder = TraceBuilder(About("th", ("th",), "by hand")), folder

    def page(self, url: str, language: str, *links: str) -> None:
        found = [(f"http://{link}", Anchor.NONE, Named.NONE) for link in links]
        self.builder.page(f"http://{url}", 200, language, None, found)

    def redirect(self, url: str, target: str) -> None:
        self.builder.redirect(f"http://{url}", 301, f"http://{target}")

    def visits(self, name: str) -> list[str]:
        self.builder.write(self.folder, ["http://a.com/"])
        urls = pq.read_table(self.folder / "urls.parquet")["url"].to_pylist()
        trace = Trace.read(self.folder)
        visits = Simulation(trace, strategy(name), keep_visits=True).run().visits
        return [urls[visit].removeprefix("http://") for visit in visits]


@pytest.fixture
def web(tmp_path: Path) -> Web:
    return Web(tmp_path / "trace")


@pytest.mark.parametrize("language", ["th", "en"])
@pytest.mark.parametrize("chain", [("a.com/out",), ("a.com/out", "www.a.com/x", "t.co/y")])
def test_a_foreign_site_is_judged_by_its_entry_page(
    language: str, chain: tuple[str, ...], web: Web
) -> None:
    web.page("a.com/", "th", chain[0])
    for source, target in zip(chain, [*chain[1:], "b.com/"], strict=True):
        web.redirect(source, target)
    web.page("b.com/", language, "b.com/1", "b.com/2")
    web.page("b.com/1", "en")
    web.page("b.com/2", "en")
    inside = ["b.com/1", "b.com/2"] if language == "th" else []
    assert web.visits("site_queues") == ["a.com/", *chain, "b.com/", *inside]


def test_a_site_that_a_redirect_stays_on_is_taken_whole(web: Web) -> None:
    web.page("a.com/", "th", "b.com/out", "a.com/x")
    web.redirect("a.com/x", "www.a.com/x")
    web.page("www.a.com/x", "en", "a.com/y")
    web.page("a.com/y", "en")
    web.page("b.com/out", "en", "b.com/1")
    inside = ["a.com/x", "www.a.com/x", "a.com/y"]
    assert web.visits("site_queues") == ["a.com/", *inside, "b.com/out"]


def test_another_server_is_not_the_same_server(web: Web) -> None:
    """Else ``lswc`` would take it before what the page links to itself."""
    web.page("a.com/", "th", "a.com/out", "c.com/", "b.com/0")
    web.redirect("a.com/out", "b.com/")
    for url in ("b.com/", "c.com/", "b.com/0"):
        web.page(url, "en")
    assert web.visits("lswc:S=3,T=5") == ["a.com/", "a.com/out", "c.com/", "b.com/0", "b.com/"]


def test_all_but_its_place_is_the_links() -> None:
    for facts, hop, near in product(list(all_facts())[::97], Locality, (False, True)):
        code = encode(facts)
        found = decode(redirected(code, hop, near), facts.target_server)
        farther = max(facts.locality, hop)
        assert found == facts._replace(locality=farther, same_folder=facts.same_folder and near), (
            facts,
            hop,
        )
    assert redirected(SEED, Locality.ELSEWHERE, False) == SEED
