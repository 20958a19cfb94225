"""Reader settings: all that a process which reads a crawl's pages has to know."""

from __future__ import annotations

from dataclasses import replace

from msgspec import Struct

from lswc.language import Identifier, registry
from lswc.language.html import BOUNDS, Bounds
from lswc.language.registry import wanted
from lswc.reading.page import PageReader
from lswc.reading.requisites import RequisiteReader
from lswc.reading.scope import SHAPE, Scope
from lswc.safety.address import Networks
from lswc.safety.url_patterns import url_patterns
from lswc.strategy import PageLanguage


class ReaderSettings(Struct, frozen=True, kw_only=True):
    """How pages are read: the settings of LSWC_*, read and of their types.

    ``language`` has the tags of the targets, ``own_languages`` LSWC_LANGUAGES. ``depth`` and
    ``length`` are DEPTH_LIMIT and URLLENGTH_LIMIT, ``obeyed`` is LSWC_ROBOTS_META.
    ``requisites_of`` are the pages, by language, of which it is read what they need besides, and
    ``feeds_of`` those whose feeds are. ``documents`` is LSWC_DOCUMENTS, ``include`` and
    ``exclude`` are LSWC_INCLUDE and LSWC_EXCLUDE. ``clean_text`` of relevant pages is read if that
    is what counts, and of each page so many characters of the ``text``.
    ``machine_translated`` is LSWC_MACHINE_TRANSLATED.
    """

    language: str
    own_languages: str
    identifier: str
    min_share: float
    bounds: Bounds = BOUNDS
    relevant: str
    machine_translated: str = "relevant"
    depth: int
    length: int
    domains: tuple[str, ...]
    networks: tuple[str, ...]
    ports: tuple[str, ...]
    obeyed: tuple[str, ...]
    requisites_of: tuple[PageLanguage, ...] = ()
    feeds_of: tuple[PageLanguage, ...] = ()
    documents: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    clean_text: bool = False
    text: int = 0

    def reader(self) -> PageReader:
        """Return what reads pages so. Raises ConfigError."""
        registry.use(self.own_languages)
        return PageReader(
            Identifier(
                wanted(self.language),
                self.identifier,
                self.min_share,
                self.bounds,
                self.relevant,
            ),
            replace(
                self.any_host(),
                max_depth=self.depth,
                domains=self.domains,
                documents=self.documents,
                patterns=url_patterns(self.include, self.exclude),
            ),
            frozenset(self.obeyed),
            self._requisites(),
            self.documents,
            self.clean_text,
            keeps_translated=self.machine_translated == "relevant",
            text=self.text,
        )

    def any_host(self) -> Scope:
        """Return the limits of what isn't a page, but what one needs: it may be on any host."""
        networks = Networks.of(self.networks, self.ports)
        patterns = url_patterns((), self.exclude)
        return Scope(0, self.length, (), networks, SHAPE, patterns=patterns)

    def _requisites(self) -> RequisiteReader | None:
        of, feeds_of = frozenset(self.requisites_of), frozenset(self.feeds_of)
        if not of | feeds_of:
            return None
        return RequisiteReader(of, self.any_host(), bounds=self.bounds, feeds_of=feeds_of)
