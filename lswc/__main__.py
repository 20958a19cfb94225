"""``python -m lswc`` is ``lswc``."""

from lswc.terminal.program import main

if __name__ == "__main__":
    main()
