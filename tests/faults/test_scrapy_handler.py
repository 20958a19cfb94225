"""Scrapy's own tests of its HTTP/1.1 handler pass on lswc's, but for those that are listed here.

``make faults`` takes them from Scrapy's source distribution.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(sys.prefix) / "scrapy_tests"
CASES = Path(__file__).with_name("scrapy_handler_cases.py")

_COUNTED = "what is too large, or lost, is counted by its outcome, not logged for each answer"
_FLAG = "a flag more says that the server hung up"
DIFFERENT = {
    "test_download_with_maxsize": _COUNTED,
    "test_download_with_maxsize_very_large_file": _COUNTED,
    "test_download_with_warnsize": _COUNTED,
    "test_download_with_warnsize_no_content_length": _COUNTED,
    "test_download_cause_data_loss_double_warning": _COUNTED,
    "test_download_allow_data_loss_broken": _FLAG,
    "test_download_allow_data_loss_broken_chunked": _FLAG,
    "test_download_allow_data_loss_via_setting": _FLAG,
    "test_tls_logging": "what a server's TLS is isn't logged",
    "test_verify_certs_deprecated": "a context factory of Twisted's isn't used: TLS is asyncio's",
}
"""The tests that fail, and why that is right."""


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is missing: make faults fetches it")
def test_scrapy_s_tests_of_its_handler_pass() -> None:
    name = "test_lswc_handler.py"
    (FOLDER / "tests" / name).write_text(CASES.read_text("utf-8"), "utf-8")
    # What this run tells its own processes isn't for that one.
    outer = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider",
            "-W", "ignore::pytest.PytestDeprecationWarning", "--reactor=asyncio", f"tests/{name}",
        ],
        cwd=FOLDER,
        env={**outer, "PYTHONPATH": str(FOLDER / "lib")},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )  # fmt: skip
    failed = set(re.findall(r"^FAILED \S+::(\w+)", done.stdout, re.MULTILINE))
    passed = re.search(r"(\d+) passed", done.stdout)
    assert failed == DIFFERENT.keys(), done.stdout[-9_000:]
    assert passed is not None
    assert int(passed[1]) > 200
