"""Corpus: clean text of one language, from a crawl's archive."""
