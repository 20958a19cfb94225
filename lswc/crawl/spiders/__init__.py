"""Spiders of your own, beside lswc's: ``scrapy genspider NAME DOMAIN`` puts them here."""
