"""Licence of a page: what it links to as its own, not that of a photo in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import can_ada

from lswc.reading.main_text.linked_data import licences_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborHTMLParser, LexborNode

_STATED = "a[rel~=license][href], link[rel~=license][href], area[rel~=license][href]"
_LINKED = (
    "a[href*='//creativecommons.org/licenses/'], a[href*='//creativecommons.org/publicdomain/']"
)
_OF_IMAGE = frozenset({"figure", "figcaption", "picture"})
_CAPTION = re.compile(r"caption|thumb|credit|gallery|image|photo|figure|attribution", re.IGNORECASE)
_IMAGE = re.compile(
    r"\b(?:photos?|pictures?|images?|illustrations?|icons?|foto|bild|imagen|ảnh|hình)\b"
    r"|ภาพ|รูป|写真|画像|イラスト|图片|照片|圖片|相片|图像|사진|이미지|그림|ຮູບ|ພາບ|រូបភាព|រូបថត|ဓာတ်ပုံ",
    re.IGNORECASE,
)
_RESERVED = re.compile(
    r"all rights reserved|สงวนลิขสิทธิ์|สงวนสิทธิ์|สงวนไว้ซึ่งลิขสิทธิ์|ສະຫງວນລິຂະສິດ|រក្សាសិទ្ធិ|"
    r"無断(?:転載|複製)|禁無断|版权所有|版權所有|保留所有权利|保留所有權利|著作權所有|"
    r"무단\s?(?:전재|복제)|bản quyền thuộc|giữ bản quyền|မူပိုင်ခွင့်",
    re.IGNORECASE,
)
_VERSION = re.compile(r"/(?:deed|legalcode)[\w.-]*/?$|/$")
_PARTS = frozenset({"head", "header", "nav", "main", "article", "aside", "footer", "body"})
_DEEPEST = 200  # elements around a link in which its part is looked for
_AROUND = 6  # elements around a link that are looked at
_BEFORE = 300  # characters before a link that say what it is of
_SIBLINGS = 20
_MOST = 100  # links


class Licence(NamedTuple):
    """The address of a licence, and where it stood.

    ``stood`` says by what it is told, ``rel=license``, ``json-ld`` or ``link``, and the part of the
    page that has it: "rel=license in footer".
    """

    url: str
    stood: str


def licence_of(tree: LexborHTMLParser, url: str, linked_data: Sequence[str]) -> Licence | None:
    """Return the licence that a page states by ``rel=license`` or JSON-LD, or links to as CC's.

    None if that is of an image, if there are several, or if a page that only links to one reserves
    its rights.
    """
    stated = list(_own(tree, _STATED, url, "rel=license"))
    stated += [
        Licence(href, "json-ld")
        for one in licences_of(linked_data)
        if one.strip().startswith(("https://", "http://")) and (href := _address(one, url))
    ]
    if stated:
        return _only(stated)
    linked = list(_own(tree, _LINKED, url, "link"))
    if not linked or (tree.body and _RESERVED.search(tree.body.text())):
        return None
    return _only(linked)


def _only(found: list[Licence]) -> Licence | None:
    """Return the first of several, if all are of one licence."""
    names = {_VERSION.sub("", one.url.partition("//")[2]).lower() for one in found}
    return found[0] if len(names) == 1 else None


def _own(tree: LexborHTMLParser, selector: str, url: str, told: str) -> Iterator[Licence]:
    for node in tree.css(selector)[:_MOST]:
        href = "" if _is_of_image(node) else _address(node.attributes.get("href") or "", url)
        if href:
            yield Licence(href, f"{told} in {_part(node)}")


def _address(href: str, url: str) -> str:
    """Return a whole address of the web; "" if it is none, as that of a script."""
    try:
        found = str((can_ada.parse(url) + href.strip()).href)
    except ValueError:
        return ""
    return found if found.startswith(("https://", "http://")) else ""


def _part(node: LexborNode) -> str:
    """Return the name of the closest part of the page that an element is in."""
    at: LexborNode | None = node
    for _ in range(_DEEPEST):
        if at is None or at.tag in _PARTS:
            break
        at = at.parent
    return (at.tag if at is not None and at.tag in _PARTS else None) or "body"


def _is_of_image(link: LexborNode) -> bool:
    """Tell whether a link is in a figure or a caption, or follows the word for an image."""
    node: LexborNode | None = link.parent
    for _ in range(_AROUND):
        if node is None or node.tag in ("body", "main", "article", "html"):
            break
        names = node.attributes.get("class") or ""
        if node.tag in _OF_IMAGE or _CAPTION.search(names):
            return True
        node = node.parent
    before, at = "", link.prev
    for _ in range(_SIBLINGS):
        if at is None or len(before) >= _BEFORE:
            break
        before = (at.text() or "")[-_BEFORE:] + before
        at = at.prev
    return bool(_IMAGE.search(before[-_BEFORE:]))
