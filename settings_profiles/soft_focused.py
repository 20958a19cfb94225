"""Soft focused (Tamura 2007 §5.1): links of relevant pages first."""

LSWC_STRATEGY = "soft_focused"
