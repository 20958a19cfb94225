"""Monitor: what a crawl says of itself, and the page in the browser that shows it."""
