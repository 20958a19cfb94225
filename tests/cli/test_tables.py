"""Tables whose words come from the web."""

from __future__ import annotations

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from lswc.cli.tables import counted, plain, table

HOSTILE = "\x1b[2J\x1b]0;title\x07\x9b31m\u202egpj.exe\u2066\ud800[red]\rx"


def printed(grid: object) -> str:
    out = StringIO()
    Console(file=out, force_terminal=True, color_system=None, width=200).print(grid)
    return out.getvalue().replace("\x1b[3m", "").replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_nothing_of_a_page_reaches_the_terminal_but_its_letters() -> None:
    shown = printed(table(HOSTILE, ("page",), [(HOSTILE,)]))
    shown += printed(counted(HOSTILE, {"group": {HOSTILE: 1}}))
    assert shown.count("gpj.exe") == shown.count("[red]") == 4
    assert not set(shown) & set("\x1b\x07\x9b\u202e\u2066\ud800\r")


def test_letters_of_all_scripts_stay() -> None:
    text = "ไทย ខ្មែរ\u200b မြန်မာ \u200cفارسی\u200d"
    assert text in printed(table("", ("",), [(text,)]))


@given(st.text())
def test_any_text_is_shown(text: str) -> None:
    assert printed(table(text, ("page",), [(text,)])).encode()


def test_hosts_are_shown_in_their_own_script() -> None:
    text = plain(table("xn--o3cw4h", ("a",), [("http://www.xn--72c1a.xn--o3cw4h/xn",)]))
    assert "ไทย" in text
    assert "xn--" not in text
    assert "xn--0" in plain(table("", ("a",), [("xn--0",)])), "no name in another script"
