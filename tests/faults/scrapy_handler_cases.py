"""Scrapy's own tests of its HTTP/1.1 handler, run on lswc's.

It is no test of this package, but a module beside Scrapy's tests, where ``test_scrapy_handler.py``
puts it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lswc.crawl.transport import handler as transport
from tests.utils.bases import download_handlers_http as bases

PARTS = SimpleNamespace(
    commits=None,
    archive=SimpleNamespace(add=lambda *_: None),
    guest=SimpleNamespace(
        admission=SimpleNamespace(is_blocked=lambda _: False),
        network=SimpleNamespace(lied_until=0.0),
    ),
    crawl=SimpleNamespace(
        archived="none",
        max_document=0,
        reading=SimpleNamespace(documents=False),
        files=(),
        max_file=0,
    ),
    handles=SimpleNamespace(idle=10),
)
"""The parts of a crawl of which nothing is kept."""

vars(transport)["parts_of"] = lambda crawler: PARTS

pytestmark = pytest.mark.requires_reactor
HANDLER = "lswc.crawl.transport.handler.AttemptHandler"


class Ours:
    """What Scrapy's tests ask of the handler that they run on."""

    @property
    def download_handler_cls(self) -> type[transport.AttemptHandler]:
        return transport.AttemptHandler

    @property
    def settings_dict(self) -> dict[str, Any]:
        return {"DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER}}


WANTED = (
    "TestHttp", "TestHttps", "TestSimpleHttps", "TestHttpsWrongHostname", "TestHttpsInvalidDNSId",
    "TestHttpsInvalidDNSPattern", "TestHttpsCustomCiphers", "TestHttpsTLSVersion",
    "TestHttpWithCrawler", "TestHttpProxy",
)  # fmt: skip
for _name in WANTED:
    globals()[_name] = type(_name, (Ours, getattr(bases, f"{_name}Base")), {})
