"""Exchange between workers: each is a whole crawl of its own sites, and only links travel."""
