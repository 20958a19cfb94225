"""What a user's own middlewares and pipelines may do to a page, by the name of its URL."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import DropItem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response


class Meddling:
    """A spider middleware that swallows what comes of ``/swallowed``, and fails at ``/broken``."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for item in result:
            if response.url.endswith("/broken"):
                raise ValueError("a middleware failed")
            if not response.url.endswith("/swallowed"):
                yield item


class Late:
    """A spider middleware that swallows the record of ``/swallowed-late``."""

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for item in result:
            if not response.url.endswith("/swallowed-late"):
                yield item


class Choosy:
    """A pipeline that drops ``/dropped``, fails at ``/failed``, and spoils ``/spoilt``."""

    def process_item(self, item: Any) -> Any:
        if item.url.endswith("/spoilt"):
            return replace(item, title=object())
        if item.url.endswith("/dropped"):
            raise DropItem("not wanted")
        if item.url.endswith("/failed"):
            raise ValueError("a pipeline failed")
        return item
