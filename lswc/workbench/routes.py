"""Routes: all that the workbench answers, by its address, of a crawl and of a folder of crawls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.workbench import (
    handover,
    instructions,
    look_up,
    marking,
    new_crawl,
    one_site,
    pages,
    sites,
    watch,
)
from lswc.workbench.answers import View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lswc.workbench.answers import Stored
    from lswc.workbench.crawls import Crawls
    from lswc.workbench.watch import Watch

VIEWS: dict[str, View[Watch]] = {
    "": View("Live", lambda _watch, _given: {}),
    "todo": View("What to do", watch.todo),
    "pages": View("Pages", pages.listed),
    "page": View("", pages.shown),
    "sites": View("Sites", sites.listed),
    "site": View("", one_site.shown),
    "server": View("", look_up.server_of),
    "look": View("", look_up.look),
    "marks": View("Marks", marking.listed),
    "handover": View("Hand over", handover.shown),
    "settings": View("Settings", handover.settings),
}
"""Pages of one crawl by the last part of their address; the template of "" is live.html."""

QUESTIONS: dict[str, Callable[[Watch, Mapping[str, str]], Mapping[str, Any]]] = {
    "state": watch.state,
    "changes": instructions.changes,
    "jobs": handover.states,
}
"""What scripts ask of one crawl, below ``api/``; the answer is JSON."""

CHANGES: dict[str, Callable[[Watch, Mapping[str, Any]], Mapping[str, Any] | None]] = {
    "say": instructions.say,
    "instruct": instructions.instruct,
    "mark": marking.mark,
    "start-job": handover.start,
    "cancel-job": handover.cancel,
}
"""What changes something of one crawl, below ``api/``: with the token, by POST of JSON.

A key ``goto`` of the answer is the address that the page with the form goes to.
"""

FILES: dict[str, Callable[[Watch, str], Stored]] = {
    "made": handover.made,
}
"""Files of one crawl: what stands before their paths in an address, and what finds them."""

OF_FOLDER: dict[str, View[Crawls]] = {
    "": View("Crawls", lambda crawls, _given: {"name": str(crawls.folder)}),
    "new": View("New crawl", new_crawl.form),
    "plan": View("", new_crawl.shown),
}
"""Pages of a folder of crawls; the template of "" is crawls.html."""

FOLDER_QUESTIONS: dict[str, Callable[[Crawls, Mapping[str, str]], Mapping[str, Any]]] = {
    "crawls": lambda crawls, _given: {"name": str(crawls.folder), "crawls": crawls.listed()},
}

FOLDER_CHANGES: dict[str, Callable[[Crawls, Mapping[str, Any]], Mapping[str, Any] | None]] = {
    "save": new_crawl.save,
    "dry-run": new_crawl.dry_run,
    "delete": new_crawl.delete,
    "start": new_crawl.start,
    "stop": lambda crawls, body: crawls.stop(str(body.get("name", ""))),
}
