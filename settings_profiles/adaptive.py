"""The learned order, until fewer than one in a hundred of the next pages should be relevant."""

LSWC_STRATEGY = "adaptive"
LSWC_STOP_HARVEST = 0.01
LSWC_SITEMAPS = 1
