"""Server-based filtering, aggressive (Tamura 2007 §4.1), T = 10."""

LSWC_STRATEGY = "server_aggressive:T=10"
