"""Deadline: until when more of a document is read."""

from __future__ import annotations

from time import monotonic, process_time

CPU_SECONDS = 5.0
"""Seconds of CPU after which no more of a document is read, unless another bound is given."""

_PATIENCE = 4  # times as many by the clock, where others use the machine too


class Deadline:
    """Ends what this process reads after so many seconds of its CPU.

    So what is read doesn't depend on who else uses the machine, but where that holds for long.
    """

    def __init__(self, seconds: float = CPU_SECONDS) -> None:
        self._end = process_time() + seconds
        self._latest = monotonic() + _PATIENCE * seconds

    @property
    def is_over(self) -> bool:
        """Whether no more is read."""
        return process_time() > self._end or monotonic() > self._latest
