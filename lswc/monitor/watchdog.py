"""Watchdog: what doesn't go on any more ends, so that what started it starts it again."""

from __future__ import annotations

import os
from contextlib import suppress
from socket import AF_UNIX, SOCK_DGRAM, socket
from threading import Timer

from lswc.errors import StuckError

GRACE = 60.0
"""Seconds that a stuck crawl has to end in order; what it has committed is kept in any case."""


def goes_on() -> None:
    """Tell systemd that the crawl goes on, if it asks: sd_notify(3), WatchdogSec of the unit."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    name = f"\0{address[1:]}" if address.startswith("@") else address
    with socket(AF_UNIX, SOCK_DGRAM) as manager, suppress(OSError):
        manager.sendto(b"WATCHDOG=1", name)


def stuck(idle: float) -> StuckError:
    """Return the error of a crawl in which nothing ended for seconds; the process ends soon."""
    timer = Timer(GRACE, os._exit, [StuckError.exit_code])
    timer.daemon = True
    timer.start()
    return StuckError(f"nothing has ended for {idle / 60:.0f} minutes, though URLs are due")
