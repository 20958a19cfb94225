"""Spider middlewares: each adds what it knows to a page; the last one asks the strategy."""

from lswc.middlewares.guard import LeaseGuardMiddleware
from lswc.middlewares.language import LinkLanguageMiddleware
from lswc.middlewares.relevance import ReferrerDistanceMiddleware, ServerRelevanceMiddleware
from lswc.middlewares.strategy import StrategyMiddleware

__all__ = [
    "LeaseGuardMiddleware",
    "LinkLanguageMiddleware",
    "ReferrerDistanceMiddleware",
    "ServerRelevanceMiddleware",
    "StrategyMiddleware",
]
