"""scrapyd's site, with a password, and closed to what other web pages make a browser send.

``webroot = lswc.monitor.scrapyd_site.Root`` in scrapyd.conf. scrapyd itself has a password only if
its configuration says one, and answers a form that any page in its operator's browser posts.
"""

from __future__ import annotations

import logging
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapyd.website import Root as ScrapydRoot
from twisted.web.pages import forbidden

if TYPE_CHECKING:
    from twisted.web.resource import IResource

PASSWORD = "password"  # noqa: S105
"""Name of the file beside scrapyd's databases with the password of ``USER``."""

USER = "lswc"

logger = logging.getLogger(__name__)


def password_of(folder: Path) -> str:
    """Return the password in a folder; a new one if it has none. Raises OSError."""
    path = folder / PASSWORD
    folder.mkdir(parents=True, exist_ok=True)
    try:
        # Nobody else may read it, not even for a moment.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{secrets.token_urlsafe(24)}\n")
    except FileExistsError:
        pass
    return path.read_text("ascii").strip()


def is_foreign(host: str, origin: str, site: str) -> bool:
    """Tell whether a page of another origin made a browser send a request.

    By its headers Host, Origin (Fetch Standard) and Sec-Fetch-Site (Fetch Metadata). Programs send
    neither of the latter.
    """
    if site and site not in ("same-origin", "none"):
        return True
    return bool(origin) and urlsplit(origin).netloc.lower() != host.lower()


class Root(ScrapydRoot):  # type: ignore[misc]  # scrapyd has no types
    """scrapyd's root, which makes a password when it has none, and answers no foreign page."""

    def __init__(self, config: Any, app: Any) -> None:
        if not (os.getenv("SCRAPYD_PASSWORD") or config.get("password", "")):
            folder = Path(config.get("dbs_dir", "dbs")).parent
            os.environ.setdefault("SCRAPYD_USERNAME", config.get("username", "") or USER)
            os.environ["SCRAPYD_PASSWORD"] = password_of(folder)
            logger.warning("the password is in %s", folder / PASSWORD)
        super().__init__(config, app)

    def getChildWithDefault(  # noqa: N802 (Twisted's name)
        self, path: bytes, request: Any
    ) -> IResource:
        """Return what answers a request."""
        headers = (request.getHeader(name) or "" for name in ("host", "origin", "sec-fetch-site"))
        if is_foreign(*headers):
            return forbidden("a page of another origin sent this")
        child: IResource = super().getChildWithDefault(path, request)
        return child
