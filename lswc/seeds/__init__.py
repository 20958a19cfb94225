"""Seed lists, from what people have."""
