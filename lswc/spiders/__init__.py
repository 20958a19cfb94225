"""The project's spider."""
