"""Links by top-level domain, else by anchor text (Chan & Yamana 2010 §3)."""

LSWC_STRATEGY = "tld_anchor"
