"""Visits of candidates: the page in the language, what is seen, and that they go on."""

from __future__ import annotations

import signal
import subprocess
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest

from lswc.crawl.seed_files import read_seeds
from tests.scenarios.guest_web import PORTS, Answer, GuestWeb, Negotiated, serving
from tests.scenarios.site import ENGLISH, SCRAPY, THAI, page, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.scenarios.guest_web import Given


def html(text: str, body: str = "", head: str = "") -> Answer:
    """Return a page with some more in its head and body."""
    return Answer(f"<html><head>{head}</head><body><p>{text}</p>{body}</body></html>")


NEWS = '<script type="application/ld+json">{"@type": "NewsMediaOrganization"}</script>'
LINKS = "".join(f'<a href="/{number}">{THAI[:20]}</a>' for number in range(30))
WEB: Mapping[str, Given] = {
    "http://plain.example/": html(THAI, LINKS, NEWS),
    "http://few.example/": html(THAI),
    "http://path.example/": html(ENGLISH, '<a href="/en/">English</a><a href="/th/">TH</a>'),
    "http://path.example/th/": html(THAI),
    "http://menu.example/": html(ENGLISH, '<a href="/p?l=2">ไทย</a><a href="/p?l=3">日本語</a>'),
    "http://menu.example/p?l=2": html(THAI),
    "http://head.example/": html(
        ENGLISH, "", '<link rel="alternate" hreflang="th" href="http://www.head.example/x">'
    ),
    "http://www.head.example/x": html(THAI),
    "http://false.example/": html(ENGLISH, '<a href="/th/">ไทย</a>'),
    "http://false.example/th/": html(ENGLISH, "not translated yet"),
    "http://away.example/": html(ENGLISH, '<a href="http://plain.example/th/">ไทย</a>'),
    "http://english.example/": html(ENGLISH),
    "http://dead.example/": Answer(status=404),
    "http://first.example/": Answer(status=301, headers={"Location": "http://second.example/"}),
    "http://second.example/": Answer(status=301, headers={"Location": "http://third.example/x"}),
    "http://third.example/x": html(THAI),
    "http://asks.example/": Negotiated({"en": html(ENGLISH), "th": html(THAI)}),
    "http://closed.example/": Answer(page(THAI), headers={"TDM-Reservation": "1"}),
    "http://quiet.example/": Answer(page(THAI), headers={"X-Robots-Tag": "noindex"}),
}
ASKED = [url for url in WEB if url.endswith(".example/") and "second" not in url]
SEEDS = {
    "http://plain.example/", "http://few.example/", "http://path.example/th/",
    "http://menu.example/p?l=2", "http://www.head.example/x", "http://third.example/x",
    "http://asks.example/", "http://closed.example/",
}  # fmt: skip
LEFT_OUT = {
    "http://false.example/": "in another language: en",
    "http://away.example/": "in another language: en",
    "http://english.example/": "in another language: en",
    "http://dead.example/": "status 404",
    "http://quiet.example/": "noindex",
    "http://10.0.0.1/": "address not public",
}


def command(folder: Path, urls: list[str], *more: str) -> list[str]:
    """Return the command that makes a Thai list of these URLs, by visits."""
    (folder / "urls.txt").write_text("\n".join(urls))
    (folder / "web" / "never.example").mkdir(parents=True, exist_ok=True)
    settings = {
        "LSWC_WEB": str(folder / "web"), "DOWNLOAD_DELAY": "0.1",
        "TWISTED_DNS_RESOLVER": "tests.scenarios.guest_web.Resolver",
        "LSWC_ROBOTS_META": "noindex", "LSWC_OPT_OUT": "record",
    }  # fmt: skip
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    out = ["--lang", "th", "--out", str(folder / "out"), "--fetch", "--contact", "a@b.org"]
    return [*SCRAPY, "seeds", str(folder / "urls.txt"), *out, *given, *more]


def left_out(folder: Path) -> dict[str, str]:
    lines = (folder / "out" / "th.left-out.tsv").read_text("utf-8").splitlines()
    return dict(line.split("\t") for line in lines[1:])


@pytest.mark.slow
def test_the_page_in_the_language_becomes_the_seed_and_the_others_have_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    web = GuestWeb(WEB)
    with serving(web, tmp_path) as environment:
        monkeypatch.setenv(PORTS, environment[PORTS])
        done = run(command(tmp_path, [*ASKED, "http://10.0.0.1/"]))
    assert done.returncode == 0, done.stderr
    path = tmp_path / "out" / "th.txt"
    assert set(read_seeds(path)) == SEEDS
    assert left_out(tmp_path) == LEFT_OUT
    lines = path.read_text("utf-8").splitlines()
    assert lines[2].startswith("# News · urls.txt · 20")
    assert lines[3].startswith("http://plain.example/  # 20")
    assert ": Thai " in lines[3]
    assert lines[3].endswith(", 30 links")
    (moved,) = (line for line in lines if "path.example" in line)
    assert moved.endswith("not the page that was named")
    (closed,) = (line for line in lines if "closed.example" in line)
    assert closed.endswith("forbids mining of its text")
    assert "not visited" not in path.read_text("utf-8")
    assert not (tmp_path / "out" / "th.visits").exists()
    assert web.urls["http://plain.example/0"] == 0, "no other link is followed"
    assert max(web.urls.values()) <= 2, "pages that are alike are asked for again, as in a crawl"


@pytest.mark.slow
def test_after_ctrl_c_the_same_command_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = [f"http://h{number}.example/" for number in range(12)]
    web = GuestWeb({url: Answer(page(THAI), takes=0.3) for url in hosts})
    with serving(web, tmp_path) as environment:
        monkeypatch.setenv(PORTS, environment[PORTS])
        slowly = command(tmp_path, hosts, "-s", "CONCURRENT_REQUESTS=1")
        first = subprocess.Popen(slowly, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        notes, deadline = tmp_path / "out" / "th.visits" / "seen.jsonl", monotonic() + 60
        while monotonic() < deadline and not (notes.exists() and notes.read_bytes().count(b"\n")):
            sleep(0.05)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=60)
        assert first.returncode == 130, said
        before = notes.read_bytes().count(b"\n")
        assert 0 < before < len(hosts)
        with notes.open("ab") as file:
            file.write(b'{"asked": "http://torn')
        asked = web.urls.total()
        done = run(slowly)
    assert done.returncode == 0, done.stderr
    assert set(read_seeds(tmp_path / "out" / "th.txt")) == set(hosts)
    again = web.urls.total() - asked
    assert again < 2 * len(hosts), "what was seen isn't asked for again"
    assert max(web.urls[url] for url in hosts) <= 2
    assert sum(web.urls[url] for url in hosts) <= len(hosts) + 1, "but for what was under way"
