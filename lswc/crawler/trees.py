"""How much each archived page needs in all: it, its style sheets, what those import, and so on."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.reading.requisites import Requisite

REMEMBERED = 50_000
"""Files that may need more themselves, and whose page is remembered."""

_LEAVES = frozenset({"image", "icon", "font", "media", "manifest", "data"})


@dataclass(slots=True)
class _Tree:
    """A page with all that it needs: the number of files so far."""

    files: int = 0


class Trees:
    """Counts the files that each page needs, with those that its requisites need themselves.

    A file that several pages need belongs to the first. ``most`` is the bound of a page, 0 for
    none. Which page a file belongs to is forgotten at the end of the process, and when it lies long
    ago: then the file is counted as a page is.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._tree_of: OrderedDict[str, _Tree] = OrderedDict()

    def take(self, url: str, found: Sequence[Requisite], *, is_page: bool) -> Sequence[Requisite]:
        """Count what a page, or a requisite, needs; return as much of it as its page may have."""
        if not self._most:
            return found
        tree = None if is_page else self._tree_of.pop(url, None)
        tree = tree or _Tree()
        taken = found[: max(0, self._most - tree.files)]
        tree.files += len(taken)
        for requisite in taken:
            if requisite.kind not in _LEAVES or ".svg" in requisite.url:
                self._tree_of.setdefault(requisite.url, tree)
        while len(self._tree_of) > REMEMBERED:
            self._tree_of.popitem(last=False)
        return taken
