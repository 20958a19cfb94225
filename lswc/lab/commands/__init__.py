"""Commands of the lab, found by the entry points of ``scrapy.commands``."""
