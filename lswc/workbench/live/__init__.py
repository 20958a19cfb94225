"""Live page: what a crawl does now, how it went, and what is known of a server or a URL."""
