"""Seeds that are put into the folder of a crawl while it runs."""

from __future__ import annotations

from asyncio import run, sleep
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import DontCloseSpider

from lswc.seeds.seeds_folder import AT_ONCE, SeedsFolderExtension
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path


class Fed:
    """A crawl of one seed, and its ``seeds.d``."""

    def __init__(self, folder: Path) -> None:
        self.set_up = SetUp(folder, LSWC_ALLOWED_DOMAINS="example")
        self.parts = self.set_up.parts
        self.stats = self.set_up.crawler.stats
        self.feeding = SeedsFolderExtension.from_crawler(self.set_up.crawler)
        self.folder = folder / "crawl" / "seeds.d"

    async def look(self) -> None:
        """Let it look twice, and take what it found."""
        self.feeding.look()
        self.feeding.look()
        for _ in range(50):
            await sleep(0)

    @property
    def counts(self) -> list[int]:
        """Waiting URLs, seeds taken, wrong lines, and files that can't be read."""
        names = ("taken", "wrong lines", "files that can't be read")
        found = (self.stats.get_value(f"lswc/seeds/{name}", 0) for name in names)
        return [self.parts.frontier.pending, *found]


def test_files_are_taken_while_it_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    run(files_are_taken(tmp_path, caplog))


async def files_are_taken(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    crawl = Fed(folder)
    with crawl.set_up:
        await crawl.look()
        crawl.feeding.idle()  # there is no such folder: it may end
        crawl.folder.mkdir()
        mine = crawl.folder / "mine.txt"
        mine.write_text("# mine\nhttp://b.example/\nno url\nc.example.co.th\nhttp://b.example/\n")
        with pytest.raises(DontCloseSpider):
            crawl.feeding.idle()
        assert crawl.counts == [1, 0, 0, 0], "it may still be written"
        await crawl.look()
        assert crawl.counts == [2, 1, 1, 0]
        assert "mine.txt: no URL in 1 line: 'no url'" in caplog.text
        assert crawl.stats.get_value("lswc/discarded/domain not allowed") == 1
        await crawl.look()
        crawl.feeding.idle()
        with mine.open("a") as file:
            file.write("http://d.example/\nnor this\n")
        (crawl.folder / "other.md").write_text("http://e.example/")
        many = "".join(f"{rank},r{rank}.example\n" for rank in range(1, 2 * AT_ONCE + 2))
        (crawl.folder / "ranks.txt").write_text(many)
        await crawl.look()
        assert crawl.counts == [3, 2, 2, 0], "only what is new in it"
        await crawl.look()
        assert crawl.counts == [3, 2, 2, 1]
        assert "ranks.txt has no column of URLs" in caplog.text, "none is under a public suffix"
        urls = "".join(f"http://r{rank}.example/\n" for rank in range(2 * AT_ONCE + 1))
        (crawl.folder / "ranks.txt").write_text(urls)
        await crawl.look()
        assert crawl.counts[0] == 3 + 2 * AT_ONCE + 1
        mine.unlink()
        (crawl.folder / "torn.txt").write_bytes(b"\x1f\x8b\x08torn")
        await crawl.look()
        assert crawl.counts[3] == 2
        crawl.feeding.idle()
