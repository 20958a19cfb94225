"""Ordered by distance from the latest relevant referrer (Kumar & Sharma §III)."""

LSWC_STRATEGY = "distance"
