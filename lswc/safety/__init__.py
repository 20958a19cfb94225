"""Safety on a hostile web: addresses, sizes, kinds of content."""
