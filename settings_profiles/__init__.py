"""Plain Scrapy settings, one file per strategy; chosen with ``-s LSWC_PROFILE=name``."""
