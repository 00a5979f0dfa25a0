"""Instructions of a whole warp on small matrices, as the records that `runtime/tensor.cuh` reads.

`mma` and `wmma.mma` become a Product, `wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix` and `movmatrix` a Tile with the Access that
says where in memory. Every form that is not listed here is refused by name.

How `wmma.load` and `wmma.store` are counted follows the SASS that ptxas 13.5 writes for sm_90: of shared memory, when the space is
known at compile time, A and B come by `LDSM`; otherwise neighbours in a lane are one access where the layout lets them lie side by
side, 16-bit elements are transposed between registers (`MOVM`) where it does not, and other elements are fetched one by one.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.simt.errors import PtxSyntaxError
from course_lib.simt.isa import fragments
from course_lib.simt.isa.fragments import Fragment
from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.warp import NONE, refuse
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Mem, Operand, Reg, Vec, at_line
from course_lib.simt.runtime import abi

WHERE = "[.global|.shared|.shared::cta]"
WIDE = "m16n16k16|m32n8k16|m8n32k16"
LAYOUT = "(row|col)"
FORMS = {
    "Matrices of a warp": (
        ("mma.sync.aligned.(m16n8k16|m16n8k8).row.col.(f16.f16.f16.f16|f32.f16.f16.f32|f32.bf16.bf16.f32)", "{d}, {a}, {b}, {c}"),
        ("mma.sync.aligned.(m16n8k8|m16n8k4).row.col.f32.tf32.tf32.f32", "{d}, {a}, {b}, {c}"),
        ("mma.sync.aligned.(m8n8k4|m16n8k4|m16n8k8|m16n8k16).row.col.f64.f64.f64.f64[.rn]", "{d}, {a}, {b}, {c}"),
        ("mma.sync.aligned.(m8n8k16|m16n8k16|m16n8k32).row.col[.satfinite].s32.(s8|u8).(s8|u8).s32", "{d}, {a}, {b}, {c}"),
        (f"wmma.load.(a|b).sync.aligned.{LAYOUT}.({WIDE}){WHERE}.(f16|bf16|s8|u8)", "{d}, [a], b"),
        (f"wmma.load.(a|b).sync.aligned.{LAYOUT}.(m16n16k8{WHERE}.tf32|m8n8k4{WHERE}.f64)", "{d}, [a], b"),
        (f"wmma.load.c.sync.aligned.{LAYOUT}.(({WIDE}){WHERE}.(f16|f32|s32)|m16n16k8{WHERE}.f32|m8n8k4{WHERE}.f64)", "{d}, [a], b"),
        (f"wmma.store.d.sync.aligned.{LAYOUT}.(({WIDE}){WHERE}.(f16|f32|s32)|m16n16k8{WHERE}.f32|m8n8k4{WHERE}.f64)", "[a], {b}, c"),
        (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.({WIDE}).((f16|f32).(f16|f32)|f32.bf16.bf16.f32)", "{d}, {a}, {b}, {c}"),
        (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.({WIDE}).s32.(s8.s8|u8.u8).s32[.satfinite]", "{d}, {a}, {b}, {c}"),
        (f"wmma.mma.sync.aligned.{LAYOUT}.{LAYOUT}.(m16n16k8.f32.tf32.tf32.f32|m8n8k4.f64.f64.f64.f64[.rn])", "{d}, {a}, {b}, {c}"),
        ("ldmatrix.sync.aligned.m8n8.(x1|x2|x4)[.trans][.shared|.shared::cta].b16", "{d}, [a]"),
        ("stmatrix.sync.aligned.m8n8.(x1|x2|x4)[.trans][.shared|.shared::cta].b16", "[a], {b}"),
        ("movmatrix.sync.aligned.m8n8.trans.b16", "d, a"),
    ),
}

KINDS = ("f16", "bf16", "tf32", "f64", "s8", "u8")
LOAD, STORE = 0, 1  # abi.Access.kind
BLOCKED, LDMATRIX, STMATRIX, MOVMATRIX = range(4)
VECTORS, TRANSPOSED, SINGLES, ROWS = range(4)
MOST_ALIGNED = 16  # bytes: the manual wants rows to start at multiples of a fragment's size, CUDA's guide at multiples of 16 bytes
HALVES = (("f16", "f16", "f16"), ("f16", "f32", "f32"))
MMA = {  # shape -> the (factor, C, D) types that mma.sync takes here
    "m16n8k16": (*HALVES, ("bf16", "f32", "f32"), ("f64",) * 3, ("i8", "s32", "s32")),
    "m16n8k8": (*HALVES, ("bf16", "f32", "f32"), ("tf32", "f32", "f32"), ("f64",) * 3),
    "m16n8k4": (("tf32", "f32", "f32"), ("f64",) * 3),
    "m8n8k4": (("f64",) * 3,),
    "m16n8k32": (("i8", "s32", "s32"),),
    "m8n8k16": (("i8", "s32", "s32"),),
}
WIDE_TYPES = (*(("f16", c, d) for c in ("f16", "f32") for d in ("f16", "f32")), ("bf16", "f32", "f32"), ("i8", "s32", "s32"))
WMMA = {**dict.fromkeys(("m16n16k16", "m32n8k16", "m8n32k16"), WIDE_TYPES), "m16n16k8": (("tf32", "f32", "f32"),),
        "m8n8k4": (("f64",) * 3,)}
FUSED = {"f16": 16, "bf16": 16, "tf32": 8}  # products that one step of an H200's tensor core adds up


@dataclass(frozen=True)
class Tensor:
    """What the reference generator's code passes to the runtime: its function, the records, and the Fragments whose maps go with them."""

    function: str
    record: Any
    access: Any = None
    maps: tuple[Fragment, ...] = ()
    pipe: str = ""  # tensor pipe that executes it: hmma, dmma, imma
    machine_instructions: int = 0  # there, for one of PTX
    multiply_adds: int = 0  # of a warp, in a product of its warpgroup
    factors: str = ""  # their type there: f16, bf16, tf32, f8 or i8
    operand_bytes: tuple[int, int] = (0, 0)  # of A and B in shared memory, a warp's quarter of those of its warpgroup


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's."""
    return ins.kind is Kind.MATRIX


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor of an instruction.

    Raises
    ------
    UnsupportedInstruction, PtxSyntaxError
        A form that is not covered; operands that do not fit the form.
    """
    if ins.opcode[0] == "mma":
        return describe_product(program, ins, number)
    if ins.opcode[0] == "wmma":
        if ins.opcode[1] == "mma":
            return describe_product(program, ins, number)
        if ins.opcode[1] in ("load", "store"):
            return wmma_access(program, ins, number)
        raise refuse(ins)
    return matrices(program, ins, number)


# -- products --------------------------------------------------------------------------------------
def describe_product(program: Placed, ins: Instruction, number: int) -> Tensor:
    wmma = ins.opcode[0] == "wmma"
    shape_name, layouts, types, saturate = product_form(ins, wmma)
    kind, c, d = types[1], types[3], types[0]
    known = (WMMA if wmma else MMA).get(shape_name, ())
    integer = kind in ("s8", "u8") and types[2] in ("s8", "u8")
    if ("i8" if integer else kind, c, d) not in known or not integer and types[2] != kind or saturate and not integer:
        raise refuse(ins)
    if not wmma and layouts != ("row", "col") or layouts[0] not in ("row", "col") or layouts[1] not in ("row", "col"):
        raise refuse(ins)
    shape = numbers(shape_name)
    parts = fragments.operands(shape, kind, c, d, wmma)
    record = abi.Product(number=number, m=shape[0], n=shape[1], k=shape[2], split=min(FUSED.get(kind, shape[2]), shape[2]),
                            kind=("f16", "bf16", "tf32", "f64", "i8").index("i8" if integer else kind), c_half=c == "f16",
                            d_half=d == "f16", saturate=saturate, signed_a=kind == "s8", signed_b=types[2] == "s8")
    if wmma and kind == "tf32":
        record.split = 4  # ptxas makes two HMMA.1684 of it, one after the other
    if len(ins.operands) != 4:
        raise malformed(ins, "it takes D, A, B and C")
    for name, operand, part in zip("dabc", ins.operands, (parts[3], *parts[:3])):
        getattr(record, name)[:part.registers] = registers(program, ins, operand, part)
    record.a_registers, record.b_registers, record.c_registers, record.d_registers = (p.distinct for p in parts)
    record.apart = apart(record)
    pipe = {"f64": "dmma", "s8": "imma", "u8": "imma"}.get(kind, "hmma")
    steps = -(-shape[2] // record.split) * (2 if wmma and kind != "f64" else 1)
    return Tensor("multiply", record, maps=parts[:3], pipe=pipe, machine_instructions=steps)


def apart(record: Any) -> bool:
    """Say whether D can be written element by element: no register of it is read later."""
    a, b, c, d = (getattr(record, name)[:getattr(record, f"{name}_registers")] for name in "abcd")
    return not set(d) & {*a, *b} and not any(to in c and (i >= len(c) or c[i] != to or c.count(to) > 1) for i, to in enumerate(d))


def product_form(ins: Instruction, wmma: bool) -> tuple[str, tuple[str, ...], list[str], bool]:
    """Return (shape, (layout of A, of B), [D, A, B, C types], satfinite) as an opcode spells them."""
    words = list(ins.opcode[2 if wmma else 1:])
    if words[:2] != ["sync", "aligned"]:
        raise refuse(ins)
    words = words[2:]
    saturate = "satfinite" in words
    words = [w for w in words if w not in ("satfinite", "rn")]
    if wmma:
        words = [words[2], *words[:2], *words[3:]] if len(words) > 3 else words
    if len(words) not in (5, 7) or len(words) == 5 and not wmma:
        raise refuse(ins)
    shape, layouts, types = words[0], tuple(words[1:3]), words[3:]
    if len(types) == 2:  # half precision names D and C alone
        types = [types[0], "f16", "f16", types[1]]
    if "rn" in ins.opcode and types[1] != "f64":
        raise refuse(ins)
    return shape, layouts, types, saturate


def numbers(shape: str) -> tuple[int, int, int]:
    """Return the (m, n, k) of a shape such as `m16n8k16`."""
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


# -- operands --------------------------------------------------------------------------------------
def malformed(ins: Instruction, why: str) -> PtxSyntaxError:
    return PtxSyntaxError(f"{at_line(ins)}{ins.name}: {why}.", line=ins.where, opcode=ins.name)


def registers(program: Placed, ins: Instruction, operand: Operand, part: Fragment) -> list[int]:
    """Return the byte offsets of an operand's registers, which must be as many and as wide as the Fragment says."""
    items = operand.items if isinstance(operand, Vec) else (operand,)
    return slots(program, ins, items, part.registers, part.register_bytes)


def slots(program: Placed, ins: Instruction, items: Sequence[Operand], count: int, size: int) -> list[int]:
    if len(items) != count or not all(isinstance(item, Reg) and item.name in program.slots and not item.negated for item in items):
        raise malformed(ins, f"{count} registers are wanted, {len(items)} operands stand there")
    found = [program.slots[item.name] for item in items if isinstance(item, Reg)]
    if any(t != f"i{8 * size}" for _, t in found):
        raise malformed(ins, f"registers of {8 * size} bits are wanted")
    return [at for at, _ in found]


def address(program: Placed, ins: Instruction, operand: Operand, access: Any) -> None:
    """Fill in where an access finds its address."""
    if not isinstance(operand, Mem):
        raise malformed(ins, "the address stands in brackets")
    access.offset, access.address_bytes = operand.offset, 8
    if isinstance(operand.base, Reg):
        if operand.base.name not in program.slots or program.slots[operand.base.name][1] not in ("i32", "i64"):
            raise malformed(ins, f"{operand.base.name} is no address register")
        access.address, t = program.slots[operand.base.name]
        access.address_bytes, access.has_address = int(t[1:]) // 8, 1


def space_of(ins: Instruction) -> str:
    """Return the state space that an opcode names: `generic` when it names none."""
    words = [word.split("__")[0] for word in ins.opcode]
    return next((w for w in words if w in ("global", "shared")), "generic")


# -- memory ----------------------------------------------------------------------------------------
def wmma_access(program: Placed, ins: Instruction, number: int) -> Tensor:
    """`wmma.load.{a,b,c}.sync.aligned.layout.shape{.space}.type` and `wmma.store.d…`."""
    words, store = ins.opcode, ins.opcode[1] == "store"
    which, order, shape, kind = words[2], words[5] if len(words) > 7 else "", words[6] if len(words) > 7 else "", words[-1]
    if words[3:5] != ("sync", "aligned") or len(words) not in (8, 9) or order not in ("row", "col") or store != (which == "d"):
        raise refuse(ins)
    part = wmma_part(ins, which, shape, kind)
    space = space_of(ins)
    if len(words) == 9 and space == "generic":
        raise refuse(ins)
    operands = list(ins.operands)
    if len(operands) not in (2, 3) or store and not isinstance(operands[0], Mem):
        raise malformed(ins, "it takes the registers, [address] and the stride")
    data, where = (operands[1], operands[0]) if store else operands[:2]
    size = fragments.BYTES[kind]
    mode, width = pieces(part, order, size, space == "shared" and which in "ab" and kind != "tf32" and size < 4)
    tile = abi.Tile(kind=BLOCKED, number=number, mode=mode, element=size, neighbours=width // size if mode == VECTORS else 1,
                       distinct=part.distinct, copies=part.copies, per_register=part.per_register,
                       register_bytes=part.register_bytes, row_major=order == "row", transposed=(order == "row") != part.along_rows,
                       aligned=min(part.registers * part.register_bytes, MOST_ALIGNED))
    tile.slot[:part.registers] = registers(program, ins, data, part)
    stride(program, ins, operands[2] if len(operands) == 3 else None, tile, numbers(shape), which, order)
    access = abi.Access(kind=STORE if store else LOAD, space=abi.SPACES[space], width=width, count=1, line=ins.line, number=number)
    address(program, ins, where, access)
    return Tensor("access_tile", tile, access, (part,))


def wmma_part(ins: Instruction, which: str, shape: str, kind: str) -> Fragment:
    """Return the Fragment that a wmma.load or wmma.store moves."""
    forms = WMMA.get(shape, ())
    for factor, c, d in forms:
        of = factor if factor != "i8" else kind if kind in ("s8", "u8") else "s8"
        wanted = {"a": of, "b": of, "c": c, "d": d}.get(which)
        if wanted == kind:
            return fragments.operands(numbers(shape), of, c, d, wmma=True)["abcd".index(which)]
    raise refuse(ins)


def pieces(part: Fragment, order: str, size: int, by_rows: bool) -> tuple[int, int]:
    """Return how the assembler splits the access into instructions, and bytes per lane of each."""
    side_by_side = (order == "row") == part.along_rows
    if by_rows and (side_by_side or size == 2):
        return ROWS, 16
    if side_by_side:
        return VECTORS, size * part.neighbours
    return (TRANSPOSED, 4) if size == 2 else (SINGLES, size)


def stride(program: Placed, ins: Instruction, operand: Operand | None, tile: Any, shape: tuple[int, int, int], which: str,
           order: str) -> None:
    """Fill in the elements between two rows (or columns); without an operand the matrix is dense."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n)}.get(which, (m, n))
    tile.stride, tile.default_stride = NONE, columns if order == "row" else rows
    if operand is None:
        return
    if isinstance(operand, Imm) and not operand.float_bytes:
        tile.default_stride = operand.value & 0xFFFFFFFF
    else:
        tile.stride = slots(program, ins, (operand,), 1, 4)[0]


def matrices(program: Placed, ins: Instruction, number: int) -> Tensor:
    """`ldmatrix`, `stmatrix` and `movmatrix`: 8x8 matrices of 16-bit elements, a row of 16 bytes at each address."""
    words = ins.opcode
    if words[0] == "movmatrix":
        if words[1:] != ("sync", "aligned", "m8n8", "trans", "b16") or len(ins.operands) != 2:
            raise refuse(ins)
        tile = abi.Tile(kind=MOVMATRIX, number=number, distinct=1)
        tile.slot[:2] = slots(program, ins, ins.operands, 2, 4)
        return Tensor("access_tile", tile, abi.Access(number=number, line=ins.line), (fragments.accumulator(8, 8, "f16"),))
    store = words[0] == "stmatrix"
    rest = [w.split("__")[0] for w in words[5:]]
    trans = "trans" in rest
    if (words[1:4] != ("sync", "aligned", "m8n8") or words[4] not in ("x1", "x2", "x4")
            or rest not in (["trans"] * trans + ["shared", "b16"], ["trans"] * trans + ["b16"]) or len(ins.operands) != 2):
        raise refuse(ins)
    data, where = ins.operands[::-1] if store else ins.operands
    count = int(words[4][1])
    tile = abi.Tile(kind=STMATRIX if store else LDMATRIX, number=number, mode=ROWS, element=2, distinct=count, copies=1,
                       per_register=2, register_bytes=4, transposed=trans)
    tile.slot[:count] = slots(program, ins, data.items if isinstance(data, Vec) else (data,), count, 4)
    access = abi.Access(kind=STORE if store else LOAD, space=abi.SPACES[space_of(ins)], width=16, count=1, line=ins.line,
                           number=number)
    address(program, ins, where, access)
    return Tensor("access_tile", tile, access, (fragments.accumulator(8, 8, "f16"),))


def map_bytes(part: Fragment) -> bytes:
    """Return a Fragment as the bytes of the runtime's Map."""
    table = abi.Map(count=part.elements)
    for lane, positions in enumerate(part.positions):
        for e, (row, column) in enumerate(positions):
            table.row[lane * fragments.MOST + e], table.column[lane * fragments.MOST + e] = row, column
    return ctypes.string_at(ctypes.addressof(table), ctypes.sizeof(table))
