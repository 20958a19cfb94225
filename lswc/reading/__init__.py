"""What a page says: its language, and its links in scope; never imports Scrapy."""
