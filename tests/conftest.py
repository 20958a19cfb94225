"""Settings of all tests."""

from __future__ import annotations

from hypothesis import settings

# No test asserts a time: machines are noisy.
settings.register_profile("lswc", deadline=None)
settings.load_profile("lswc")
