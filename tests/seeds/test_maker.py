"""``scrapy seeds``; with ``--fetch`` it is as good a guest, and as safe, as a crawl."""

from __future__ import annotations

import re
from argparse import Namespace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from lswc.crawl.seed_files import read_seeds
from lswc.progress import silent
from lswc.seeds.candidates import SeedError
from lswc.seeds.maker import Made, make
from tests.scenarios.guest_web import PORTS, Answer, GuestWeb, serving
from tests.scenarios.site import ENGLISH, SCRAPY, THAI, page, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

LAO = "ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ ແລະຂ່າວມື້ນີ້ມີຫຼາຍເລື່ອງ "
PAGE = Answer(page(THAI))
PLAIN = {"Content-Type": "text/plain"}
ANSWERS: dict[str, Answer | Callable[[int], Answer]] = {
    "http://thai.example/": Answer(
        page(THAI * 40, "/linked.html", "http://linked.example/")  # too long for a doorway
    ),
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
# One is refused by robots.txt, of the other its https twin is in the list.
NOT_ASKED = {"http://closed.example/", "http://secure.example/"}


def fetch(folder: Path, urls: list[str], **settings: object) -> CompletedProcess[str]:
    """Make seed lists for Thai and Lao of these URLs, by fetching them."""
    (folder / "urls.csv").write_text("\n".join(urls))
    given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    command = ["seeds", folder / "urls.csv", "--lang", "th,lo", "--out", folder / "out"]
    return run([*SCRAPY, *map(str, command), "--fetch", *given])


@pytest.fixture
def on_web(tmp_path: Path) -> dict[str, object]:
    """Settings that lead every name to the web of the test."""
    (tmp_path / "web" / "never.example").mkdir(parents=True)
    return {
        "LSWC_WEB": tmp_path / "web",
        "TWISTED_DNS_RESOLVER": "tests.scenarios.guest_web.Resolver",
    }


@pytest.mark.slow
def test_candidates_are_fetched_as_in_a_crawl(
    tmp_path: Path, on_web: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    web = GuestWeb(ANSWERS)
    with serving(web, tmp_path) as environment:
        monkeypatch.setenv(PORTS, environment[PORTS])
        done = fetch(
            tmp_path, [*ASKED, "http://10.0.0.1/"], **on_web,
            DOWNLOAD_DELAY=0.1, LSWC_ROBOTS_META="noindex", LSWC_CONTACT="crawl@library.example",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()
    assert all(re.fullmatch(r"\d\d:\d\d:\d\d fetch, \d+% done", line) for line in said)
    for code, expected in EXPECTED.items():
        assert sorted(read_seeds(tmp_path / "out" / f"{code}.txt")) == sorted(expected)
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
    assert pages == {*ASKED, *EXPECTED["th"]} - NOT_ASKED
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
    assert done.returncode == 2, done.stderr
    assert done.stderr == ("scrapy seeds: error: no Thai or Lao page found: 3 address not public\n")
    assert web.visits == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "who crawls the real web? Give a URL or an e-mail address"),
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


def made(folder: Path, text: str, lang: str, **options: object) -> Made:
    """Make seed lists of a file, without fetching anything."""
    (folder / "given").write_text(text, "utf-8")
    given = {"format": "", "tlds": "", "most": 9, "per_domain": 3, "random_seed": 1,
             "source": "", "called": "", "dialects": False}  # fmt: skip
    opts = Namespace(
        **{**given, "fetch": False, "trust": False, "lang": lang, "out": folder / "out", **options}
    )
    return make(opts, [folder / "given"], Settings(), silent)


def listed(folder: Path, code: str) -> list[str]:
    text = (folder / "out" / f"{code}.txt").read_text("utf-8")
    return [line for line in text.splitlines() if line.startswith("http")]


def test_lists_by_what_the_source_says_and_what_was_passed_over(tmp_path: Path) -> None:
    rows = [
        "rank,domain,title,language", "1,a.com,The news of today in English,", "2,b.com,ข่าววันนี้,",
        "3,c.com,,lo", "4,www.d.co.th,,", "5,e.la,ข่าวภาษาไทย,", "6,f.com,,", "7,nonsense,,",
    ]  # fmt: skip
    told = made(tmp_path, "\n".join(rows), "th,lo,my")
    assert listed(tmp_path, "th") == ["http://b.com/", "http://www.d.co.th/", "http://e.la/"]
    assert listed(tmp_path, "lo") == ["http://c.com/"]
    assert told.remarks == [
        "no Burmese page found, no my.txt written",
        "of 1 URL the language isn't known: --fetch asks the pages, --trust takes the list's word",
    ]
    assert told.counts == {
        "read": {"usable": 6},
        "passed over": {"not a URL": 1, "another language": 1, "language not known": 1},
    }
    assert told.written == [
        f"{tmp_path}/out/th.txt: 3 Thai seeds", f"{tmp_path}/out/lo.txt: 1 Lao seed",
    ]  # fmt: skip


def test_a_variant_is_told_by_text_and_domain_not_by_the_languages_code(tmp_path: Path) -> None:
    rows = ["url,title,language", "a.com,,zh", "b.com.tw,,zh", "c.com.cn,,zh",
            "d.com,繁體中文網站的新聞與討論,zh", "e.com,简体中文网站的新闻与讨论,zh"]  # fmt: skip
    told = made(tmp_path, "\n".join(rows), "zh-Hant")
    assert sorted(listed(tmp_path, "zh-Hant")) == ["http://b.com.tw/", "http://d.com/"]
    assert told.counts["passed over"] == {"language not known": 3}


def test_a_list_is_taken_at_its_word_if_asked(tmp_path: Path) -> None:
    text = "a.com\na.com/2\na.com/3\nb.com\nc.com\n"
    told = made(tmp_path, text, "th", trust=True, per_domain=2, most=4)
    found = listed(tmp_path, "th")
    assert sorted(found[:3]) == ["http://a.com/", "http://b.com/", "http://c.com/"]
    assert found[3:] == ["http://a.com/2"]
    assert told.counts["passed over"] == {"enough seeds": 1}


def test_what_is_on_no_public_address_is_no_seed(tmp_path: Path) -> None:
    hosts = ("10.0.0.1", "127.0.0.1", "[::1]", "localhost", "169.254.1.1", "8.8.8.8", "a.com")
    told = made(tmp_path, "".join(f"http://{host}/\n" for host in hosts), "th", trust=True)
    assert sorted(listed(tmp_path, "th")) == ["http://8.8.8.8/", "http://a.com/"]
    assert told.counts["passed over"] == {"address not public": 5}


def test_the_list_names_its_source_and_kinds_and_says_that_nothing_was_visited(
    tmp_path: Path,
) -> None:
    text = "# News\n- https://a.com/\n- https://b.com/\n# Else\n- https://c.gov.th/\n"
    made(tmp_path, text, "th", trust=True, called="a page\nof mine · # <b>")
    found = (tmp_path / "out" / "th.txt").read_text("utf-8").splitlines()
    assert found[0].startswith("# Thai: ")
    heads = [line for line in found[1:] if line.startswith("#")]
    assert [head.rpartition(" · 20")[0] for head in heads] == [
        "# News · a page of mine <b>", "# Government · a page of mine <b>",
    ]  # fmt: skip
    assert all(head.endswith(" · not visited") for head in heads)


def test_the_command_prints_what_it_did(tmp_path: Path) -> None:
    (tmp_path / "given").write_text("1,www.bot.or.th\n2,a.com\n")
    out = tmp_path / "out"
    done = run([*SCRAPY, "seeds", str(tmp_path / "given"), "--lang", "th,lo", "--out", str(out)])
    assert done.returncode == 0
    said = done.stderr.splitlines()
    assert said[0] == "scrapy seeds: no Lao page found, no lo.txt written"
    assert said[1].startswith("scrapy seeds: of 1 URL the language isn't known: --fetch asks")
    counts = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "read usable 2" in counts
    assert "passed over language not known 1" in counts
    assert counts[-1] == f"{out}/th.txt: 1 Thai seed"


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", {}, "nothing usable in .*given: it is empty"),
        ("one\ntwo words\n", {}, "nothing usable in .*given: 2 not a URL"),
        ("a.com\n", {}, "of 1 URL the language isn't known: --fetch asks the pages"),
        ("a.com\n", {"format": "xls"}, "unknown format 'xls'; known: list, table"),
        ("a.com\n", {"per_domain": 0}, "--per-domain must be at least 1"),
        ("a.com\n", {"most": 0}, "--most must be at least 1"),
        ("a.com\n", {"trust": True, "fetch": True}, "--trust is for one language"),
        ("a,b\n", {"format": "table"}, "no column of URLs"),
    ],
)
def test_a_file_or_option_that_says_nothing_usable_is_one_line(
    tmp_path: Path, text: str, options: dict[str, object], said: str
) -> None:
    with pytest.raises(SeedError, match=said) as raised:
        made(tmp_path, text, "th", **options)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_files_of_two_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("http://a.co.th/")
    (tmp_path / "b").write_text("1,a.co.th")
    opts = Namespace(format="", lang="th", out=tmp_path / "out", most=9, per_domain=3, tlds="",
                     random_seed=1, fetch=False, trust=False, source="", called="",
                     dialects=False)  # fmt: skip
    with pytest.raises(SeedError, match="name files of one kind"):
        make(opts, [tmp_path / "a", tmp_path / "b"], Settings(), silent)
