"""Browser: a page as it shows it; never imports Scrapy, and lets no browser reach a network."""
