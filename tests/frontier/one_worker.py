"""The only worker of a crawl in Redis, as it is after a second."""

from __future__ import annotations

from socket import gethostname
from typing import TYPE_CHECKING

from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.post import Post
from tests.frontier.exchange.at_once import at_once

if TYPE_CHECKING:
    from pathlib import Path

    from redis import Redis

    from lswc.frontier.store.frontier import Frontier


def shared(
    frontier: Frontier,
    client: Redis,
    name: str,
    folder: Path,
    told: str = "{}",
    host: str = "",
) -> Exchange:
    """Let a frontier in a folder be that of a worker, which has told what it has."""
    post = Post(client, name)
    with frontier.reading() as reader:
        identity = {key: reader.identity()[key] for key in ("language", "strategy")}
    member = join(frontier, post, f"{host or gethostname()}:{folder}", identity)
    exchange = Exchange(frontier, post, member, at_once)
    exchange.tell(told, "")
    exchange.turn()
    return exchange
