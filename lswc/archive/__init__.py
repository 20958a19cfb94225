"""What a crawl leaves behind: WARC with its index, the crawl log, and clean text."""
