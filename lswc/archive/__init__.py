"""Archive: what a crawl leaves behind, its record of pages, its log, WARC files and index."""
