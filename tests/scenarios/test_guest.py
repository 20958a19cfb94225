"""How the crawl behaves as a guest, as the servers see it.

Times are measured where the requests arrive, and only ever as "not earlier than": a busy machine
makes a guest later, never too early.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from email.utils import formatdate
from itertools import pairwise
from random import Random
from time import time
from typing import TYPE_CHECKING

import pytest

from lswc.corpus.writing import OPTED_OUT, write
from lswc.guest.server_rules import TDMREP_PATH
from tests.archive.reading import records
from tests.scenarios import server_view
from tests.scenarios.guest_web import HTTPS_ONLY, Answer, Given, GuestWeb, Negotiated, serving
from tests.scenarios.site import ENGLISH, THAI, Site, page

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

HUB = "http://hub.example/"
RULES = {f"{HUB}robots.txt", HUB + TDMREP_PATH[1:]}
WEB = "tests.scenarios.guest_web.Resolver"


def crawl(folder: Path, answers: Mapping[str, Given], **settings: object) -> tuple[Site, GuestWeb]:
    """Crawl from the hub to the end; gives the crawl and what the servers noticed."""
    site, web = Site(folder / "web", folder / "crawl"), GuestWeb(answers)
    site.add("never.example/", "a web needs a host")
    site.seeds(HUB)
    given = {
        "LSWC_MAX_DUPLICATES": 0, "TWISTED_DNS_RESOLVER": WEB, "LSWC_MAX_PER_ADDRESS": 0, **settings
    }  # fmt: skip
    with serving(web, folder) as environment, pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        site.crawl(**given)
    return site, web


def robots(text: str) -> Answer:
    return Answer(f"User-agent: *\n{text}\n", headers={"Content-Type": "text/plain"})


# --- What pages ask for ----------------------------------------------------------------------

WORDS = ("noindex", "noarchive", "nofollow", "none")
WAYS = ("meta", "meta-lswc", "header", "header-lswc", "header-other", "header-others")
"""How a page says it: the last two say it to another robot only."""


def telling(word: str, way: str) -> Answer:
    """Return a page that asks for something, with a link to the page behind it."""
    html = page(THAI, f"/behind-{way}-{word}.html")
    match way:
        case "meta":
            return Answer(f"<meta name=ROBOTS content='Follow, {word.upper()}'>{html}")
        case "meta-lswc":
            return Answer(f"<meta name=lswc content={word}>{html}")
    agent = {"header": "", "header-lswc": "lswc: ", "header-other": "otherbot: "}
    value = f"{agent[way]}{word}" if way in agent else f"otherbot: max-snippet:5, {word}"
    return Answer(html, headers={"X-Robots-Tag": value})


def asking() -> dict[str, Given]:
    """Return a web in which each word is said in each way."""
    places = [(word, way) for word in WORDS for way in WAYS]
    rel = '<a rel="nofollow" href="/behind-rel.html">x</a>'
    answers: dict[str, Given] = {
        HUB: Answer(page(THAI, *(f"/{way}-{word}.html" for word, way in places)) + rel),
        f"{HUB}behind-rel.html": Answer(page(THAI)),
    }
    for word, way in places:
        answers[f"{HUB}{way}-{word}.html"] = telling(word, way)
        answers[f"{HUB}behind-{way}-{word}.html"] = Answer(page(THAI))
    return answers


@pytest.mark.parametrize(
    ("setting", "ends", "unfollowed"),
    [
        ("", {}, []),
        ("nofollow", {}, ["nofollow", "none"]),
        (
            "nofollow,noindex,noarchive",
            {"noindex": "noindex", "none": "noindex", "noarchive": "noarchive"},
            ["nofollow", "none"],
        ),
    ],
)
def test_what_pages_ask_of_robots(
    tmp_path: Path, setting: str, ends: dict[str, str], unfollowed: list[str]
) -> None:
    answers = asking()
    site, web = crawl(tmp_path, answers, LSWC_ROBOTS_META=setting, LSWC_ARCHIVE="all")
    told = [(word, way) for word in WORDS for way in WAYS if "other" not in way]
    unkept = {f"{HUB}{way}-{word}.html" for word, way in told if word in ends}
    behind = {f"{HUB}behind-{way}-{w}.html" for w, way in told if w in unfollowed}
    if setting:
        behind.add(f"{HUB}behind-rel.html")
    assert set(web.urls) == {*answers, f"{HUB}robots.txt"} - behind
    assert set(site.urls) == answers.keys() - behind - unkept
    kinds = ("response", "revisit")
    archived = {record.url for record in records(site.folder) if record.type in kinds}
    assert archived == {*site.urls, f"{HUB}robots.txt"}
    times = len(told) // len(WORDS)
    finished = {"html": len(site.urls)}
    for end in ends.values():
        finished[end] = finished.get(end, 0) + times
    assert site.summary["finished"] == finished
    links = times * len(unfollowed) + bool(setting)
    assert site.summary["discarded"] == ({"nofollow": links} if links else {})


# --- In which language, and who asks ----------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "asked", "language"),
    [("", "th, *;q=0.5", "th"), ("en, th;q=0.5", "en, th;q=0.5", "en")],
)
def test_a_server_that_negotiates_gives_its_pages_in_the_language(
    tmp_path: Path, setting: str, asked: str, language: str
) -> None:
    site, web = crawl(
        tmp_path,
        {HUB: Negotiated({"en": Answer(page(ENGLISH)), "th": Answer(page(THAI))})},
        LSWC_ACCEPT_LANGUAGE=setting,
        LSWC_CONTACT="crawl@library.example",
    )
    assert [visit.headers["Accept-Language"] for visit in web.of("hub.example")] == [asked]
    assert all(visit.headers["From"] == "crawl@library.example" for visit in web.visits)
    # Players of archives know no others.
    codings = {visit.headers["Accept-Encoding"] for visit in web.visits}
    assert codings == {"identity", "gzip, deflate, br"}
    (record,) = site.records
    assert (record["content_language"], record["vary"]) == (language, "Accept-Language")
    assert record["relevant"] == (language == "th")


OPT_OUTS: dict[str, Given] = {
    f"{HUB}meta": Answer(f'<meta name="TDM-Reservation" content="1">{page(THAI)}'),
    f"{HUB}noai": Answer(page(THAI), headers={"X-Robots-Tag": "noai"}),
    f"{HUB}usage": Answer(page(THAI), headers={"Content-Usage": "train-ai=n"}),
    f"{HUB}none": Answer(page(THAI * 2), headers={"Content-Usage": "train-ai=y"}),
    f"{HUB}signal": Answer(page(THAI)),
    f"{HUB}search": Answer(page(THAI * 3), headers={"Content-Signal": "search=no, ai-train=yes"}),
    f"{HUB}named": Answer(page(THAI)),
    f"{HUB}copy": Answer(page(THAI)),
}


@pytest.mark.parametrize(
    ("setting", "archived", "in_corpus", "left_out"),
    [("record", 9, 9, 0), ("skip-corpus", 9, 3, 6), ("skip-archive", 4, 4, 0)],
)
def test_pages_that_must_not_be_mined(
    tmp_path: Path, setting: str, archived: int, in_corpus: int, left_out: int
) -> None:
    answers = {HUB: Answer(page(THAI, *OPT_OUTS)), **OPT_OUTS}
    answers[f"{HUB}robots.txt"] = robots(
        "Content-Usage: /usage bots=n, search=n\nContent-Signal: /signal ai-train=no,search=yes\n"
        "User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /named"
    )
    site, _ = crawl(tmp_path, answers, LSWC_OPT_OUT=setting)
    assert {record["url"].removeprefix(HUB): record["opt_outs"] for record in site.records} == {
        "": [],
        "meta": ["tdm-reservation=1 (META)"],
        "noai": ["noai (X-Robots-Tag)"],
        "usage": ["bots=n (robots.txt)", "train-ai=n (Content-Usage)"],
        "none": [],
        "signal": ["ai-train=no (robots.txt)"],
        "search": ["search=no (Content-Signal)"],
        "named": ["disallow=CCBot GPTBot (robots.txt)"],
        "copy": [],
    }
    stored = {r.url for r in records(site.folder) if r.type in ("response", "revisit")}
    assert len(stored - RULES) == archived
    total = write([site.folder], tmp_path / "corpus").total
    assert (total.rows, total.left_out[OPTED_OUT]) == (in_corpus, left_out)
    if left_out:
        assert total.opt_outs == {
            "tdm-reservation=1 (META)": 1,
            "noai (X-Robots-Tag)": 1,
            "bots=n (robots.txt)": 1,
            "train-ai=n (Content-Usage)": 1,
            "ai-train=no (robots.txt)": 1,
            "disallow=CCBot (robots.txt)": 1,
            "disallow=GPTBot (robots.txt)": 1,
            "copy": 1,
        }


PLACES = ("open", "closed", "own")
RESERVED = "tdm-reservation=1 (tdmrep.json)"
FILE = """[{"location": "/open", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]"""


def reserving() -> dict[str, Given]:
    """Return servers that reserve their pages: but for one page, by a redirect, or badly."""
    hosts = ("all", "moved", "wild", "fails", "loops", "forbids")
    urls = [f"http://{host}.example/{path}" for host in hosts for path in PLACES]
    pages = {url: Answer(page(THAI + url)) for url in urls}
    own = Answer(page(THAI), headers={"TDM-Reservation": "0"})
    return {
        HUB: Answer(page(ENGLISH, *pages, "http://english.example/")),
        **pages,
        "http://all.example/own": own,
        "http://english.example/": Answer(page(ENGLISH)),
        "http://all.example/.well-known/tdmrep.json": Answer(FILE, takes=0.2),
        "http://moved.example/.well-known/tdmrep.json": moved("/tdm"),
        "http://moved.example/tdm": Answer(FILE),
        "http://wild.example/.well-known/tdmrep.json": Answer("[" * 3_000_000, claims=9_000_000),
        "http://fails.example/.well-known/tdmrep.json": Answer(status=0),
        "http://loops.example/.well-known/tdmrep.json": moved("/.well-known/tdmrep.json"),
        "http://forbids.example/.well-known/tdmrep.json": Answer(FILE),
        "http://forbids.example/robots.txt": robots("Disallow: /.well-known/"),
    }


def test_what_a_server_reserves(tmp_path: Path, subtests: pytest.Subtests) -> None:
    """A server is asked once, in its turn, when a page of it is to be kept."""
    delay = {"DOWNLOAD_DELAY": 0.5, "LSWC_DELAY_FACTOR": 0}
    site, web = crawl(tmp_path, reserving(), LSWC_OPT_OUT="skip-archive", **delay)
    said = {record["url"]: record["opt_outs"] for record in site.records}
    for host in ("all", "moved"):
        with subtests.test(host):
            assert said[f"http://{host}.example/closed"] == [RESERVED]
            assert said[f"http://{host}.example/open"] == []
    with subtests.test("the page's own word counts more"):
        assert said["http://all.example/own"] == []
    with subtests.test("a file that can't be had or read, or is forbidden, says nothing"):
        for host in ("wild", "fails", "loops", "forbids"):
            assert [said[f"http://{host}.example/{path}"] for path in PLACES] == [[], [], []]
    asked = Counter(v.url.split("/")[2] for v in web.visits if v.path == TDMREP_PATH)
    with subtests.test("asked once, and only servers with a page to keep"):
        times = {"all": 1, "fails": 1, "loops": 6, "moved": 1, "wild": 1}
        assert asked == {f"{host}.example": number for host, number in times.items()}
    with subtests.test("in its turn"):
        assert server_view.too_many(web.visits, server_view.server, 1, 0.5) == []
    with subtests.test("what is reserved isn't archived, what isn't is"):
        stored = {r.url for r in records(site.folder) if r.type in ("response", "revisit")}
        pages = {url for url in said if not said[url] and "hub" not in url and "english" not in url}
        assert {url for url in stored if url.rpartition("/")[2] in PLACES} == pages
    assert site.summary["finished"] == {"html": 20}
    assert site.summary["content"]["opt-out"] == 3


# --- http and https --------------------------------------------------------------------------

ONLY = f"https://{HTTPS_ONLY}/"


def moved(target: str) -> Answer:
    return Answer(status=301, headers={"Location": target})


LETTERS = "กขคงจฉชซดตถทนบปผพฟมยรลวสหอ"


def text_of(name: str) -> str:
    """Return a text of a page's own: where many say the same, the network is doubted."""
    return THAI + "".join(Random(name).choices(LETTERS, k=1_500))


TWINS: dict[str, Given] = {
    HUB: Answer(
        page(
            THAI,
            *("http://both.example/", "https://both.example/", "https://both.example/s.html"),
            *("http://both.example/s.html", "http://both.example/p.html"),
            *("http://secure.example/", "http://plain.example/", "https://back.example/"),
            *("http://circle.example/", f"http://{HTTPS_ONLY}/", f"{ONLY}a.html"),
            *(f"http://{HTTPS_ONLY}/closed/", "http://chain.example/"),
        )
    ),
    "http://both.example/": Answer(page(text_of("both.example/"), "https://both.example/p.html")),
    "https://both.example/": Answer(page(text_of("both.example/"))),
    "http://both.example/s.html": Answer(page(text_of("both.example/s.html"))),
    "https://both.example/s.html": Answer(page(text_of("both.example/s.html"))),
    "http://both.example/p.html": Answer(page(text_of("both.example/p.html"))),
    "http://secure.example/": moved("https://secure.example/"),
    "https://secure.example/": Answer(
        page(text_of("secure.example/"), "http://secure.example/a.html")
    ),
    "http://secure.example/a.html": moved("https://secure.example/b.html"),
    "https://secure.example/b.html": Answer(page(text_of("secure.example/b.html"))),
    "http://plain.example/": Answer(page(text_of("plain.example/"))),
    "https://back.example/": moved("http://back.example/"),
    "http://back.example/": Answer(page(text_of("back.example/"))),
    "http://circle.example/": moved("https://circle.example/"),
    "https://circle.example/": moved("http://circle.example/"),
    "http://chain.example/": moved("http://www.chain.example/"),
    "http://www.chain.example/": moved("https://chain.example/"),
    "https://chain.example/": Answer(page(text_of("chain.example/"), "http://chain.example/")),
    ONLY: Answer(page(text_of("only"))),
    f"{ONLY}a.html": Answer(page(text_of("only/a.html"))),
    f"{ONLY}closed/": Answer(page(text_of("only/closed/"))),
    f"{ONLY}robots.txt": robots("Disallow: /closed/"),
}


def test_twins_are_one_page_at_whichever_answers(tmp_path: Path, subtests: pytest.Subtests) -> None:
    site, web = crawl(tmp_path, TWINS)
    asked = web.urls
    with subtests.test("no page is asked for by http and by https"):
        for url in ("both.example/", "both.example/s.html", "both.example/p.html"):
            assert asked[f"http://{url}"] + asked[f"https://{url}"] == 1
    with subtests.test("the records name who answered"):
        assert sorted(site.urls) == sorted([
            HUB, "http://both.example/", "https://both.example/s.html",
            "http://both.example/p.html", "https://secure.example/",
            "https://secure.example/b.html", "http://plain.example/", "http://back.example/",
            ONLY, f"{ONLY}a.html", "https://chain.example/",
        ])  # fmt: skip
    with subtests.test("a redirect to the twin is no other page"):
        assert site.summary["finished"] == {
            "html": 11, "redirect": 1, "redirect loop": 1, "robots.txt": 1,
        }  # fmt: skip
    with subtests.test("a chain of redirects ends at the twin of its start"):
        assert asked["http://chain.example/"] == asked["https://chain.example/"] == 1
    with subtests.test("a server without http has its robots.txt read by https"):
        assert asked[f"{ONLY}robots.txt"]
        assert not asked[f"{ONLY}closed/"]


# --- When a guest comes again ----------------------------------------------------------------

DELAY = 0.1
FACTOR = 5
MOST_DELAY = 1.5
RETRY = 2
BACKOFF = 0.5


def first(answer: Callable[[], Answer], then: Answer) -> Callable[[int], Answer]:
    """Give another answer to the first visit."""
    return lambda times: then if times else answer()


def busy(retry_after: str, status: int = 503) -> Answer:
    return Answer("busy", status, {"Retry-After": retry_after})


def until(seconds: int) -> Callable[[], Answer]:
    """Ask to come back at a full second so many seconds ahead, at most."""
    return lambda: busy(formatdate(int(time()) + seconds, usegmt=True))


HOSTS = (
    *("steady", "slow", "delay", "delay-more", "crash", "retry", "retry-date", "retry-more"),
    *("retry-date-more", "retry-silent", "robots-busy", "robots-failing"),
)
PATHS = ("/", "/1", "/2")
PAGE = Answer(page(THAI))
TIMED: dict[str, Given] = {
    **{f"http://{host}.example{path}": PAGE for host in HOSTS for path in PATHS},
    HUB: Answer(page(THAI, *(f"http://{host}.example{path}" for host in HOSTS for path in PATHS))),
    **{f"http://slow.example{path}": Answer(page(THAI), takes=0.25) for path in PATHS},
    "http://delay.example/robots.txt": Answer(
        f"User-agent: lswc\nCrawl-delay: {MOST_DELAY}\n\nUser-agent: *\nCrawl-delay: 1000\n",
        headers={"Content-Type": "text/plain"},
        takes=1,
    ),
    "http://delay-more.example/robots.txt": robots(f"Crawl-delay: {MOST_DELAY + 0.1}"),
    "http://crash.example/robots.txt": robots("Crawl-delay: 1"),
    "http://crash.example/": first(lambda: Answer(status=0, takes=0.5), PAGE),
    "http://retry.example/": first(lambda: busy(str(RETRY), 429), PAGE),
    "http://retry-date.example/": first(until(RETRY), PAGE),
    "http://retry-more.example/": busy("3601", 429),
    "http://retry-date-more.example/": first(until(3700), PAGE),
    "http://retry-silent.example/": Answer("busy", 503),
    "http://robots-busy.example/robots.txt": first(lambda: busy("1", 429), robots("Disallow: /1")),
    "http://robots-failing.example/robots.txt": busy("1"),
}


def gaps(web: GuestWeb, host: str) -> list[float]:
    """Return the seconds between the visits to the pages of a server."""
    visits = web.of(host)
    return [after.at - before.at for before, after in pairwise(visits)]


def test_a_guest_never_comes_too_early(tmp_path: Path, subtests: pytest.Subtests) -> None:
    site, web = crawl(
        tmp_path,
        TIMED,
        DOWNLOAD_DELAY=DELAY,
        LSWC_DELAY_FACTOR=FACTOR,
        LSWC_BACKOFF=BACKOFF,
        LSWC_MAX_CRAWL_DELAY=MOST_DELAY,
    )
    for host, seconds in {
        "steady.example": DELAY,
        "slow.example": 0.25 + FACTOR * 0.25,
        "delay.example": MOST_DELAY,
        "crash.example": 1,
    }.items():
        with subtests.test(host):
            found = gaps(web, host)
            assert len(found) >= 2
            assert min(found) >= seconds
    with subtests.test("a Crawl-delay above the limit"):
        assert not web.of("delay-more.example")
        assert site.summary["finished"]["Crawl-delay too long"] == 3
    with subtests.test("Retry-After in seconds"):
        visits = web.of("retry.example")
        assert [visit.path for visit in visits] == ["/", "/", "/1", "/2"]
        assert visits[1].at - visits[0].at >= RETRY
    with subtests.test("Retry-After as a date"):
        visits = web.of("retry-date.example")
        assert [visit.path for visit in visits] == ["/", "/", "/1", "/2"]
        assert visits[1].clock >= int(visits[0].clock) + RETRY
    with subtests.test("without Retry-After LSWC_BACKOFF, then twice as long each time"):
        found = gaps(web, "retry-silent.example")
        assert [visit.path for visit in web.of("retry-silent.example")] == [*"///", "/1", "/2"]
        assert [gap >= BACKOFF * 2**times for times, gap in enumerate(found[:3])] == [True] * 3
    with subtests.test("a Retry-After above the limit"):
        for host in ("retry-more.example", "retry-date-more.example"):
            assert [visit.path for visit in web.of(host)] == ["/"]
        assert site.summary["finished"]["Retry-After too long"] == 4
    with subtests.test("a robots.txt that is to be asked for later"):
        visits = web.of("robots-busy.example", robots=True)
        assert [visit.path for visit in visits] == ["/robots.txt", "/robots.txt", "/", "/2"]
        assert visits[1].at - visits[0].at >= 1
    with subtests.test("a robots.txt that never comes"):
        visits = web.of("robots-failing.example", robots=True)
        assert [visit.path for visit in visits] == ["/robots.txt"] * 9
        assert all(after.at - before.at >= 1 for before, after in pairwise(visits))
    with subtests.test("each end is counted"):
        assert site.summary["finished"] == {
            "html": 23, "Crawl-delay too long": 3, "Retry-After too long": 4, "robots.txt": 1,
            "robots.txt unavailable": 3, "status 429": 1, "status 503": 2,
        }  # fmt: skip


# --- How many come at once -------------------------------------------------------------------

SERVERS = 4
SLOW = [
    *(f"http://s0.example{path}" for path in ("/", "/1", "/2", "/3", "/4", "/5")),
    *("https://s0.example/6", "https://s0.example/7", "http://s0.example:8080/"),
    *(f"http://s{server}.example/{number}" for number in range(2) for server in range(1, 9)),
]


def slow() -> dict[str, Given]:
    """Return slow servers of which all but the first have their robots.txt there."""
    answers: dict[str, Given] = {url: Answer(page(THAI), takes=0.1) for url in SLOW}
    for server in range(1, 9):
        answers[f"http://s{server}.example/robots.txt"] = moved(f"http://s0.example/r{server}")
        answers[f"http://s0.example/r{server}"] = Answer("", takes=0.1)
    return answers | {HUB: Answer(page(THAI, *SLOW))}


def test_one_at_a_time_to_a_server_and_so_many_servers(tmp_path: Path) -> None:
    given = {"CONCURRENT_REQUESTS": SERVERS, "DOWNLOAD_DELAY": 0.01, "LSWC_DELAY_FACTOR": 0}
    site, web = crawl(tmp_path, slow(), **given)
    assert sorted(site.urls) == sorted([HUB, *SLOW])
    assert max(visit.at_once for visit in web.visits) == 1
    assert 1 < max(visit.in_all for visit in web.visits) <= SERVERS


# --- robots.txt that is large, cut short, or out of date --------------------------------------

CUT = "User-agent: *\nDisallow: /1\n"
LARGE = CUT + "# " + "x" * 12_000_000


def robots_and_pages() -> dict[str, Given]:
    hosts = ("large", "claims", "short", "gzip", "renewed", "kept", "fails-later")
    pages = {f"http://{host}.example{path}": PAGE for host in hosts for path in PATHS}
    later = Answer("User-agent: *\nDisallow: /2", headers={"Cache-Control": "max-age=1"})
    return {
        HUB: Answer(page(THAI, *pages)),
        **pages,
        "http://large.example/robots.txt": Answer(LARGE),
        "http://gzip.example/robots.txt": Answer(LARGE, coded="gzip"),
        "http://claims.example/robots.txt": Answer(CUT, claims=20_000_000),
        "http://short.example/robots.txt": lambda times: Answer(CUT, claims=0 if times else 999),
        "http://renewed.example/robots.txt": lambda times: replace(
            robots("Disallow: /2" if times else "Disallow: /1"),
            headers={"Cache-Control": "public, max-age=1"},
        ),
        "http://kept.example/robots.txt": robots("Disallow: /1"),
        "http://fails-later.example/robots.txt": lambda times: busy("1") if times else later,
    }


def test_robots_txt_whatever_its_size_and_age(tmp_path: Path, subtests: pytest.Subtests) -> None:
    site, web = crawl(
        tmp_path, robots_and_pages(), DOWNLOAD_DELAY=1.1, LSWC_DELAY_FACTOR=0, LSWC_BACKOFF=0
    )

    def asked(host: str) -> list[str]:
        return [visit.path for visit in web.of(f"{host}.example", robots=True)]

    for host in ("large", "gzip", "kept"):
        with subtests.test(host):
            assert asked(host) == ["/robots.txt", "/", "/2"]
    with subtests.test("one that is cut short says nothing"):
        assert asked("claims") == ["/robots.txt"] * 9
    with subtests.test("one that was cut short is asked for again"):
        assert asked("short") == ["/robots.txt", "/robots.txt", "/", "/2"]
    with subtests.test("one that has expired is asked for again"):
        assert asked("renewed") == ["/robots.txt", "/", "/robots.txt", "/1", "/robots.txt"]
    with subtests.test("rules go on while the server fails to give new ones"):
        assert asked("fails-later") == ["/robots.txt", "/", "/robots.txt", "/1"]
    with subtests.test("the delay counts from the end of an answer, robots.txt included"):
        for host in ("large", "gzip", "short", "renewed", "kept", "fails-later"):
            visits = web.of(f"{host}.example", robots=True)
            gaps = [after.at - before.ended for before, after in pairwise(visits)]
            assert min(gaps) >= 1.1, host
    assert site.summary["finished"] == {"html": 13, "robots.txt": 6, "download failed": 3}
