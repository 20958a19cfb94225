"""What the frontier hands out, and what its visit brought."""
