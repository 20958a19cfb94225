"""Which Chromium LSWC_BROWSER names."""

from __future__ import annotations

import pytest

from lswc.errors import ConfigError
from lswc.reading.browser.installed import CHROMIUMS, chromium


@pytest.mark.parametrize(
    ("there", "wanted", "path"),
    [
        (CHROMIUMS[1:], "auto", f"/bin/{CHROMIUMS[1]}"),
        (CHROMIUMS, "auto", f"/bin/{CHROMIUMS[0]}"),
        ((), "auto", None),
        (("mine", *CHROMIUMS), "mine", "/bin/mine"),
        (CHROMIUMS, "mine", None),
    ],
)
def test_the_first_that_is_there_or_the_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch, there: tuple[str, ...], wanted: str, path: str | None
) -> None:
    pytest.importorskip("playwright")
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name in there else None)
    if path is not None:
        assert chromium(wanted) == path
    else:
        with pytest.raises(ConfigError, match="LSWC_BROWSER="):
            chromium(wanted)
