"""The changing demo web: a seeded process, told by honest and by dishonest hosts."""

from __future__ import annotations

import gzip
import http.client
import json
import re
from contextlib import closing
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import pytest

from lswc.crawl.web import CHANGES, WebError, open_web, prepare, seconds_a_day
from lswc.lab.demo.changing import ChangingDemo, Dates, _dates
from lswc.lab.simulator.changing_web import Kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from lswc.crawl.web.answers import Answer

    Serve = Callable[[Path], AbstractContextManager[int]]

TRUE, NOW = "www.watpa-demo.or.th", "www.aharnthai-demo.com"  # both have a sitemap
WEEKS = 70.0


class Days:
    """A clock of the web's days."""

    def __init__(self, web: Path) -> None:
        said = json.loads((web / CHANGES).read_bytes())
        self.began, self.seconds, self.day = said["began"], said["seconds_a_day"], 0.0

    def __call__(self) -> float:
        return float(self.began + self.day * self.seconds)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    crawls = tmp_path_factory.mktemp("crawls")
    folder = prepare("changing", crawls)
    assert folder == crawls / "changing-web"
    return folder


@pytest.fixture(scope="module")
def made(folder: Path) -> tuple[ChangingDemo, Days]:
    clock = Days(folder)
    return ChangingDemo(folder, clock), clock


@pytest.fixture
def clock(made: tuple[ChangingDemo, Days]) -> Days:
    made[1].day = 0.0
    return made[1]


@pytest.fixture
def web(made: tuple[ChangingDemo, Days], clock: Days) -> ChangingDemo:
    return made[0]


def body(answer: Answer) -> bytes:
    assert isinstance(answer.body, bytes)
    return answer.body


def paragraphs(answer: Answer) -> list[bytes]:
    return re.findall(rb"<p>(.*?)\n", body(answer), re.IGNORECASE)


def header(answer: Answer, name: str) -> str | None:
    return dict(answer.headers).get(name)


def test_its_days_are_short_and_those_of_another_web_are_not(folder: Path, tmp_path: Path) -> None:
    assert seconds_a_day(folder) == 10
    assert seconds_a_day(tmp_path) == seconds_a_day(None) == 86_400
    assert isinstance(open_web(folder), ChangingDemo)
    began = json.loads((folder / CHANGES).read_bytes())["began"]
    assert prepare("changing", folder.parent) == folder
    assert json.loads((folder / CHANGES).read_bytes())["began"] == began


def is_whole(web: Path) -> bool:
    return seconds_a_day(web) > 0 and open_web(web) is not None


@pytest.mark.parametrize(
    "said", ['{"seconds_a_day": 0}', '{"seconds_a_day": "x"}', '{"changed_by": "nobody"}', "{"]
)
def test_a_folder_that_says_nonsense_is_no_web(tmp_path: Path, said: str) -> None:
    (tmp_path / "www.example.org").mkdir()
    (tmp_path / CHANGES).write_text(said)
    with pytest.raises(WebError, match="LSWC_WEB"):
        is_whole(tmp_path)


def test_the_same_seed_gives_the_same_days(folder: Path, clock: Days, web: ChangingDemo) -> None:
    """Whoever asks, and however often: what was asked before makes no other page."""
    quiet = [life for life in web.lives(0) if not life.is_noisy]
    front = next(life for life in quiet if len(life.edits(WEEKS)) > 5)
    bodies = []
    for clock.day in (0.0, WEEKS / 2, WEEKS):
        bodies.append(body(web.answer(front.page.host.name, front.page.path)))
    other = ChangingDemo(folder, clock)  # of which nothing was asked before
    assert body(other.answer(front.page.host.name, front.page.path)) == bodies[-1]
    assert len(set(bodies)) == 3


def test_its_edits_are_of_the_text_and_as_often_as_is_drawn(web: ChangingDemo) -> None:
    edits, expected = 0, 0.0
    lives = list(web.lives(0))
    for life, rate in zip(lives, web.rates.changes.tolist(), strict=True):
        if life.kind != Kind.ARTICLE:  # which may end
            edits += len(life.edits(WEEKS))
            expected += rate * WEEKS
    assert expected - 5 * expected**0.5 < edits < expected + 5 * expected**0.5
    ended = [life.end <= WEEKS for life in lives if life.kind == Kind.ARTICLE]
    assert 0.08 < sum(ended) / len(ended) < 0.18  # of 13 %


def test_an_edit_writes_a_part_of_the_text_anew(clock: Days, web: ChangingDemo) -> None:
    life = next(life for life in web.lives(0) if 0 < len(life.edits(WEEKS)) < 4)
    where = life.page.host.name, life.page.path
    clock.day = life.edits(WEEKS)[0] - 1e-6
    before = paragraphs(web.answer(*where))
    clock.day += 2e-6
    after = paragraphs(web.answer(*where))
    changed = sum(old != new for old, new in zip(before, after, strict=True))
    assert 0 < changed <= -(-len(before) // 3)


def test_noise_is_in_the_bytes_and_not_in_the_text(web: ChangingDemo) -> None:
    noisy = next(life for life in web.lives(0) if life.is_noisy)
    quiet = next(life for life in web.lives(0) if not life.is_noisy)
    first, second = (
        [web.answer(life.page.host.name, life.page.path) for _ in range(2)]
        for life in (noisy, quiet)
    )
    assert body(first[0]) != body(first[1])
    assert paragraphs(first[0]) == paragraphs(first[1])
    assert body(second[0]) == body(second[1])


def test_a_page_that_leads_to_a_new_one_names_it(clock: Days, web: ChangingDemo) -> None:
    parent = next(life for life in web.lives(0) if len(life.born(WEEKS)) == 1)
    (child,) = parent.born(WEEKS)
    host, path = child.page.host.name, child.page.path
    clock.day = child.came - 1e-6
    assert web.answer(host, path).status == 404
    assert path.encode() not in body(web.answer(host, parent.page.path)).lower()
    clock.day = child.came + 1e-6
    assert web.answer(host, path).status == 200
    assert path.encode() in body(web.answer(host, parent.page.path)).lower()
    clock.day = child.end + 1e-6
    assert web.answer(host, path).status in (404, 410)


def test_hosts_tell_the_truth_of_their_dates_or_say_that_it_is_now(
    clock: Days, web: ChangingDemo
) -> None:
    clock.day = WEEKS
    for host, told in ((TRUE, Dates.TRUE), (NOW, Dates.NOW)):
        assert _dates(host) == told
        sitemap = body(web.answer(host, "/sitemap.xml")).decode()
        lastmods = re.findall(r"<loc>http://[^/]+([^<]+)</loc><lastmod>([^<]+)<", sitemap)
        assert len(lastmods) > 20
        assert (len({when for _, when in lastmods}) == 1) == (told == Dates.NOW)
        lives = {life.page.path: life for life in web.lives(WEEKS) if life.page.host.name == host}
        life = lives[next(path for path, _ in lastmods if lives[path].edits(WEEKS))]
        when = life.changed(WEEKS) if told == Dates.TRUE else WEEKS
        answer = web.answer(host, life.page.path)
        if not life.is_noisy:
            modified = header(answer, "Last-Modified")
            assert modified
            expected = int(web.began + when * clock.seconds)
            assert int(parsedate_to_datetime(modified).timestamp()) == expected
            assert (header(answer, "ETag") is not None) == (told == Dates.TRUE)


def test_a_new_page_is_in_its_hosts_listings_until_it_ends(clock: Days, web: ChangingDemo) -> None:
    clock.day = WEEKS
    listed = {
        "www.krungdaily-demo.net": "/maps/linked.xml",
        "www.esannews-demo.co.th": "/news.atom",
        TRUE: "/sitemap.xml",
    }
    for host, path in listed.items():
        born = [
            life.page.path
            for life in web.lives(WEEKS)
            if life.page.host.name == host and life.came and life.end > WEEKS
        ]
        shown = body(web.answer(host, path)).decode()
        assert born
        assert sum(f"http://{host}{one}" in shown for one in born) == min(20, len(born))
    packed = web.answer("www.krungdaily-demo.net", "/maps/archive.xml.gz")
    assert b"<lastmod>" in gzip.decompress(body(packed))


def test_what_does_not_change_is_as_it_was(web: ChangingDemo) -> None:
    assert web.answer("www.oldsiam-demo.com", "/").status == 301
    assert web.answer("www.siamsabai-portal.com", "/site.css").status == 200
    assert web.answer("www.siamsabai-portal.com", "/missing.html").status == 404
    assert web.answer("www.doisuthep-demo.or.th", "/").delay > 0
    assert web.answer("www.lannaboard-demo.com", "/calendar/2026/11/").status == 200
    assert not web.knows("www.example.org")


def test_a_page_that_is_held_as_it_is_is_not_sent_again(
    serve: Serve, folder: Path, web: ChangingDemo
) -> None:
    quiet = next(
        life
        for life in web.lives(0)
        if life.page.host.name == TRUE and not life.is_noisy and not life.edits(200)
    )

    def ask(**headers: str) -> tuple[int, bytes, dict[str, str]]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(http.client.HTTPConnection("127.0.0.1", port)) as client:
            client.request("GET", quiet.page.path, headers={"Host": TRUE} | named)
            answer = client.getresponse()
            return answer.status, answer.read(), dict(answer.headers)

    with serve(folder) as port:
        status, sent, headers = ask()
        assert (status, bool(sent)) == (200, True)
        tag, modified = headers["ETag"], headers["Last-Modified"]
        assert ask(If_None_Match=tag)[:2] == (304, b"")
        assert ask(If_Modified_Since=modified)[:2] == (304, b"")
        assert ask(If_None_Match='"other"', If_Modified_Since=modified)[0] == 200
        assert ask(If_Modified_Since="Thu, 01 Jan 1998 00:00:00 GMT")[0] == 200
        assert ask(If_Modified_Since="yesterday")[0] == 200
