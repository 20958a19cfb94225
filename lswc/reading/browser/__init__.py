"""A page as a real browser shows it; never imports Scrapy, and lets no browser reach a network."""
