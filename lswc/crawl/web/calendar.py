"""Calendar whose months never end, in either direction: the oldest trap for a crawler."""

from __future__ import annotations

import re

MONTHS = {
    "th": "มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม",
    "en": "January February March April May June July August September October November December",
}
WORDS = {
    "th": ("ปฏิทินกิจกรรม", "เดือนก่อนหน้า", "เดือนถัดไป", "วันนี้ไม่มีกิจกรรมของสมาคมในเดือนนี้", "หน้าแรก"),
    "en": (
        "Calendar of events",
        "previous month",
        "next month",
        "There are no events of the society in this month",
        "home",
    ),
}
DATE = re.compile(r"(\d{1,6})/(\d{1,2})/(?:(\d{1,2})/)?")


def page(prefix: str, language: str, target: str) -> bytes | None:
    """Return the page (UTF-8) of ``<prefix><year>/<month>/[<day>/]``, None if it isn't one."""
    found = DATE.fullmatch(target.removeprefix(prefix)) if target.startswith(prefix) else None
    if found is None or not 1 <= int(found[2]) <= 12:
        return None
    year, month = int(found[1]), int(found[2])
    title, before, after, text, home = WORDS[language]
    name = f"{MONTHS[language].split()[month - 1]} {year}"
    days = "" if found[3] else _days(prefix, year, month)
    html = (
        f"<html><head><meta charset=utf-8><title>{title} {name}</title></head><body>"
        f"<h1>{title} {found[3] or ''} {name}</h1><p>{text} ({name})</p><p>{days}</p>"
        f"<a href='{_month(prefix, year, month - 1)}'>{before}</a> "
        f"<a href='{_month(prefix, year, month + 1)}'>{after}</a> <a href='/'>{home}</a>"
        "</body></html>"
    )
    return html.encode()


def _month(prefix: str, year: int, month: int) -> str:
    count = year * 12 + month - 1
    return f"{prefix}{count // 12:04}/{count % 12 + 1:02}/"


def _days(prefix: str, year: int, month: int) -> str:
    link = "<a href='{0}{1:02}/'>{1}</a>"
    return " ".join(link.format(_month(prefix, year, month), day) for day in (1, 8, 15, 22))
