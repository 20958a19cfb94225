"""lswc: a language-specific web crawler on Scrapy."""

__version__ = "0.2.0"
