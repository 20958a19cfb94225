"""Report of the sites in a SQLite frontier: all of them in lists, and each of them in full."""

from __future__ import annotations

from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.frontier.rules.report import OfSite, SiteList, SiteOrder, SiteServer, SiteTotals
from lswc.outcomes import OF_ELSEWHERE, OF_REQUISITE
from lswc.strategy import REQUISITE

if TYPE_CHECKING:
    import sqlite3

SLICE = 100_000
"""URLs that are looked at in a row, between two looks at the clock."""

LOOKING_SECONDS = 2.0
"""Seconds for which the URLs of a site are looked for: a frontier of millions takes longer."""

_OWN = "id NOT IN (SELECT server FROM given)"
# Of a site that only links here, or that was given to another worker, there is no server.
_WANTED = (
    f"instr(site.name, :text) AND EXISTS (SELECT 1 FROM server WHERE site = site.id AND {_OWN})"
)
_WITHOUT = " AND site.downloaded = 0"
_LEFT_OUT = (
    "SELECT sum(number) FROM left_out JOIN server ON server.id = left_out.server"
    " WHERE server.site = site.id"
)
_PENDING = (
    "SELECT sum(number) FROM line JOIN server ON server.id = line.server"
    " WHERE server.site = site.id"
)
_TOTALS = (
    f"SELECT name, (SELECT count(*) FROM server WHERE site = site.id AND {_OWN}), downloaded,"
    f" relevant, missed, coalesce(({_LEFT_OUT}), 0), coalesce(({_PENDING}), 0), bytes FROM site"
)
_SUMS = {
    "left_out": "left_out JOIN server ON server.id = left_out.server",
    "pending": "line JOIN server ON server.id = line.server",
}
"""What is counted by server, and summed for all sites at once if they are sorted by it."""

_COLUMNS = {"pages": "downloaded", "relevant": "relevant", "missed": "missed", "bytes": "bytes"}
_SERVERS = (
    "SELECT name, downloaded, relevant, missed, bytes,"
    " coalesce((SELECT sum(number) FROM line WHERE line.server = server.id), 0) FROM server"
    f" WHERE site = ? AND {_OWN} ORDER BY downloaded DESC, name LIMIT ?"
)
_OUTCOMES = (
    f"SELECT CASE WHEN code >= {REQUISITE} THEN '{OF_REQUISITE}' || outcome ELSE outcome END,"
    " count(*) FROM url WHERE seq BETWEEN ? AND ?"
    " AND server IN (SELECT id FROM server WHERE site = ?)"
    f" AND outcome IS NOT NULL AND outcome NOT LIKE '{OF_ELSEWHERE}%' GROUP BY 1"
)
_REASONS = (
    "SELECT reason, sum(number) FROM left_out JOIN server ON server.id = left_out.server"
    " WHERE server.site = ? GROUP BY reason"
)


def sites(
    db: sqlite3.Connection, text: str, order: SiteOrder, most: int, *, without_pages: bool
) -> SiteList:
    """Return the first ``most`` sites whose names contain a text, the largest numbers first.

    ``without_pages`` leaves out the others.
    """
    wanted = _WANTED + (_WITHOUT if without_pages else "")
    given = {"text": text, "most": most}
    (number,) = db.execute(f"SELECT count(*) FROM site WHERE {wanted}", given).fetchone()
    found, column = "site", _COLUMNS.get(order, "NULL")
    if order in _SUMS:
        found = (
            f"site LEFT JOIN (SELECT server.site AS of, sum(number) AS number FROM {_SUMS[order]}"
            " GROUP BY 1) AS counted ON counted.of = site.id"
        )
        column = "coalesce(counted.number, 0)"
    first = db.execute(
        f"SELECT site.id FROM {found} WHERE {wanted} ORDER BY {column} DESC, name LIMIT :most",
        given,
    ).fetchall()
    rows = (db.execute(f"{_TOTALS} WHERE id = ?", one).fetchone() for one in first)
    return SiteList(number, [SiteTotals(*row) for row in rows])


def of_site(db: sqlite3.Connection, name: str, most: int) -> OfSite | None:
    """Return what is known of a site, with its ``most`` largest servers; None if nothing is."""
    row = db.execute(f"SELECT id FROM site WHERE name = :text AND {_WANTED}", {"text": name})
    found = row.fetchone()
    if found is None:
        return None
    totals = SiteTotals(*db.execute(f"{_TOTALS} WHERE id = ?", found).fetchone())
    servers = [SiteServer(*row) for row in db.execute(_SERVERS, (*found, most))]
    outcomes, share = _outcomes(db, found[0])
    for reason, number in db.execute(_REASONS, found):
        outcomes[reason] = max(outcomes[reason], number)  # a quota's are URLs, too
    return OfSite(totals, servers, dict(outcomes.most_common()), share)


def _outcomes(db: sqlite3.Connection, site: int) -> tuple[Counter[str], float]:
    """Count the URLs of a site by outcome, the latest first; and the share that was looked at."""
    outcomes: Counter[str] = Counter()
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM url").fetchone()
    until, above = monotonic() + LOOKING_SECONDS, last
    while above > 0 and monotonic() < until:
        rows: Any = db.execute(_OUTCOMES, (above - SLICE + 1, above, site))
        for outcome, number in rows:
            outcomes[outcome] += number
        above -= SLICE
    return outcomes, 1.0 if above <= 0 else (last - above) / last
