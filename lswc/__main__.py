"""Entry of ``lswc``: Ctrl-C is one line also while the libraries are still being loaded."""

import sys


def main() -> None:
    """Run ``lswc.cli.program``, and exit with its exit code."""
    try:
        from lswc.cli.program import main as run

        run()
    except KeyboardInterrupt:
        print("lswc: stopped by Ctrl-C", file=sys.stderr)
        sys.exit(130)  # lswc.cli.command.INTERRUPTED, which may not be loaded yet


if __name__ == "__main__":
    main()
