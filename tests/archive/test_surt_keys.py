"""Keys of the index: those of the library, whichever way they are made."""

from __future__ import annotations

import surt
from hypothesis import example, given
from hypothesis import strategies as st

from lswc.archive.cdxj import surt_of

_SERVERS = ["www.example.co.th", "www2.a.th", "a.th:8080", "a.th:80", "a.th:443", "www.th", "a..b",
            "x-y.z", ".a", "user@a.th", "www", "xn--12c1fe0br.th"]  # fmt: skip
_PARTS = ["a", "B", "7", "/", ".", "..", "%E0", "%b8", "%41", "%25", "%2", "%", "?", "?b=a&A", "#x",
          "(S(", ".aspx", ";", ":", "@", "~", "$", "www.", "ก", " "]  # fmt: skip


@given(
    st.sampled_from(["http", "https"]),
    st.sampled_from(_SERVERS),
    st.lists(st.sampled_from(_PARTS), max_size=6).map("".join),
)
@example("http", "www.example.co.th", "Folder/%E0%B8%81.html")
@example("https", "a.th:8080", "a/b/")
@example("http", "a.th", "a//b")
@example("http", "a.th", "a/../b")
@example("http", "a.th", "%41")
@example("http", "a.th", "a?")
@example("http", "a.th", "a\n")
@example("https", "a.th:80", "")
def test_a_key_is_the_librarys(scheme: str, server: str, path: str) -> None:
    url = f"{scheme}://{server}/{path}"
    assert surt_of(url) == surt.surt(url)
