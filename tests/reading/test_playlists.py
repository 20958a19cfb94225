"""What playlists of video name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.playlists import SEGMENTS, in_playlist, is_playlist

MASTER = """#EXTM3U
#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="th, en",URI="audio/th.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1280000,CODECS="mp4a.40.2"
low/index.m3u8
"""
MEDIA = """#EXTM3U
#EXT-X-KEY:METHOD=AES-128,URI="key.bin",IV=0x1
#EXT-X-MAP:URI="init.mp4"
#EXTINF:9.0,
s1.ts
#EXTINF:9.0,
/s2.ts?x=1

#EXT-X-ENDLIST
"""
NUMBERED = """<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" mediaPresentationDuration="PT0M10.5S">
 <BaseURL>video/</BaseURL><Period><AdaptationSet>
  <SegmentTemplate media="$RepresentationID$/$Number%03d$.m4s" startNumber="5" timescale="10"
   duration="40" initialization="$RepresentationID$/init.mp4"/>
  <Representation id="low" bandwidth="1"/><Representation id="high" bandwidth="2"/>
 </AdaptationSet></Period></MPD>"""
TIMED = """<MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period duration="PT9S"><AdaptationSet>
 <Representation id="v"><SegmentTemplate media="v-$Time$.m4s"><SegmentTimeline>
 <S t="100" d="20" r="1"/><S d="5"/></SegmentTimeline></SegmentTemplate></Representation>
 <Representation id="whole"><BaseURL>whole.mp4</BaseURL></Representation>
 <Representation id="list"><SegmentList><Initialization sourceURL="i.mp4"/>
 <SegmentURL media="l1.m4s"/></SegmentList></Representation>
 </AdaptationSet></Period></MPD>"""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (MASTER, ["audio/th.m3u8", "low/index.m3u8"]),
        (MEDIA, ["key.bin", "init.mp4", "s1.ts", "/s2.ts?x=1"]),
        (
            NUMBERED,
            [
                f"video/{one}/{name}"
                for one in ("low", "high")
                for name in ("init.mp4", "005.m4s", "006.m4s", "007.m4s")
            ],
        ),
        (TIMED, ["v-100.m4s", "v-120.m4s", "v-140.m4s", "whole.mp4", "i.mp4", "l1.m4s"]),
    ],
)
def test_segments_are_named_in_their_order(text: str, names: list[str]) -> None:
    assert is_playlist(text.encode())
    assert list(in_playlist(text)) == names


def test_a_playlist_without_end_has_one() -> None:
    endless = NUMBERED.replace("PT0M10.5S", "P999999DT1S")
    assert len(list(in_playlist(endless))) == SEGMENTS
    repeated = TIMED.replace('r="1"', 'r="999999999"')
    assert len(list(in_playlist(repeated))) <= SEGMENTS
    assert (
        len(list(in_playlist("#EXTM3U\n" + "".join(f"{n}.ts\n" for n in range(9_999))))) == SEGMENTS
    )


def test_other_files_are_none() -> None:
    for body in (b"", b"<html><MPD>", b"\0\0\0\x18ftyp", b"#EXTINF", b"<?xml version='1.0'?><rss>"):
        assert not is_playlist(body)


@given(st.text(alphabet='<>/="$%# \nMPDSegmntTlaeURI:x19&;', max_size=200))
def test_whatever_it_says_it_is_read(text: str) -> None:
    list(in_playlist(f"#EXTM3U\n{text}"))
    list(in_playlist(f"<MPD>{text}"))
    list(in_playlist(text))
