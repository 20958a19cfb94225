"""Observer of a crawl's instructions: those that hold, and what is wrong with newer ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.guest.control.places import ControlError
from lswc.guest.control.store import read

if TYPE_CHECKING:
    from lswc.guest.control.rules import Control
    from lswc.guest.control.store import Instructions


class Watching:
    """``control`` is the last that could be understood; at first it must be: raises LswcError.

    ``wrong`` says what is wrong with those since then, "" if nothing is.
    """

    def __init__(self, where: Instructions) -> None:
        self._where = where
        self._seen = self._read = where.version()
        self.control: Control = read(where)
        self.wrong = ""

    def look(self) -> bool:
        """Look whether the instructions have changed; tell whether ``control`` or ``wrong`` is new.

        A version is read when it is the same at two looks: an editor may be writing it at the
        first. Raises StorageError if a store can't be reached.
        """
        try:
            version = self._where.version()
        except ControlError as error:
            version = str(error)
        stands, self._seen = version == self._seen, version
        if version == self._read or not stands:
            return False
        before = self.control, self.wrong
        self._read = version
        try:
            if version is None:
                raise ControlError(
                    "control.toml is gone: its instructions stay in force; make an empty one to "
                    "take all back"
                )
            self.control, self.wrong = read(self._where), ""
        except ControlError as error:
            self.wrong = str(error)
        return (self.control, self.wrong) != before
