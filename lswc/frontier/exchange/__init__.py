"""Exchange between workers: each is a whole crawl of its own sites, and links travel between them."""
