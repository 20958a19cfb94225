"""Directory-based filtering, conservative (Tamura 2007 §4.3), T = 10."""

LSWC_STRATEGY = "directory_conservative:T=10"
