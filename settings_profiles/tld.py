"""Links by top-level domain alone (Chan & Yamana 2010 §3)."""

LSWC_STRATEGY = "tld"
