"""``scrapy seeds --fetch`` is as good a guest, and as safe, as a crawl."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.crawl.guest_web import PORTS, Answer, GuestWeb, serving
from tests.crawl.site import ENGLISH, SCRAPY, THAI, page, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

LAO = "ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ ແລະຂ່າວມື້ນີ້ມີຫຼາຍເລື່ອງ "
PAGE = Answer(page(THAI))
PLAIN = {"Content-Type": "text/plain"}
ANSWERS: dict[str, Answer | Callable[[int], Answer]] = {
    "http://thai.example/": Answer(page(THAI, "/linked.html", "http://linked.example/")),
    "http://thai.example/linked.html": PAGE,
    "http://lao.example/": Answer(page(LAO)),
    "http://english.example/": Answer(page(ENGLISH)),
    "http://gone.example/": Answer(status=404),
    "http://moved.example/": Answer(status=301, headers={"Location": "http://new.example/a.html"}),
    "http://new.example/a.html": PAGE,
    "http://secure.example/": Answer(status=302, headers={"Location": "https://secure.example/"}),
    "https://secure.example/": PAGE,
    "http://closed.example/": PAGE,
    "http://closed.example/robots.txt": Answer("User-agent: *\nDisallow: /", headers=PLAIN),
    "http://unindexed.example/": Answer(page(THAI), headers={"X-Robots-Tag": "noindex"}),
    "http://zip.example/": Answer("PK\3\4" + page(THAI)),
    "http://headers.example/": Answer(
        page(THAI), headers={f"X-{n}": "y" * 999 for n in range(150)}
    ),
    "http://slow.example/robots.txt": Answer("User-agent: lswc\nCrawl-delay: 1", headers=PLAIN),
    "http://slow.example/": PAGE,
    "http://slow.example/1": PAGE,
    "http://busy.example/": lambda times: (
        PAGE if times else Answer(status=429, headers={"Retry-After": "1"})
    ),
}
ASKED = [url for url in ANSWERS if "linked" not in url and "robots" not in url]
EXPECTED = {
    "th": [
        "http://thai.example/", "http://new.example/a.html", "https://secure.example/",
        "http://slow.example/", "http://slow.example/1", "http://busy.example/",
    ],
    "lo": ["http://lao.example/"],
}  # fmt: skip


def fetch(folder: Path, urls: list[str], **settings: object) -> CompletedProcess[str]:
    """Make seed lists for Thai and Lao of these URLs, by fetching them."""
    (folder / "urls.csv").write_text("\n".join(urls))
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = ["seeds", "--lang", "th,lo", "--csv", folder / "urls.csv", "--out", folder / "out"]
    return run([*SCRAPY, *map(str, command), "--fetch", *given])


@pytest.fixture
def on_web(tmp_path: Path) -> dict[str, object]:
    """Settings that lead every name to the web of the test."""
    (tmp_path / "web" / "never.example").mkdir(parents=True)
    return {
        "LSWC_WEB": tmp_path / "web",
        "TWISTED_DNS_RESOLVER": "tests.crawl.guest_web.Resolver",
    }


def test_candidates_are_fetched_as_in_a_crawl(
    tmp_path: Path, on_web: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    web = GuestWeb(ANSWERS)
    with serving(web, tmp_path) as environment:
        monkeypatch.setenv(PORTS, environment[PORTS])
        done = fetch(
            tmp_path, [*ASKED, "http://10.0.0.1/"], **on_web,
            DOWNLOAD_DELAY=0.1, LSWC_ROBOTS_META="noindex", LSWC_MAX_HEADERS_SIZE=4000,
            LSWC_CONTACT="crawl@library.example",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for code, expected in EXPECTED.items():
        lines = (tmp_path / "out" / f"{code}.txt").read_text("utf-8").splitlines()
        assert [line for line in lines if line.startswith("http")] == sorted(expected)
    for end in (
        "status 404",
        "robots.txt",
        "noindex",
        "not HTML",
        "headers too large",
        "address not public",
    ):
        assert end in done.stdout
    pages = {url for url in web.urls if not url.endswith("/robots.txt")}
    assert pages == {*ASKED, *EXPECTED["th"]} - {"http://closed.example/"}
    assert {visit.headers["User-Agent"].partition(" ")[2] for visit in web.visits} == {
        "(+crawl@library.example)"
    }
    for host in ("slow.example", "busy.example"):
        (gap,) = [after.at - before.at for before, after in pairwise(web.of(host))]
        assert gap >= 1


def test_nothing_on_this_machine_is_asked(tmp_path: Path) -> None:
    web = GuestWeb({})
    with serving(web, tmp_path) as environment:
        port = environment[PORTS].split()[0]
        hosts = ("localhost", "127.0.0.1", "[::1]", "2130706433")
        done = fetch(
            tmp_path, [f"http://{host}:{port}/" for host in hosts],
            LSWC_CONTACT="crawl@library.example", LSWC_ALLOWED_PORTS=port,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert web.visits == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "LSWC_CONTACT must say who crawls the real web"),
        ({"LSWC_WEB": "no/such/folder"}, "no/such/folder"),
        ({"LSWC_CONTACT": "https://a.example/", "LSWC_PROFILE": "bsf"}, "known: adaptive, anchor"),
        ({"LSWC_CONTACT": "https://a.example/", "LSWC_DELY": 1}, "unknown setting LSWC_DELY"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, settings: dict[str, object], said: str) -> None:
    done = fetch(tmp_path, ["http://thai.invalid/"], **settings)
    assert done.returncode == 2
    assert done.stdout == ""
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()
