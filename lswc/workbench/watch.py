"""Watch: one crawl as the workbench sees it, and what is kept of it between two questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.workbench.jobs import Jobs
from lswc.workbench.live.data import PageData

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.monitor.stored import StoredCrawl


class Watch:
    """Looks at one crawl. ``data`` is what the live page shows of it."""

    def __init__(self, crawl: StoredCrawl) -> None:
        self.crawl = crawl
        self.data = PageData(crawl)
        self.jobs = Jobs()


def state(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return all that the live page shows; the course only if it isn't known yet."""
    known = given.get("course", "")
    return watch.data.get(int(known) if known.isdecimal() else -1)


def todo(watch: Watch, _given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what should be done about the crawl."""
    shown = watch.data.get()
    return {"alerts": shown["alerts"], "usual": shown["usual_harvest"]}
