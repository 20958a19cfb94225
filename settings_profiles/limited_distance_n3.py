"""Distance, no farther than N = 3 (Kumar & Sharma §V)."""

LSWC_STRATEGY = "limited_distance:N=3"
