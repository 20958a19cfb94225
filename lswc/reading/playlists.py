"""Playlists of video and audio that comes in segments: HLS (RFC 8216) and DASH (ISO 23009-1)."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SEGMENTS = 1_000
"""Segments that are named of a playlist at most; a page has fewer requisites."""

_HLS = b"#EXTM3U"
_DASH = re.compile(rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,2000}?-->\s*)?<MPD[\s>]", re.DOTALL)
_URI = re.compile(r'^#EXT-X-(?:KEY|MAP|MEDIA|SESSION-KEY|I-FRAME-STREAM-INF|PART|PRELOAD-HINT):'
                  r'(?:[^"\n]|"[^"\n]*"){0,500}?\bURI="([^"\n]{1,2000})"')  # fmt: skip
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?$")
_VALUE = re.compile(r"\$(Number|Time|RepresentationID|Bandwidth|)(?:%0(\d)d)?\$")


def is_playlist(body: bytes) -> bool:
    """Tell whether a file is a playlist, whose media types are many."""
    return body.startswith((_HLS, b"\xef\xbb\xbf" + _HLS)) or _DASH.match(body) is not None


def in_playlist(text: str) -> Iterator[str]:
    """Yield what a playlist names, relative to it: other playlists, keys, segments in order."""
    names = _of_hls(text) if "#EXTM3U" in text[:20] else _of_dash(text)
    yield from islice(dict.fromkeys(islice(names, 10 * SEGMENTS)), SEGMENTS)


def _of_hls(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line and not line.startswith("#"):
            yield line.strip()
        elif (found := _URI.match(line)) is not None:
            yield found[1]


def _of_dash(text: str) -> Iterator[str]:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return
    if root is None:
        return
    whole = _seconds(root.get("mediaPresentationDuration"))
    yield from _of_element(root, "", whole, {}, None)


def _of_element(
    element: etree._Element,
    base: str,
    seconds: float,
    inherited: Mapping[str, str],
    template: etree._Element | None,
) -> Iterator[str]:
    """Yield what an element of a DASH manifest, and those in it, name.

    ``inherited`` are the attributes of those around it, ``template`` their SegmentTemplate.
    """
    attributes = {**inherited, **{str(name): str(value) for name, value in element.items()}}
    if _is(element, "Period"):
        seconds = _seconds(element.get("duration")) or seconds
    for child in element:
        if _is(child, "BaseURL") and child.text:
            base = _joined(base, child.text.strip())
        elif _is(child, "SegmentTemplate"):
            template = child
    for child in element:
        if _is(child, "Period", "AdaptationSet", "Representation"):
            yield from _of_element(child, base, seconds, attributes, template)
        elif _is(child, "SegmentList", "SegmentBase"):
            yield from _listed(child, base)
    if _is(element, "Representation") and template is not None:
        yield from _of_template(template, base, seconds, attributes)
    elif _is(element, "Representation") and base:
        yield base


def _listed(segments: etree._Element, base: str) -> Iterator[str]:
    for part in segments.iter():
        for name in ("sourceURL", "media"):
            if part.get(name):
                yield _joined(base, str(part.get(name)))


def _joined(base: str, name: str) -> str:
    try:
        return urljoin(base, name)
    except ValueError:  # no address at all
        return name


def _of_template(
    template: etree._Element, base: str, seconds: float, attributes: Mapping[str, str]
) -> Iterator[str]:
    values = {"RepresentationID": attributes.get("id", ""),
              "Bandwidth": attributes.get("bandwidth", ""), "": "$"}  # fmt: skip
    if beginning := template.get("initialization"):
        yield _joined(base, _filled(beginning, values))
    media = template.get("media")
    for number, time in _segments(template, seconds) if media else ():
        own = {**values, "Number": str(number), "Time": str(time)}
        yield _joined(base, _filled(str(media), own))


def _segments(template: etree._Element, seconds: float) -> Iterator[tuple[int, int]]:
    """Yield the number and the time of each segment."""
    number, scale = _whole(template.get("startNumber"), 1), _whole(template.get("timescale"), 1)
    timeline = next((child for child in template if _is(child, "SegmentTimeline")), None)
    if timeline is not None:
        time = 0
        for part in islice((one for one in timeline if _is(one, "S")), SEGMENTS):
            time = _whole(part.get("t"), time)
            for _ in range(min(SEGMENTS, 1 + max(0, _whole(part.get("r"), 0)))):
                yield number, time
                number, time = number + 1, time + _whole(part.get("d"), 1)
    elif duration := _whole(template.get("duration"), 0):
        for one in range(min(SEGMENTS, int(-(-seconds * scale // duration)))):
            yield number + one, one * duration


def _filled(template: str, values: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        return values.get(found[1], "").zfill(int(found[2] or 0))

    return _VALUE.sub(value, template[:2_000])


def _is(element: etree._Element, *names: str) -> bool:
    return isinstance(element.tag, str) and element.tag.rpartition("}")[2] in names


def _seconds(text: str | None) -> float:
    found = _DURATION.match((text or "")[:50])
    if found is None:
        return 0.0
    try:
        days, hours, minutes, rest = (float(part or 0) for part in found.groups())
    except ValueError:
        return 0.0
    return ((days * 24 + hours) * 60 + minutes) * 60 + rest


def _whole(text: str | None, otherwise: int) -> int:
    found = (text or "")[:18]
    return int(found) if found.isascii() and found.lstrip("-").isdecimal() else otherwise
