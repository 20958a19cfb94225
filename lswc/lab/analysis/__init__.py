"""Analysis: the papers' tables and figures for any crawl or trace; never imports Scrapy."""

from lswc.lab.analysis.collection import AnalysisError, Collection

__all__ = ["AnalysisError", "Collection"]
