"""Confined program: another program in this process's place, as confined as a reader of pages.

``python -m lswc.reading.confined_program SECONDS BYTES PROGRAM [ARGUMENTS]``. The program has so
many seconds of CPU and the memory of a reader. It opens no file to write, no socket and no process.
Its standard output, a file that it is given, takes so many bytes.
"""

from __future__ import annotations

import os
import resource
import sys

from lswc.reading.confinement import confine

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "HOME": "/nonexistent", "OMP_THREAD_LIMIT": "1"}


def main() -> None:
    """Become the program."""
    seconds, size, program, *arguments = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
    confine(runs_program=True)
    os.execve(program, [program, *arguments], _ENVIRONMENT)


if __name__ == "__main__":
    main()
