"""What keeps a crawl safe on a hostile web: addresses, sizes, kinds of content, traps."""
