"""Damage of a frontier's file: what SQLite finds, and what of its contents contradicts itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.rules.contract import FrontierError, VersionError
from lswc.frontier.rules.experience import first_experience
from lswc.frontier.rules.visit import key
from lswc.frontier.store.report import connected
from lswc.frontier.store.servers import read_tallies
from lswc.strategy import ExperienceError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

# Each finds rows that can't be: of a file whose pages are whole, and hold something else.
_CONTRADICTIONS = {
    "URLs of no server": "SELECT 1 FROM url LEFT JOIN server ON server.id = url.server"
    " WHERE server.id IS NULL",
    "servers of no site": "SELECT 1 FROM server LEFT JOIN site ON site.id = server.site"
    " WHERE site.id IS NULL",
    "lines that aren't those of the URLs that wait": """
        WITH counted AS (
            SELECT server, line, min(seq) AS seq, count(*) AS number FROM url
            WHERE outcome IS NULL GROUP BY server, line)
        SELECT * FROM (SELECT * FROM counted EXCEPT SELECT * FROM line)
        UNION ALL SELECT * FROM (SELECT * FROM line EXCEPT SELECT * FROM counted)""",
    "counters of servers that aren't those of their sites": """
        SELECT 1 FROM site JOIN server ON server.site = site.id GROUP BY site.id
        HAVING sum(server.downloaded) <> site.downloaded OR sum(server.bytes) <> site.bytes""",
}


def damage_of(path: Path) -> str:
    """Return what is wrong with a frontier's file, in words; "" if nothing is.

    All of it is read. Raises VersionError for a frontier of another version.
    """
    try:
        with connected(path) as db:
            return next(_found(db), "")
    except VersionError:
        raise
    except FrontierError as error:
        return str(error)


def _found(db: sqlite3.Connection) -> Iterator[str]:
    (answer,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if answer != "ok":
        yield answer.replace("\n", " ")
    about = dict(db.execute("SELECT key, value FROM about"))
    try:
        first_experience(about)
    except (ExperienceError, ValueError) as error:
        yield f"what the crawl began with can't be read: {error}"
    for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        for _ in db.execute(f'SELECT * FROM "{table}"'):
            pass  # a text that isn't one raises
    try:
        read_tallies(db)
    except ValueError as error:
        yield f"the counters of the crawl can't be read: {error}"
    for what, query in _CONTRADICTIONS.items():
        if db.execute(query).fetchone():
            yield what
    for name, url, code in db.execute("SELECT fingerprint, url, code FROM url"):
        if key(url, code) != name:
            yield f"a URL that is another one: {url!r}"
