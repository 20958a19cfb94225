"""Server-based filtering, conservative (Tamura 2007 §4.2), T = 10."""

LSWC_STRATEGY = "server_conservative:T=10"
