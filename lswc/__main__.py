"""Entry of ``lswc``: Ctrl-C is one line also while the libraries are still being loaded.

Who reads the output may go before its end (``lswc why ... | head``): that is no fault.
"""

import gc
import os
import sys
from pathlib import Path
from select import poll

from lswc.standard_files import open_missing


def main() -> None:
    """Run ``lswc.cli.program``, and exit with its exit code."""
    open_missing()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("lswc: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(130)  # lswc.cli.command.INTERRUPTED, which may not be loaded yet
    except BrokenPipeError:
        if not _is_unread():
            raise
        sys.exit(1)  # as Rich does


def _run() -> None:
    if sys.argv[1:2] == ["completion"] and _completes(*sys.argv[2:]):
        return
    # What libraries make while they load stays, and looking through it for garbage, now and at the
    # end, takes a third of a short command's time.
    gc.disable()
    from lswc.cli.program import main as run

    gc.freeze()
    gc.enable()
    run()


def _is_unread() -> bool:
    """Tell whether nobody reads the output any more; then it isn't tried again at the exit."""
    output = sys.stdout.fileno()
    asked = poll()
    asked.register(output, 0)
    if not asked.poll(0):
        return False
    os.dup2(os.open(os.devnull, os.O_WRONLY), output)
    return True


def _completes(*arguments: str) -> bool:
    """Print what a shell reads to complete arguments, before anything is loaded; if it is one."""
    path = Path(__file__).parent / "cli" / "completions" / "".join(arguments[:1])
    if len(arguments) != 1 or not path.is_file():
        return False
    print(path.read_text("utf-8"), end="")
    return True


if __name__ == "__main__":
    main()
