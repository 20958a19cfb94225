"""The learned order: what to fetch next is learned while the crawl goes on."""

LSWC_STRATEGY = "adaptive"
