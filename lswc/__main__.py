"""Entry of ``lswc``: Ctrl-C is one line also while the libraries are still being loaded."""

import sys
from pathlib import Path


def main() -> None:
    """Run ``lswc.cli.program``, and exit with its exit code."""
    try:
        if sys.argv[1:2] == ["completion"] and _completes(*sys.argv[2:]):
            return
        from lswc.cli.program import main as run

        run()
    except KeyboardInterrupt:
        print("lswc: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(130)  # lswc.cli.command.INTERRUPTED, which may not be loaded yet


def _completes(*arguments: str) -> bool:
    """Print what a shell reads to complete arguments, before anything is loaded; if it is one."""
    path = Path(__file__).parent / "cli" / "completions" / "".join(arguments[:1])
    if len(arguments) != 1 or not path.is_file():
        return False
    print(path.read_text("utf-8"), end="")
    return True


if __name__ == "__main__":
    main()
