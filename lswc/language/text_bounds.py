"""Bounds of a page: how much of it is looked at."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What is beyond is left out of the page, so that none holds the parser.

    The first ``size`` bytes are read, of them so many ``tags``; so many ``links`` are taken. The
    parser takes time by the square of the nesting: a page of 50,000 open <div> holds it for ten
    seconds, one of as many attributes for three. So a page with more ``nesting``, or with more
    ``attributes`` or ``tag_size`` bytes in a tag, is reduced to its text and links; and so is a
    large one with more different ``words``, for quotes may hide that they are attributes.
    """

    links: int = 3_000
    size: int = 524_288
    tags: int = 12_000
    nesting: int = 200
    attributes: int = 4_000
    tag_size: int = 8_000
    words: int = 4_000


BOUNDS = Bounds()
"""The defaults: a page that is written for readers has less of everything."""
