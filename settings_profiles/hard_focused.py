"""Hard focused (Tamura 2007 §5.1): only links of relevant pages."""

LSWC_STRATEGY = "hard_focused"
