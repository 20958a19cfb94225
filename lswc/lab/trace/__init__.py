"""Traces: crawled webs as arrays and files, made from a web or a crawl, walked and counted."""
