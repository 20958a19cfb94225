"""The seeds that come with the project."""

from __future__ import annotations

from importlib.resources import files

import pytest

from lswc.language.registry import language
from lswc.urls import parse, tld


@pytest.mark.parametrize("code", ["th", "my", "lo", "km", "vi", "ja", "ko", "zh"])
def test_seeds_are_distinct_urls_on_several_domains(code: str) -> None:
    lines = files("seeds").joinpath(f"{code}.txt").read_text("utf-8").splitlines()
    urls = [parse(line) for line in lines if line and not line.startswith("#")]
    hosts = {url.hostname for url in urls if url}
    assert None not in urls
    assert len({url.href for url in urls if url}) == len(urls) >= 30
    assert len({tld(host) for host in hosts}) >= 3
    assert {tld(host) for host in hosts} & set(language(code).tlds)
