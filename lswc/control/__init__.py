"""What people say to a crawl, also while it runs: blocked and paused places, limits, hours.

``read``, ``change`` and ``history`` work on what is kept of a crawl: ``in_folder``, or that of
``lswc.control.shared``, ``in_redis``, which loads Redis's client.
"""

from lswc.control.kept import Change, InFolder, change, history, in_folder, read
from lswc.control.places import Place, place_of
from lswc.control.rules import Control, ControlError, Hours, Rule, lifts
from lswc.control.watching import Watching

__all__ = [
    "Change",
    "Control",
    "ControlError",
    "Hours",
    "InFolder",
    "Place",
    "Rule",
    "Watching",
    "change",
    "history",
    "in_folder",
    "lifts",
    "place_of",
    "read",
]
