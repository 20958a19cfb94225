"""What crawls of several webs taught becomes a table that another one begins with."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.lab.commands.learn_order import Command
from lswc.lab.simulator.simulation import Simulation
from lswc.lab.trace.format import Trace
from lswc.strategy import Experience, Named, strategy
from lswc.strategy.prior import Prior, shipped
from tests.crawl.running import SetUp
from tests.lab.analysis.webs import Web

if TYPE_CHECKING:
    from pathlib import Path

ADAPTIVE = strategy("adaptive")


def web(number: int) -> Web:
    """Return a web of pages in two folders, each of which names the language of the other's."""
    home = f"http://www.site{number}.org/"
    spoken = {"th": Named.TARGET, "en": Named.OTHER}
    pages = {f"{home}{folder}/{n}": folder for folder in spoken for n in range(30)}
    made = Web(named={url: spoken[folder] for url, folder in pages.items()})
    made.page(home, "en", *sorted(pages, key=lambda url: url[-1] + url))
    for url, folder in pages.items():
        made.page(
            url,
            "en" if folder == "th" else "th",
            *[other for other in pages if other[-1] == url[-1]],
        )
    return made


def trace(folder: Path, number: int) -> Trace:
    return Trace.read(web(number).write(folder / str(number), f"http://www.site{number}.org/"))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the folders of traces of nine webs."""
    where = tmp_path_factory.mktemp("webs")
    return [str(web(n).write(where / str(n), f"http://www.site{n}.org/")) for n in range(9)]


def learn(*arguments: str) -> int:
    command = Command()
    command.settings = Settings()
    parser = ArgumentParser()
    command.add_options(parser)
    options, args = parser.parse_known_args(arguments)
    command.run(args, options)
    return command.exitcode


def test_a_simulation_tells_what_its_own_pages_taught(tmp_path: Path) -> None:
    """That is all but the seed."""
    there = trace(tmp_path, 1)
    blank = Simulation(there, ADAPTIVE, prior=Experience()).run().experience
    begun = Simulation(there, ADAPTIVE, prior=blank).run().experience
    for found in (blank, begun):
        assert sum(pages.downloaded for pages in found.cells.values()) == 60
        assert sum(pages.relevant for pages in found.cells.values()) == 30


def test_webs_that_are_alike_teach_the_next_one(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "order.toml"
    assert learn(*folders, "--out", str(out), "--alone") == 0
    assert "9 webs agree on" in capsys.readouterr().out
    prior = Prior.load(out.read_text("utf-8"))
    assert prior.webs == 9
    there, first = trace(tmp_path, 10), []
    for given in (prior.experience, Experience()):
        ran = Simulation(there, ADAPTIVE, prior=given, keep_visits=True).run()
        first.append(sum(url > 30 for url in ran.visits[1:11].tolist()))
    assert first[0] > first[1]
    assert first[0] == 10


def test_the_table_stands_beside_the_one_that_lswc_comes_with(
    folders: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "order.toml"
    learn(*folders, "--out", str(out))
    both = Prior.load(out.read_text("utf-8"))
    assert both.webs == 9 + shipped().webs
    assert both.cells.keys() >= shipped().cells.keys()
    assert both != shipped()


def test_few_webs_teach_nothing(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "order.toml"
    learn(*folders[:3], "--out", str(out), "--alone")
    assert not Prior.load(out.read_text("utf-8")).cells


def test_a_crawl_teaches_whatever_its_language(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with SetUp(tmp_path, LSWC_STRATEGY="adaptive", LSWC_FRONTIER="sqlite") as crawl:
        assert crawl.parts.frontier
    assert learn(folders[0], str(tmp_path / "crawl"), "--out", str(tmp_path / "order.toml")) == 0
    assert "2 webs" in capsys.readouterr().out


def test_what_can_not_teach_is_one_clear_line(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "order.toml")
    with SetUp(tmp_path, LSWC_PROFILE="soft_focused", LSWC_FRONTIER="sqlite") as crawl:
        assert crawl.parts.frontier
    for given, said in (
        ((folders[0], str(tmp_path / "crawl"), "--out", out), "learns nothing"),
        ((folders[0], str(tmp_path), "--out", out), "is not a trace"),
        ((folders[0], "--out", str(tmp_path / "order")), "ends with .toml"),
        ((folders[0], "--out", str(tmp_path / "nowhere" / "order.toml")), "can't write"),
    ):
        assert learn(*given) == 2
        told = capsys.readouterr().err.strip()
        assert said in told
        assert "\n" not in told
    for lacking in ((), (folders[0],), ("--out", out)):
        with pytest.raises(UsageError):
            learn(*lacking)
    assert not list(tmp_path.glob("*.toml"))
