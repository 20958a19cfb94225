"""Doorways: pages of one button, which may be pressed; and pages that look like one."""

from __future__ import annotations

import pytest

from lswc.reading.doorway import DOORWAY_BYTES, Door, door

PAGE = "http://a.example/folder/page?x=1"


def found(html: str) -> Door | None:
    return door(html.encode(), PAGE)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<form method=post action=/in><button>Enter</button></form>",
         Door("http://a.example/in", "POST")),
        ("<form method=POST><input type=hidden name=t value='ก&'><input type=submit name=ok>",
         Door(PAGE, "POST", "t=%E0%B8%81%26&ok=")),
        ("<form action=in><input type=image src=e.png></form>",
         Door("http://a.example/folder/in")),
        ("<form><label><input type=checkbox name=a>18+</label><button name=b value=1>Go</button>",
         Door("http://a.example/folder/page?a=on&b=1")),
        ("<form action=https://bye.example/><button>No</button></form>"
         "<form action=/in method=post><button>Yes</button></form>",
         Door("http://a.example/in", "POST")),
        ("<meta http-equiv=Refresh content='2; url=/next?a=1'>",
         Door("http://a.example/next?a=1", is_button=False)),
        ("<meta http-equiv=refresh content=0>", Door(PAGE, is_button=False)),
    ],
)  # fmt: skip
def test_a_doorway_says_what_its_button_asks_for(html: str, expected: Door) -> None:
    assert found(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<p>no form",
        "<form action=/in><input name=q><button>Search</button></form>",
        "<form><input type=password name=p><button>In</button></form>",
        "<form><select name=year><option>1990</select><button>In</button></form>",
        "<form><textarea name=t></textarea><button>In</button></form>",
        "<form><input type=radio name=t><button>In</button></form>",
        "<form><button>Yes</button><button>No</button></form>",
        "<form></form>",
        "<a href=/in>Enter</a><a href=//bye.example/>Leave</a>",
        "<form action=/account/delete method=post><button>OK</button></form>",
        "<form method=post action=/list><input type=hidden name=op value=unsubscribe><button>OK",
        "<form method=post><input type=hidden name=x value=checkout><button>OK</button></form>",
        "<form action=/1><button>1</button></form><form action=/2><button>2</button></form>",
        "<form action=//other.example/><button>OK</button></form>",
        "<form action=/in><button>In</button></form>" + "<a href=/x>x</a>" * 7,
        "<form action=/in><button>In</button></form>" + "text " * 700,
        "<form action=/in><button>In</button></form>" + "<!-- -->" * DOORWAY_BYTES,
        "<template><form action=/in><button>In</button></form></template>",
        "<meta http-equiv=refresh content='600'>",
        "<meta http-equiv=refresh content='1.2.3; url=x'>",
        "<meta http-equiv=refresh content=''>",
    ],
)
def test_other_pages_are_none(html: str) -> None:
    assert found(html) is None


def test_a_header_may_wait_as_meta_does() -> None:
    assert door(b"<p>Wait", PAGE, refresh="1; url=/in") == Door(
        "http://a.example/in", is_button=False
    )
    assert door(b"<p>Wait", PAGE, refresh="600; url=/in") is None


@pytest.mark.parametrize("charset", ["utf-8", "tis-620", "no-such", "rot13", ""])
def test_any_charset_is_read(charset: str) -> None:
    html = b"<form action=/in method=post><button>\xe0\xb9\x80\xff</button></form>"
    assert door(html, PAGE, charset) == Door("http://a.example/in", "POST")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<a href=/in#x>Enter</a><a href=//bye.example/>Leave</a>", "http://a.example/in"),
        ("<a href=/in>Enter</a>", ""),
        ("<a href=/in>Enter</a><a href=/x>x</a><a href=//bye.example/>Leave</a>", ""),
        ("<a href=/logout>Out</a><a href=//bye.example/>Leave</a>", ""),
        ("<a href=/in>Sign in</a><a href=//bye.example/>Leave</a>", ""),
        ("<a href=/in>Enter</a>" + "<a href=//bye.example/>Leave</a>" * 3, ""),
        ("<b onclick=\"location.href='/in#x'\">Enter</b>", "http://a.example/in"),
        ("<b onclick=\"location='/in'\">Yes</b><b onclick=\"location='//bye.example/'\">No</b>",
         "http://a.example/in"),
        ("<b onclick=\"location='/1'\">1</b><b onclick=\"location='/2'\">2</b>", ""),
        ("<b onclick=\"location='/in'\">Log in</b>", ""),
        ("<b onclick=\"alert('/in')\">Enter</b>", ""),
    ],
)  # fmt: skip
def test_a_front_page_of_two_links_or_buttons_may_be_a_doorway(html: str, expected: str) -> None:
    said = door(html.encode(), "http://a.example/")
    assert (said.url if said else "") == expected
