"""For ``scrapyd-deploy``, which asks for this file; what it says is in pyproject.toml."""

from setuptools import setup

setup()
