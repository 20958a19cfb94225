"""Synthetic web like the Thai one of 2004."""
