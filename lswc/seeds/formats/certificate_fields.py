"""What a list of certificates is told by, without the libraries that read it."""

from __future__ import annotations

import re

FIELDS = ("name_value", "common_name", "all_domains", "dns_names")
"""Fields of a certificate in JSON that have names."""

_WILDCARD = re.compile(r"""(?:^|[\s,;"]|\\n)\*\.[\w-]+\.\w""")


def are_certificates(start: str) -> bool:
    """Tell whether a text is of certificates: it has one's fields, or a wildcard as a name."""
    return any(f'"{field}"' in start for field in FIELDS) or _WILDCARD.search(start) is not None
