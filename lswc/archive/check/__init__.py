"""Whether a crawl's frontier and its files agree, and how they come to agree again."""
