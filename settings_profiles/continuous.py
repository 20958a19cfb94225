"""The learned order, without an end: pages are visited again, most often those that change.

Twenty days lie between two visits of a page, on the mean.
"""

LSWC_STRATEGY = "adaptive"
LSWC_STOP_HARVEST = 0.01
LSWC_SITEMAPS = 1
LSWC_REVISIT = 0.05
