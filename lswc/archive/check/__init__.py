"""Check of a crawl: its frontier and its files agree, or come to agree again."""
