"""Confinement: a process that reads pages gives up what it doesn't need, for good.

Whatever a page makes of such a process, it has little to use. Its memory, its open files and what
it may write are bounded everywhere. On Linux (x86-64 and arm64) the kernel refuses it what leads
out, by a filter of its calls (seccomp(2)): new sockets, files to write, other programs, processes,
signals to them and their memory. It needs no rights and no library, and holds in containers too.
Files may still be read: modules are.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import stat
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

MEMORY = 1_000_000_000
"""Bytes of addresses that the process may have. A reader begins with a fifth; a page takes some
millions."""

FILES = 128
"""Files that it may have open."""

_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Networks; io_uring does all of it, past any filter.
    "socket": (41, 198), "socketpair": (53, 199), "io_uring_setup": (425, 425),
    # What files there are, and what they say.
    "creat": (85, None), "truncate": (76, 45), "mkdir": (83, None), "mkdirat": (258, 34),
    "mknod": (133, None), "mknodat": (259, 33), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37), "symlink": (88, None),
    "symlinkat": (266, 36), "unlink": (87, None), "unlinkat": (263, 35), "rmdir": (84, None),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "mount": (165, 40),
    # Programs and processes.
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434), "pidfd_getfd": (438, 438), "pidfd_send_signal": (424, 424),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "unshare": (272, 97), "setns": (308, 268),
    # Parts of the kernel that reading never needs.
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
}  # fmt: skip
"""Calls that are refused, by their numbers on x86-64 and on arm64 (asm/unistd.h)."""

_UNKNOWN = {"openat2": (437, 437), "clone3": (435, 435)}
"""Calls that the C library does without: their arguments can't be looked at."""

_RUNS = ("execve",)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CLONE_THREAD = 0x10000
# The number of a machine in the kernel's words (linux/audit.h), and its place in the tables.
_MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
_X32 = 0x40000000  # x86-64 has further numbers for the same calls, from here on

_LOAD, _EQUAL, _AT_LEAST, _HAS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/bpf_common.h
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000  # linux/seccomp.h
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
_NO_NEW_PRIVILEGES, _SET_FILTER = 38, 1
# For all threads; and, which Linux has since 4.17, without what makes a filtered process slower by
# some per cent before 5.16: what is kept from others' code here is no secret.
_FLAGS = (1 | 4, 1)
_SECCOMP = (317, 277)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def confine(*, runs_program: bool = False) -> bool:
    """Confine this process; return whether the system has a filter of calls for it.

    Where it has none, what is bounded is all. One that ``runs_program`` may become another, which
    is confined as it is, and write into the files that it was given.
    """
    _bound(resource.RLIMIT_AS, MEMORY)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _bound(resource.RLIMIT_NOFILE, FILES)
    if not runs_program and not _is_file(sys.__stderr__.fileno() if sys.__stderr__ else -1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return sys.platform == "linux" and _filtered(os.uname().machine, runs_program)


def _bound(kind: int, most: int) -> None:
    """Let this process have so much of a resource at most; less if it has less."""
    hard = resource.getrlimit(kind)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))


def _is_file(number: int) -> bool:
    """Tell whether a file is on a disk: what goes wrong may be said to one."""
    try:
        return stat.S_ISREG(os.fstat(number).st_mode)
    except OSError:
        return False


def _filtered(machine: str, runs_program: bool) -> bool:
    if machine not in _MACHINES:
        return False
    audit, place = _MACHINES[machine]
    code = b"".join(_instructions(audit, place, _RUNS if runs_program else ()))
    program = _Program(len(code) // 8, code)
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    filters = (
        system.syscall(_SECCOMP[place], _SET_FILTER, flags, ctypes.byref(program)) == 0
        for flags in _FLAGS
    )
    return any(filters)


def _instructions(audit: int, place: int, allowed: Collection[str]) -> list[bytes]:
    """Return the filter: classic BPF, 8 bytes an instruction (linux/filter.h)."""
    refuse, unknown = _one(_RETURN, _ERROR | errno.EPERM), _one(_RETURN, _ERROR | errno.ENOSYS)
    allow = _one(_RETURN, _ALLOW)
    found = [
        _one(_LOAD, _MACHINE), _one(_EQUAL, audit, 1, 0), refuse,
        _one(_LOAD, _NUMBER), _one(_AT_LEAST, _X32, 0, 1), refuse,
    ]  # fmt: skip
    for calls, answer in ((_REFUSED, refuse), (_UNKNOWN, unknown)):
        for name, numbers in calls.items():
            if name not in allowed and (number := numbers[place]) is not None:
                found += [_one(_EQUAL, number, 0, 1), answer]
    # The calls that are looked at: an argument, and its bits that decide.
    for numbers, argument, bits, if_set, if_not in (
        ((2, None), 1, _WRITES, refuse, allow),  # open
        ((257, 56), 2, _WRITES, refuse, allow),  # openat
        ((56, 220), 0, _CLONE_THREAD, allow, refuse),  # clone: a thread is no process
    ):
        if (number := numbers[place]) is not None:
            look = _one(_LOAD, _ARGUMENTS + 8 * argument)
            found += [_one(_EQUAL, number, 0, 4), look, _one(_HAS, bits, 0, 1), if_set, if_not]
    return [*found, allow]


def _one(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
