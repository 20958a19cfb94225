"""Licence of a page: what it links to as its own, not that of a photo in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import can_ada

if TYPE_CHECKING:
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
_AROUND = 6  # elements around a link that are looked at
_BEFORE = 300  # characters before a link that say what it is of
_SIBLINGS = 20
_MOST = 100  # links


def licence_of(tree: LexborHTMLParser, url: str) -> str | None:
    """Return the licence that a page states by ``rel=license``, or links to as Creative Commons.

    None if that stands beside an image, if there are several, or if a page that only links to one
    reserves its rights.
    """
    stated = _own(tree, _STATED, url)
    if stated:
        return _only(stated)
    linked = _own(tree, _LINKED, url)
    if not linked or (tree.body and _RESERVED.search(tree.body.text())):
        return None
    return _only(linked)


def _only(found: list[str]) -> str | None:
    """Return the first of several addresses, if all are of one licence."""
    names = {_VERSION.sub("", one.partition("//")[2]).lower() for one in found}
    return found[0] if len(names) == 1 else None


def _own(tree: LexborHTMLParser, selector: str, url: str) -> list[str]:
    found = []
    for node in tree.css(selector)[:_MOST]:
        if _is_of_image(node):
            continue
        try:
            found.append((can_ada.parse(url) + (node.attributes.get("href") or "").strip()).href)
        except ValueError:
            continue
    return found


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
