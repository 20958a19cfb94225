"""A question about the facts of a link, asked for every link there can be.

There are far more combinations of facts than a question tells apart. So it is watched which
facts it looks at, and asked over those alone.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lswc.strategy.facts import FIELDS, FROZEN, Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_UNUSED = {name: field.values[0] for name, field in FIELDS.items()}


class Answers(NamedTuple):
    """Answers to a question: ``distinct`` ones, each once, and for each code which it is.

    ``facts`` are the names of those that the question looks at. ``by_code`` leaves the seed's
    code out.
    """

    facts: frozenset[str]
    distinct: Sequence[Any]
    by_code: Sequence[int]


class _Watched:
    """Facts that remember which of them were looked at. They are read by name, and in no other way.

    So no question can look at facts unseen, for instance by comparing all of them at once.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: dict[str, Any], seen: set[str]) -> None:
        self._values, self._seen = values, seen

    def __getattr__(self, name: str) -> Any:
        if name not in FIELDS:
            raise AttributeError(f"a link has no fact {name!r}; known: {', '.join(FIELDS)}")
        self._seen.add(name)
        return self._values[name]

    def __eq__(self, other: object) -> bool:
        raise TypeError("facts are read by name: they can't be compared as a whole")

    def _replace(self, **values: Any) -> _Watched:
        return _Watched({**self._values, **values}, self._seen)


def ask_all(question: Callable[[Facts], Any]) -> Answers:
    """Ask a question for every code of a link. Answers must be hashable."""
    seen: set[str] = set()
    answers: dict[tuple[Any, ...], Any] = {}
    looked_at: set[str] | None = None
    while looked_at != seen:
        looked_at = set(seen)
        answers = _ask(question, looked_at, seen)
    numbers: dict[Any, int] = {}
    number_of = [numbers.setdefault(answer, len(numbers)) for answer in answers.values()]
    return Answers(
        frozenset(seen), tuple(numbers), tuple(map(number_of.__getitem__, _places(seen)))
    )


def _ask(
    question: Callable[[Facts], Any], looked_at: set[str], seen: set[str]
) -> dict[tuple[Any, ...], Any]:
    """Ask over all values of some facts; stop early when the question looks at another one."""
    asked = [field for field in FROZEN if field.name in looked_at]
    answers = {}
    for values in product(*(field.values for field in asked)):
        chosen = {field.name: value for field, value in zip(asked, values, strict=True)}
        watched = _Watched({**_UNUSED, **chosen}, seen)
        answers[values] = question(cast("Facts", watched))
        if not seen <= looked_at:
            break
    return answers


def _places(looked_at: set[str]) -> list[int]:
    """Return, for each code, the place of its answer among those asked."""
    places, step = [0], 1
    for field in reversed(FROZEN):
        values = len(field.values)
        if field.name in looked_at:
            places = [place + i * step for i in range(values) for place in places]
            step *= values
        else:
            places *= values
    return places
