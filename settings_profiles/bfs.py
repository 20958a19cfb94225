"""Breadth-first: the baseline of every paper."""

LSWC_STRATEGY = "bfs"
