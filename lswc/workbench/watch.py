"""Watch: one crawl as the workbench sees it, and what is kept of it between two questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.errors import ConfigError
from lswc.guest.control import change, history
from lswc.workbench.jobs import Jobs
from lswc.workbench.live.data import PageData
from lswc.workbench.live.search import find

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.monitor.stored import StoredCrawl

QUERY_CHARACTERS = 10_000
"""Characters of what is searched for."""

CHANGES = 100
"""Changes of the history that are shown."""


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
    return {"alerts": watch.data.get()["alerts"], "usual": watch.data.get()["usual_harvest"]}


def found(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what is known of a server or a URL."""
    return find(watch.crawl, given.get("q", "")[:QUERY_CHARACTERS])


def changes(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the changes of the control, the latest first."""
    latest = history(watch.crawl.kept)[-CHANGES:][::-1]
    return {"changes": [change._asdict() for change in latest]}


def say(watch: Watch, body: Mapping[str, Any]) -> None:
    """Change the control as the body of a request says. Raises ConfigError."""
    texts = {name: body.get(name, "") for name in ("key", "place", "why")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ConfigError("key, place and why must be texts")
    change(
        watch.crawl.kept, texts["key"], body.get("value"), texts["place"],
        why=texts["why"], by="watch",
    )  # fmt: skip
