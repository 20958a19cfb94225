"""Failures: the outcomes of requests that brought no page, and what errors of ours have cost."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl.transport.answer import NoAnswerError
from lswc.crawl.transport.refused import Refused
from lswc.mishaps import what_of
from lswc.outcomes import Outcome, of_status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.rules.visit import Visit

logger = logging.getLogger(__name__)

_IGNORED = {
    "DOWNLOAD_MAXSIZE": Outcome.DECOMPRESSED_TOO_LARGE,
    "max redirections": Outcome.TOO_MANY_REDIRECTS,
}
_COMPRESSIONS = {"zlib", "gzip", "brotli", "_brotli", "backports", "compression", "struct"}
_ERRORS: dict[type[BaseException], Outcome] = {
    DownloadTimeoutError: Outcome.TIMEOUT,
    CannotResolveHostError: Outcome.NAME_LOOKUP_FAILED,
    DownloadConnectionRefusedError: Outcome.CONNECTION_REFUSED,
    DownloadFailedError: Outcome.DOWNLOAD_FAILED,
    ResponseDataLossError: Outcome.DOWNLOAD_FAILED,  # of robots.txt
    ValueError: Outcome.INVALID_URL,  # of a redirect
}


def is_silence(error: BaseException) -> bool:
    """Tell whether a request failed before any byte of an answer came."""
    return isinstance(
        error,
        (
            CannotResolveHostError,
            DownloadConnectionRefusedError,
            DownloadTimeoutError,
            NoAnswerError,
        ),
    )


def outcome_of(error: BaseException | None) -> str:
    """Name the end of a request; of what a server says, only a number goes into the name."""
    if isinstance(error, HttpError):
        return of_status(error.response.status)
    if isinstance(error, Refused):
        return error.outcome
    if isinstance(error, IgnoreRequest):
        named = (outcome for words, outcome in _IGNORED.items() if words in str(error))
        return next(named, Outcome.IGNORED)
    if type(error).__module__.partition(".")[0] in _COMPRESSIONS:
        return Outcome.BROKEN_COMPRESSION
    matching = (outcome for kind, outcome in _ERRORS.items() if isinstance(error, kind))
    return next(matching, Outcome.FAILED)


def count_mishaps(visit: Visit, mishaps: Sequence[tuple[str, int]]) -> None:
    """Count what errors of ours have cost, of a page or of what isn't one."""
    if mishaps:
        logger.error("%s was read but for: %s", visit.url, "; ".join(one for one, _ in mishaps))
    for mishap, number in mishaps:
        visit.tally["content", f"error: {what_of(mishap)}"] += number
