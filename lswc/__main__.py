"""``python -m lswc`` is ``lswc``."""

from lswc.cli.program import main

if __name__ == "__main__":
    main()
