"""Trace-driven simulation of every strategy; imports ``lswc.strategy``, never Scrapy."""
