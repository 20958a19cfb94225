"""Reading of an answer: a page's language, its links in scope; never imports Scrapy."""
