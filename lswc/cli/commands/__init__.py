"""The project's ``scrapy`` commands."""
