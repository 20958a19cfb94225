"""Commands that answer on the terminal, and their tables."""
