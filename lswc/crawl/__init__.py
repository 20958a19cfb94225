"""Crawl: all that knows Scrapy on a page's way, spider, scheduler, middlewares, transport."""
