"""Protego's own test cases, as its source distribution has them, on our rules.

``make test`` fetches them. Sitemaps, hosts, request rates and visit times we don't read: those
Protego answers itself.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import protego
import pytest

from lswc.guest.robots_txt import RobotsRules
from lswc.urls import parse

if TYPE_CHECKING:
    from types import ModuleType

FILES = [Path(sys.prefix) / name for name in ("protego_cases.py", "protego_google.py")]

if not all(file.is_file() for file in FILES):
    pytest.skip(f"{FILES[0]} is missing: make test fetches it", allow_module_level=True)


class Rules:
    """What the suite asks Protego."""

    def __init__(self, content: str) -> None:
        self._protego = protego.Protego.parse(content)
        self._body = content.encode("utf-8", "surrogatepass")

    @classmethod
    def parse(cls, content: str) -> Rules:
        return cls(content)

    def can_fetch(self, url: str, user_agent: str) -> bool:
        parsed = parse(url if "://" in url else f"http://site.local{url}")
        assert parsed is not None
        return RobotsRules(self._body, user_agent).allows(parsed.href)

    def crawl_delay(self, user_agent: str) -> float | None:
        return RobotsRules(self._body, user_agent).crawl_delay or None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protego, name)


def suite(file: Path) -> ModuleType:
    spec = spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(protego, "Protego", Rules)
        patch.setitem(vars(pytest.mark), "timeout", lambda _: lambda test: test)
        spec.loader.exec_module(found)
    return found


_LETTERS = "a robot's name is one word of ASCII (RFC 9309 §2.2.1)"
_WHOLE = "a robot's name counts as a whole (RFC 9309 §2.2.1, and Google's cases)"
DIFFERENT = {
    "test_crawl_delay[0]": "a delay of 0 is none",
    "test_unicode_url_and_useragent": _LETTERS,
    "test_generosity": _LETTERS,
    "test_empty_user_agent_line": "a name without a value or a colon is no line (Google's parser)",
    "test_generosity_not_for_unknown_colon_directives": "a line may begin so (Google's parser)",
    "test_grouping_unknown_keys": "an unknown line ends no group (RFC 9309 §2.2.4)",
    "test_with_absolute_urls": "a rule begins with / or * (RFC 9309 §2.2, and Google's cases)",
    "test_user_agent_precedence[/group1-hedwig-news2]": _LETTERS,
    "test_user_agent_precedence[/group3-hedwig-new]": _WHOLE,
    "test_user_agent_precedence[/group3-hedwig-images]": _WHOLE,
    "test_user_agent_boundary_matching[googlebot-googlebot-news-True]": _WHOLE,
    "test_user_agent_boundary_matching[google-googlebot-mobile-True]": _WHOLE,
    "test_user_agent_boundary_matching[foobot-Mozilla/5.0 (compatible; Foobot/1.0)-True]": _WHOLE,
}
"""The cases in which RFC 9309 or Google's cases, which count here, aren't as Protego."""


@pytest.fixture(autouse=True)
def differences(request: pytest.FixtureRequest) -> None:
    if (reason := DIFFERENT.get(request.node.name)) is not None:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


for file in FILES:
    globals().update({n: v for n, v in vars(suite(file)).items() if n.lower().startswith("test")})
