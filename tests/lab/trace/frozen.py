"""The trace of a frozen web."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import Settings

from lswc.crawl.configuration import quotas_of, reader_settings
from lswc.crawl.web import open_web
from lswc.lab.trace.format import About
from lswc.lab.trace.from_web import from_web
from lswc.language.registry import wanted
from lswc.safety.server_limits import limits_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site


def write_trace(site: Site, folder: Path, duplicates: int | None = None) -> None:
    """Write the trace of everything reachable from the site's seeds, read as a crawl reads it.

    ``duplicates`` is LSWC_MAX_DUPLICATES, if not the default.
    """
    settings = Settings()
    settings.setmodule("lswc.settings")
    settings.set("LSWC_VALUE", "text")
    seeds = (site.web / "seeds-th.txt").read_text().split()
    reader, quotas = reader_settings("th", settings).reader(), quotas_of(settings, wanted("th"))
    most = settings.getint("LSWC_MAX_DUPLICATES") if duplicates is None else duplicates
    limits = limits_of(quotas, most)
    about = About("th", ("th",), "test")
    from_web(open_web(site.web), seeds, reader, limits, about).write(folder, seeds)
