"""Guest: whether and when a host may be asked."""
