"""What each machine instruction of a loop is there for, read from the registers that it writes."""

import re

from course_lib.toolchain.inner_loop import written_registers
from course_lib.toolchain.loops import Loop

_ADDRESS = re.compile(r"\b(U?R)(\d+)(\.64)?")
_UNIFORM = re.compile(r"UR\d+")          # a register that all lanes share
_TESTS = ("ISETP", "UISETP")
KNOWN = {"FFMA": "multiply-add", "DFMA": "multiply-add", "LDS": "load from shared memory", "STS": "store to shared memory",
         "LDG": "load from global memory", "STG": "store to global memory", "BAR": "barrier", "BRA": "jump",
         **dict.fromkeys(_TESTS, "test")}


def purposes(loop: Loop) -> tuple[str, ...]:
    """Say for each instruction of a loop what it is there for.

    An instruction that writes a register by which memory is addressed makes an address; otherwise one that writes what a test reads
    keeps the counter. A register has one use in such a loop; where it has several, the address counts.

    Returns
    -------
    "multiply-add", "load from shared memory", "address", "counter", "test", "jump", "barrier" and so on, or "other".

    >>> from course_lib.toolchain import inner_loop
    >>> sorted(purposes(inner_loop("sgemm_unrolled", UNROLL=1).loop))[:4]
    ['address', 'address', 'counter', 'jump']
    """
    addresses, tested = set(), set()
    for instruction in loop.instructions:
        if instruction.bits:
            addresses |= _inside_brackets(instruction)
        elif instruction.base in _TESTS:
            tested |= {f"{letters}{number}" for operand in instruction.operands for letters, number, _ in _ADDRESS.findall(operand)}
    return tuple(_purpose(instruction, addresses, tested) for instruction in loop.instructions)


def _inside_brackets(instruction):
    """Return the registers of an access's address; `[R4.64]` has two."""
    found = set()
    for operand in instruction.operands:
        if "[" in operand:
            for letters, number, pair in _ADDRESS.findall(operand):
                found |= {f"{letters}{number}", f"{letters}{int(number) + bool(pair)}"}
    return found


def _purpose(instruction, addresses, tested):
    if instruction.base in KNOWN:
        return KNOWN[instruction.base]
    written = {f"R{number}" for number in written_registers(instruction)} | set(_UNIFORM.findall("".join(instruction.operands[:1])))
    if written & addresses:
        return "address"
    return "counter" if written & tested else "other"
