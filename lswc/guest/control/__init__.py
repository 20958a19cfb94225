"""Instructions of people to a crawl, also while it runs: blocked and paused places, limits, hours.

``read``, ``change`` and ``history`` work on the instructions to a crawl: ``in_folder``, or
``InRedis`` of ``lswc.guest.control.redis_store``, which loads Redis's client.
"""

from lswc.guest.control.places import Place, place_of
from lswc.guest.control.rules_in_force import Control, ControlError, Hours, Rule, lifts
from lswc.guest.control.store import Change, InFolder, change, given, history, in_folder, read

__all__ = [
    "Change",
    "Control",
    "ControlError",
    "Hours",
    "InFolder",
    "Place",
    "Rule",
    "change",
    "given",
    "history",
    "in_folder",
    "lifts",
    "place_of",
    "read",
]
