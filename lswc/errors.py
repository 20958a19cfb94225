"""What a user can get wrong."""

from __future__ import annotations


class ConfigError(ValueError):
    """An argument, setting or file of the user's is wrong; the message says what to do.

    Commands print it as one line and end with exit code 2, before anything is fetched.
    """
