"""Spider middlewares: each adds what it knows to a page; the last one asks the strategy."""

from lswc.crawl.middlewares.guard import VisitGuardMiddleware
from lswc.crawl.middlewares.link_language import LinkLanguageMiddleware
from lswc.crawl.middlewares.offering import StrategyMiddleware
from lswc.crawl.middlewares.relevance import ReferrerDistanceMiddleware, ServerRelevanceMiddleware

__all__ = [
    "LinkLanguageMiddleware",
    "ReferrerDistanceMiddleware",
    "ServerRelevanceMiddleware",
    "StrategyMiddleware",
    "VisitGuardMiddleware",
]
