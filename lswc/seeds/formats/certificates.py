"""Names in certificates: what certificate transparency shows of a domain, such as a country's.

Names one a line, as most programs print them; what crt.sh answers in JSON or CSV (``name_value``,
``common_name``); entries of a log by certstream (``all_domains``). Each registered domain is one
candidate: its ``www`` if a certificate has that, else its bare name, else its shortest. Its
evidence is how many names it has.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import can_ada
import pyarrow as pa

from lswc.seeds.candidates import Candidate
from lswc.seeds.formats.certificate_fields import FIELDS
from lswc.seeds.formats.json_results import objects
from lswc.seeds.pool import database
from lswc.seeds.sources import head, lines, opened
from lswc.urls import registered_domain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_BATCH = 20_000
_DEEPEST = 4  # objects within objects that are looked into
_TOKEN = re.compile(r"[^\s,;\"'|]+")
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_LONGEST = 253  # characters of a name (RFC 1035)
_NAMES = pa.schema([("domain", pa.string()), ("host", pa.string())])
_OF_DOMAIN = """
SELECT domain, count(DISTINCT host), bool_or(host = 'www.' || domain), bool_or(host = domain),
       arg_min(host, length(host))
FROM name GROUP BY domain
"""


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the registered domains of a list of certificates. Raises SeedError."""
    with database() as db:
        db.execute("CREATE TABLE name (domain VARCHAR, host VARCHAR)")
        names = _names(path, asked)
        while batch := list(islice(names, _BATCH)):
            columns = [pa.array(column, pa.string()) for column in zip(*batch, strict=True)]
            db.register("batch", pa.table(columns, _NAMES))
            db.execute("INSERT INTO name FROM batch")
            db.unregister("batch")
        result = db.execute(_OF_DOMAIN)
        while rows := result.fetchmany(_BATCH):
            for domain, hosts, has_www, has_bare, shortest in rows:
                host = f"www.{domain}" if has_www else domain if has_bare else shortest
                yield Candidate(f"http://{host}/", weight=float(hosts))


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
            elif (domain := _domain(name, asked)) is not None:
                before = name
                yield domain, name


def _domain(name: str, asked: Asked) -> str | None:
    """Return a name's registered domain; None for what is none, which is counted."""
    if "@" in name:
        asked.passed["address of e-mail"] += 1
        return None
    if not name.isascii():
        name = _ascii(name)
    if len(name) > _LONGEST or not _NAME.fullmatch(name):
        if "." in name and not name.startswith(("http", "/")):
            asked.passed["no name of a host"] += 1
        return None
    domain = _registered(name)
    if not domain:
        asked.passed["public suffix"] += 1
    return domain or None


def _ascii(name: str) -> str:
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
