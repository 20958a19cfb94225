"""Whole sites with a relevant entry page (Mon 2010 §3.1), at most 9 links deep."""

LSWC_STRATEGY = "site_queues"
