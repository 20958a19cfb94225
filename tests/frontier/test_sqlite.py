"""What only the frontier of one process promises."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.contract import FrontierError
from lswc.frontier.sqlite import SqliteFrontier
from lswc.strategy import strategy

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = {"language": "th"}


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "frontier.db"
    with (
        closing(SqliteFrontier(path, strategy("bfs"), IDENTITY)),
        pytest.raises(FrontierError, match="another process"),
    ):
        SqliteFrontier(path, strategy("bfs"), IDENTITY)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "frontier.db").write_bytes(b"something else entirely" * 100)
    with pytest.raises(FrontierError, match="not a frontier of lswc"):
        SqliteFrontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)
