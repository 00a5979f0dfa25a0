"""Which system calls a program in the sandbox cannot make: a filter for the kernel, as `bwrap --seccomp` takes it.

Limits of memory hold for a process, and the limit on their number not for the administrator's account: so an answer in Python may not
make processes at all. It may start threads, which share its limits. Neither may it keep memory that no limit counts.

Source: Linux, `include/uapi/linux/filter.h`, `seccomp.h`, `audit.h`; the numbers of the calls from `asm/unistd.h` of each machine.
"""

import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _FIRST_ARGUMENT = 0, 4, 16          # offsets in struct seccomp_data
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_THREAD = 0x10000                                      # CLONE_THREAD
_OTHER_NUMBERS = 0x40000000                            # the x32 numbers of x86-64
# machine -> (its name for the kernel, {call: number})
_MACHINES = {
    "x86_64": (0xC000003E, {
        "clone": 56, "clone3": 435, "fork": 57, "vfork": 58, "shmget": 29, "memfd_create": 319, "memfd_secret": 447, "ptrace": 101,
        "process_vm_readv": 310, "process_vm_writev": 311, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250,
        "add_key": 248, "request_key": 249, "io_uring_setup": 425}),
    "aarch64": (0xC00000B7, {
        "clone": 220, "clone3": 435, "shmget": 194, "memfd_create": 279, "memfd_secret": 447, "ptrace": 117, "process_vm_readv": 270,
        "process_vm_writev": 271, "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217,
        "request_key": 218, "io_uring_setup": 425}),
}
_MAKE_PROCESSES = ("clone", "clone3", "fork", "vfork")


def program(processes: bool, machine: str | None = None) -> bytes | None:
    """Return the filter as bytes, 8 for each of its instructions.

    Parameters
    ----------
    processes
        Whether the program may make processes.
    machine
        Default: this one.

    Returns
    -------
    bytes or None
        None for a machine whose numbers are not in the table.

    >>> len(program(True, "x86_64")) % 8, program(True, "vax")
    (0, None)
    """
    if (machine or platform.machine()) not in _MACHINES:
        return None
    name, calls = _MACHINES[machine or platform.machine()]
    refused = [number for call, number in calls.items() if call not in _MAKE_PROCESSES or not processes and call in ("fork", "vfork")]
    code = [(_LOAD, 0, 0, _MACHINE), (_EQUAL, 1, 0, name), (_RETURN, 0, 0, _KILL),
            (_LOAD, 0, 0, _NUMBER), (_AT_LEAST, 0, 1, _OTHER_NUMBERS), _error(errno.EPERM)]
    for number in refused:
        code += [(_EQUAL, 0, 1, number), _error(errno.EPERM)]
    if not processes:                    # the C library then asks by `clone`, whose flags can be looked at
        code += [(_EQUAL, 0, 1, calls["clone3"]), _error(errno.ENOSYS), (_EQUAL, 0, 3, calls["clone"]),
                 (_LOAD, 0, 0, _FIRST_ARGUMENT), (_ANY_BIT, 1, 0, _THREAD), _error(errno.EPERM)]
    code.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def _error(number):
    return _RETURN, 0, 0, _REFUSE | number
