"""The egg that scrapyd runs: code, languages, models, seeds and profiles."""

from runpy import run_path

from setuptools import find_packages, setup

setup(
    name="lswc",
    version=run_path("lswc/__init__.py")["__version__"],
    packages=find_packages(include=["lswc", "lswc.*", "seeds", "settings_profiles"]),
    package_data={
        "lswc": ["*/*.toml", "*/*.lua", "*/*.json", "*/*/*.json"],
        "seeds": ["*.txt"],
    },
    entry_points={"scrapy": ["settings = lswc.settings"]},
)
