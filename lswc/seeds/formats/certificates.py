"""Names in certificates: what certificate transparency shows of a domain, such as a country's.

Names one a line, as most programs print them; what crt.sh answers in JSON or CSV (``name_value``,
``common_name``); entries of a log by certstream (``all_domains``). Each registered domain is one
candidate: its ``www`` if a certificate has that, else its bare name, else its shortest. Its
evidence is how many names it has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from contextlib import ExitStack
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any
from zlib import crc32

import can_ada

from lswc.seeds.candidates import Candidate
from lswc.seeds.formats.json_results import objects
from lswc.seeds.sources import head, lines, opened
from lswc.urls import registered_domain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.seeds.candidates import Asked

FIELDS = ("name_value", "common_name", "all_domains", "dns_names")
"""Fields of a certificate in JSON that have names."""

DOMAINS_TAKEN = 20_000
"""Domains that are handed on: those with most names."""

_WILDCARD = re.compile(r"""(?:^|[\s,;"]|\\n)\*\.[\w-]+\.\w""")
_PARTS = 256
_DEEPEST = 4  # objects within objects that are looked into
_TOKEN = re.compile(r"[^\s,;\"'|]+")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_LONGEST = 253  # characters of a name (RFC 1035)


def are_certificates(start: str) -> bool:
    """Tell whether a text is of certificates: it has one's fields, or a wildcard as a name."""
    return any(f'"{field}"' in start for field in FIELDS) or _WILDCARD.search(start) is not None


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the registered domains of a list of certificates, those with most names first.

    Names wait in files by the hash of their domain: never more than a part of them is in memory.
    Raises SeedError.
    """
    with TemporaryDirectory(prefix="lswc-") as folder, ExitStack() as stack:
        parts = [
            stack.enter_context(Path(folder, str(number)).open("w+", encoding="ascii"))
            for number in range(_PARTS)
        ]
        for domain, name in _names(path, asked):
            parts[crc32(domain.encode()) % _PARTS].write(f"{domain} {name}\n")
        best = nlargest(DOMAINS_TAKEN, chain.from_iterable(map(_domains, parts)))
        total = (
            sum(1 for part in parts for _ in _domains(part)) if len(best) == DOMAINS_TAKEN else 0
        )
    if total > DOMAINS_TAKEN:
        asked.passed["domain with fewer names"] += total - DOMAINS_TAKEN
    for names, host in best:
        yield Candidate(f"http://{host}/", weight=float(names))


def _domains(part: IO[str]) -> Iterator[tuple[int, str]]:
    """Yield how many names each domain of a part has, and which of them stands for it."""
    part.seek(0)
    hosts: defaultdict[str, set[str]] = defaultdict(set)
    for line in part:
        domain, _, name = line.rstrip("\n").partition(" ")
        hosts[domain].add(name)
    for domain, names in hosts.items():
        best = next((name for name in (f"www.{domain}", domain) if name in names), "")
        yield len(names), best or min(names, key=lambda name: (len(name), name))


def _names(path: Path, asked: Asked) -> Iterator[tuple[str, str]]:
    """Yield each name with its registered domain; what comes again at once is passed over."""
    passed, before = asked.passed, ""
    for text in _texts(path, asked):
        for token in _TOKEN.findall(text):
            name = token.lower().rstrip(".")
            if name.startswith("*."):
                passed["wildcard, its domain taken"] += 1
                name = name[2:]
            if name == before:
                passed["name again"] += 1
                continue
            before, name = name, _ascii(name)
            if (domain := _domain(name, asked)) is not None:
                yield domain, name


def _domain(name: str, asked: Asked) -> str | None:
    """Return a name's registered domain; None for what is none, which is counted."""
    if "@" in name:
        asked.passed["address of e-mail"] += 1
        return None
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        if "." in name and not name.startswith(("http", "/")):
            asked.passed["no name of a host"] += 1
        return None
    domain = _registered(name)
    if not domain:
        asked.passed["public suffix"] += 1
    return domain or None


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    try:
        return can_ada.idna_encode(name).decode("ascii")
    except (ValueError, TypeError):  # surrogates, or no name
        return ""


@lru_cache(maxsize=65_536)
def _registered(name: str) -> str:
    return registered_domain(name)


def _texts(path: Path, asked: Asked) -> Iterator[str]:
    start = head(path).lstrip(b"\xef\xbb\xbf \t\r\n")
    with opened(path, asked.say) as file:
        if start.startswith((b"{", b"[")):
            for entry in objects(file, path):
                yield from _within(entry, _DEEPEST)
        else:
            yield from lines(file, asked.passed)


def _within(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts of the fields with names, also of objects within."""
    if not isinstance(value, dict) or not depth:
        return
    for name, inner in value.items():
        if name not in FIELDS:
            yield from _within(inner, depth - 1)
        elif isinstance(inner, str):
            yield inner
        elif isinstance(inner, list):
            yield from (one for one in inner if isinstance(one, str))
