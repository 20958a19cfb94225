"""The web's mistakes are counted, not logged as errors of ours."""

from __future__ import annotations

import logging

from scrapy import logformatter


class LogFormatter(logformatter.LogFormatter):
    """Scrapy's log lines; a robots.txt that can't be had becomes one without a traceback."""

    def __init__(self) -> None:
        logging.getLogger("scrapy.downloadermiddlewares.robotstxt").addFilter(_without_traceback)


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    record.levelno, record.levelname = logging.INFO, "INFO"
    return True
