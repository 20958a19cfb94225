from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.safety.content import is_html


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"<p>", True),
        ("Text/HTML; charset=tis-620", b"", True),
        ("application/xhtml+xml", b"<?xml version='1.0'?>", True),
        ("text/html", "ไม่มีแท็ก".encode(), True),
        ("", b"  <!DOCTYPE html>", True),
        ("", b"\xef\xbb\xbf<html>", True),
        ("unknown/unknown", b"words first <table border=1>", True),
        ("", b"only words", False),
        ("", b"x" * 1439 + b"<body>", True),
        ("", b"x" * 1440 + b"<body>", False),
        ("", b"", False),
        ("text/plain", b"<html>", False),
        ("image/png", b"<html>", False),
        ("text/html", b"%PDF-1.7", False),
        ("text/html", b"PK\x03\x04", False),
        ("text/html", b"\x89PNG\r\n\x1a\n", False),
        ("text/html", b"\x00\x00\x00\x18ftypmp42", False),
        ("text/html", b"RIFF\x01\x02\x03\x04WAVE", False),
        ("text/html", b"MZ\x90\x00\x03\x00\x00\x00", False),
        ("text/html", gzip.compress(b"<html>", mtime=0), False),
        ("text/html", b"MZ is how this page begins", True),
    ],
)
def test_is_html(content_type: str, body: bytes, expected: bool) -> None:
    assert is_html(content_type, body) is expected


@given(st.text(), st.binary())
def test_any_bytes_get_an_answer(content_type: str, body: bytes) -> None:
    assert is_html(content_type, body) in (True, False)
