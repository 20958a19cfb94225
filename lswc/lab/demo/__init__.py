"""Demo web: generated, the same for the same seed, and its truth known."""
