"""What users see: commands that answer on the terminal, and their tables."""
