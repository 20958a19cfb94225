"""Language Specific Web Crawler (Somboonviwat 2006 §5), S = 3, T = 5."""

LSWC_STRATEGY = "lswc:S=3,T=5"
