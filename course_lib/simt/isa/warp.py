"""Atomics and instructions between lanes: their operands as the records that the runtime reads."""

from collections.abc import Iterator, Sequence
from typing import Any

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa.protocols import Placed, Signature
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Reg, at_line, opened, type_bytes
from course_lib.simt.runtime import abi

FORMS = {
    "Barriers and exchange between lanes": (
        ("shfl.sync.(up|down|bfly|idx).b32", "d[|p], a, b, c, e"), ("vote.sync.(all|any|uni).pred", "p, [!]a, b"),
        ("vote.sync.ballot.b32", "d, [!]a, b"), ("match.any.sync.(b32|b64)", "d, a, b"), ("match.all.sync.(b32|b64)", "d[|p], a, b"),
        ("activemask.b32", "d"), ("elect.sync", "d|p, a"), ("redux.sync.(add|min|max).(u32|s32)", "d, a, b"),
        ("redux.sync.(and|or|xor).b32", "d, a, b"),
    ),
}

CHANGES = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
PLACES = {part: place for place, parts in enumerate((
    ("relaxed", "acquire", "release", "acq_rel"), ("cta", "cluster", "gpu", "sys"), ("global", "shared"), CHANGES, ("noftz",), ("L2",),
    ("v2", "v4", "v8"))) for part in parts}
WIDTHS = ("v2", "v4", "v8")
NUMBERS = (("u", "b16", "b32", "b64", "b128"), ("s",), ("f32", "f64"), ("f16",), ("bf16",))  # the runtime's enum Number
NONE = 0xFFFFFFFF
SHUFFLES = ("up", "down", "bfly", "idx")
VOTES = ("all", "any", "uni", "ballot")
KINDS = ("shfl", "vote", "match", "redux", "activemask", "elect")
IN_CUDA = {"bfly": "xor", "idx": ""}  # what CUDA C calls a shuffle that PTX calls so


def refuse(ins: Instruction) -> UnsupportedInstruction:
    return UnsupportedInstruction(f"{at_line(ins)}the simulator does not know the form {ins.name}.", opcode=ins.name, line=ins.where)


def constants(ins: Instruction) -> Iterator[tuple[Imm, str]]:
    """Yield (Imm, LLVM type) for each literal operand that needs a slot of its own."""
    if ins.kind is Kind.ATOMIC:
        t = f"i{8 * type_bytes(ins.opcode[-1])}"
        yield from ((o, t) for o in opened(ins.operands) if isinstance(o, Imm))
    elif ins.kind is Kind.EXCHANGE:
        results, sources = signature(ins)
        yield from ((o, t) for o, t in zip(ins.operands, results + sources) if isinstance(o, Imm))


def signature(ins: Instruction) -> Signature:
    """Return (LLVM types of the results, of the sources but for an address) of an atomic or an instruction between lanes."""
    name, kind = ins.opcode[0], ins.opcode[-1]
    if ins.kind is Kind.ATOMIC:
        every = (f"i{8 * type_bytes(kind)}",) * elements(ins)
        return every * (name == "atom"), every * (2 if "cas" in ins.opcode else 1)
    if name == "shfl":
        return ("i32", "i1")[:max(len(ins.operands) - 4, 1)], ("i32",) * 4
    if name == "match":
        return ("i32", "i1")[:max(len(ins.operands) - 2, 1)], ("i64" if kind == "b64" else "i32", "i32")
    if name == "elect":
        return ("i32", "i1"), ("i32",)
    if name == "vote":
        return ("i32" if "ballot" in ins.opcode else "i1",), ("i1", "i32")
    return ("i32",), ("i32",) * 2 if name == "redux" else ()


def in_cuda(ins: Instruction) -> str:
    """Return what CUDA C calls an instruction between lanes that has a mask.

    >>> for name in ("shfl.sync.bfly.b32", "vote.sync.ballot.b32", "match.all.sync.b64", "redux.sync.add.s32", "bar.warp.sync"):
    ...     print(in_cuda(Instruction(tuple(name.split(".")), (), None, 1)))
    __shfl_xor_sync
    __ballot_sync
    __match_all_sync
    __reduce_add_sync
    __syncwarp
    """
    if ins.kind is Kind.WARP_BARRIER:
        return "__syncwarp"
    name, flavour = ins.opcode[0], next((p for p in ins.opcode[1:] if p != "sync"), "")
    parts = {"shfl": ("shfl", IN_CUDA.get(flavour, flavour)), "vote": (flavour,), "redux": ("reduce", flavour)}.get(name, (name, flavour))
    return "_".join(("__" + parts[0], *filter(None, parts[1:]), "sync"))


def elements(ins: Instruction) -> int:
    """Return how many numbers an atomic changes: 1, or as many as `.v2`, `.v4` or `.v8` says."""
    return next((int(part[1:]) for part in ins.opcode if part in WIDTHS), 1)


def in_order(opcode: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of atom or red in the manual's order. The assembler takes them in any, and NVIDIA's libraries write several.

    >>> in_order("atom.add.global.release.gpu.u32".split("."))
    ('atom', 'release', 'gpu', 'global', 'add', 'u32')
    """
    return (opcode[0], *sorted(opcode[1:], key=lambda part: PLACES.get(part.partition("::")[0].partition("__")[0], len(PLACES))))


def slot(program: Placed, operand: Reg | Imm, t: str) -> int:
    """Return the byte offset of an operand in the register file."""
    return program.slots[operand.name if isinstance(operand, Reg) else f"#{t}:{operand.value}"][0]


def atomic(program: Placed, ins: Instruction, access: Any) -> Any:
    """Complete the Access of an atom or red instruction."""
    kind, change = ins.opcode[-1], next(p for p in ins.opcode if p in CHANGES)
    t, count = f"i{8 * type_bytes(kind)}", access.count
    access.kind, access.tag, access.item_bytes = 2, CHANGES.index(change), type_bytes(kind)
    access.sign = next(n for n, letters in enumerate(NUMBERS) if kind.startswith(letters))
    results = [*opened(ins.operands[:ins.results])] or [Reg("_")] * count
    sources = [o for o in opened(ins.operands[ins.results:]) if not isinstance(o, Mem)]
    for i, register in enumerate(results):
        access.item[i] = NONE if register.name == "_" else program.slots[register.name][0]
    for i, operand in enumerate(sources, count):
        access.item[i] = slot(program, operand, t)
    return access


def cross(program: Placed, ins: Instruction, number: int) -> Any:
    """Return the Cross record of a shuffle, vote, match, reduction or activemask."""
    name, record = ins.opcode[0], abi.Cross(number=number, predicate=NONE, bytes=4)
    record.kind, record.mask = KINDS.index(name), NONE
    if "sync" in ins.opcode:  # the last operand names the lanes that take part
        members = ins.operands[-1]
        record.mask, record.known = slot(program, members, "i32"), 0 if isinstance(members, Reg) else members.value & 0xFFFFFFFF
    targets = ins.destinations
    record.result = program.slots[targets[0].name][0] if targets else NONE
    given = ins.operands[ins.results:]
    if name == "shfl":
        record.flavour = SHUFFLES.index(next(p for p in ins.opcode if p in SHUFFLES))
        record.a, record.b, record.c = (slot(program, o, "i32") for o in given[:3])
    elif name == "vote":
        record.flavour = VOTES.index(next(p for p in ins.opcode if p in VOTES))
        if not isinstance(given[0], Reg):
            raise refuse(ins)
        record.a, record.b = program.slots[given[0].name][0], given[0].negated
    elif name == "match":
        record.flavour, record.bytes = int("all" in ins.opcode), type_bytes(ins.opcode[-1]) if ins.opcode[-1][0] == "b" else 4
        record.a = slot(program, given[0], f"i{8 * record.bytes}")
    elif name == "redux":
        change = next((p for p in ins.opcode if p in CHANGES[:6]), None)
        if change is None or ins.opcode[-1] not in ("s32", "u32", "b32"):
            raise refuse(ins)
        record.flavour = 2 * CHANGES.index(change) + (ins.opcode[-1] == "s32")
        record.a = slot(program, given[0], "i32")
    if name in ("shfl", "match", "elect") and ins.results == 2:
        record.predicate = program.slots[ins.operands[1].name][0]
    return record
