"""Access to the page: by which names it may be asked, and who may give a crawl instructions."""

from __future__ import annotations

from socket import gethostname

import pytest

from lswc.workbench.access import Guard


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost:8080", True),
        ("LOCALHOST", True),
        ("crawls.example", True),
        ("crawls.example:443", True),
        ("Watch.example:80", True),
        (f"{gethostname()}:1", True),
        ("127.0.0.1:8080", True),
        ("[::1]:8080", True),
        ("192.168.0.9", True),
        ("rebound.example:8080", False),
        ("crawls.example.rebound.example", False),
        ("", False),
        (None, False),
    ],
)
def test_only_names_that_are_its_own_are_answered(host: str | None, known: bool) -> None:
    assert Guard("watch.example", "crawls.example:443").knows(host) is known


def test_without_a_name_none_is_meant() -> None:
    assert not Guard("0.0.0.0").knows("")  # noqa: S104
    assert Guard("0.0.0.0").knows("0.0.0.0:1")  # noqa: S104


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({}, True),
        ({"origin": "http://localhost:80"}, True),
        ({"origin": "https://localhost:80"}, True),
        ({"origin": "https://crawls.example:443"}, True),
        ({"origin": "http://crawls.example:443"}, False),
        ({"origin": "http://localhost:81"}, False),
        ({"origin": "null"}, False),
        ({"host": "rebound.example"}, False),
        ({"host": "rebound.example", "origin": "http://rebound.example"}, False),
        ({"x-lswc-token": None}, False),
        ({"x-lswc-token": ""}, False),
        ({"x-lswc-token": "ไทย"}, False),
    ],
)
def test_who_may_give_instructions(given: dict[str, str | None], taken: bool) -> None:
    guard = Guard("localhost", "Crawls.example:443")
    said = {"host": "localhost:80", "x-lswc-token": guard.token} | given
    assert guard.takes(said.get) is taken
