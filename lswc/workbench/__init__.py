"""Workbench: a process of its own that shows crawls in a browser, and says things to them."""
