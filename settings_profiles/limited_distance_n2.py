"""Distance, no farther than N = 2 (Kumar & Sharma §V)."""

LSWC_STRATEGY = "limited_distance:N=2"
