"""Spider middlewares: each adds what it knows to a page; the last one asks the strategy."""

from lswc.crawler.middlewares.guard import VisitGuardMiddleware
from lswc.crawler.middlewares.link_language import LinkLanguageMiddleware
from lswc.crawler.middlewares.offering import StrategyMiddleware
from lswc.crawler.middlewares.relevance import ReferrerDistanceMiddleware, ServerRelevanceMiddleware

__all__ = [
    "LinkLanguageMiddleware",
    "ReferrerDistanceMiddleware",
    "ServerRelevanceMiddleware",
    "StrategyMiddleware",
    "VisitGuardMiddleware",
]
