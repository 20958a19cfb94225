"""Links by anchor text alone (Chan & Yamana 2010 §3)."""

LSWC_STRATEGY = "anchor"
