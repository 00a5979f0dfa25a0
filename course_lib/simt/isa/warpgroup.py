"""Instructions of a warpgroup, four warps of 128 neighbouring threads: `wgmma` and its waits, and `setmaxnreg`, as the runtime's records.

`wgmma.mma_async` multiplies 64 rows of A with N columns of B, 32 bytes deep. B, and A where it does not come from registers, lie in
shared memory where a matrix descriptor says (`runtime/descriptors.cuh`). The product is carried out when a wait for its group asks for it
(`runtime/warpgroup.cuh`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from course_lib.simt.errors import UnsupportedInstruction
from course_lib.simt.isa.protocols import Placed
from course_lib.simt.isa.tensor import Tensor, malformed, numbers, slots
from course_lib.simt.isa.warp import NONE, refuse
from course_lib.simt.ptx.ir import Imm, Instruction, Kind, Reg, Vec, at_line, opened
from course_lib.simt.runtime import abi


def widths(numbers_of_columns: Iterable[int], depth: int) -> str:
    """Return the shapes with these numbers of columns, as a row of the table writes them."""
    return f"m64n({'|'.join(map(str, numbers_of_columns))})k{depth}"


COLUMNS = range(8, 257, 8)
BYTE_COLUMNS = (8, 24, *range(16, 257, 16))      # of integers
BYTES = "(s8|u8)"
EIGHTS = "(e4m3|e5m2)"
START = "wgmma.mma_async.sync.aligned."
HALVES = f"{START}{widths(COLUMNS, 16)}.((f16|f32).f16.f16|f32.bf16.bf16)"
FORMS = {
    "Matrices of a warpgroup": (
        (HALVES, "{d}, a, b, c, imm, imm, imm, imm"), (HALVES, "{d}, {a}, b, c, imm, imm, imm"),
        *((form, f"{{d}}, {a}, b, c, imm, imm") for a in ("a", "{a}")
          for form in (f"{START}{widths(COLUMNS, 8)}.f32.tf32.tf32", f"{START}{widths(COLUMNS, 32)}.(f16|f32).{EIGHTS}.{EIGHTS}")),
        *((f"{START}{widths(sorted(BYTE_COLUMNS), 32)}[.satfinite].s32.{BYTES}.{BYTES}", f"{{d}}, {a}, b, c") for a in ("a", "{a}")),
        ("wgmma.(fence|commit_group).sync.aligned", ""), ("wgmma.wait_group.sync.aligned", "imm"),
        ("setmaxnreg.(inc|dec).sync.aligned.u32", "imm"),
    ),
}
TARGET = "sm_90a"
KINDS = ("f16", "bf16", "tf32", "", "", "e4m3", "e5m2", "s8", "u8")   # as FactorKind of runtime/fused.cuh numbers them
BITS = {"tf32": 32, "f16": 16, "bf16": 16}                            # of an element; the others have 8
ROWS_OF_A_WARP, LINE_BYTES = 16, 32     # of A; of a row of A and a column of B in one product
FENCE, COMMIT, RELEASE = range(3)       # what `product_step` does
PRODUCTS, REGISTERS = range(2)          # what `wait_here` waits for
WORDS = ("mma_async", "sync", "aligned")


def knows(ins: Instruction) -> bool:
    """Say whether an instruction is one of this module's."""
    return ins.kind is Kind.WARPGROUP


def may_wait(ins: Instruction) -> bool:
    """Say whether a warp may stop at an instruction until other warps have done something."""
    return ins.opcode[:2] in (("wgmma", "wait_group"), ("setmaxnreg", "inc"))


def refuse_target(ins: Instruction, target: str) -> None:
    """Refuse an instruction that only one architecture has, in a text for another one.

    Raises
    ------
    UnsupportedInstruction
    """
    if knows(ins) and target not in ("", TARGET):
        raise UnsupportedInstruction(f"{at_line(ins)}{target} has no {ins.name}, which is there in {TARGET} alone: launch with "
                                     f'arch="{TARGET}".', opcode=ins.name, line=ins.where)


def describe(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor (function, record) of an instruction.

    Raises
    ------
    UnsupportedInstruction, PtxSyntaxError
        A form that is not covered; operands that do not fit the form.
    """
    if ins.opcode[0] == "setmaxnreg":
        count = literal(ins)
        if not 24 <= count <= 256 or count % 8:
            raise malformed(ins, "the number of registers is a multiple of 8, from 24 to 256")
        if ins.opcode[1] == "inc":
            return Tensor("wait_here", abi.Await(number=number, kind=REGISTERS, amount=count, guarded=ins.guard is not None))
        return Tensor("product_step", abi.Await(number=number, kind=RELEASE, amount=count))
    if ins.opcode[1] == "wait_group":
        if not 0 <= literal(ins) < 1 << 31:
            raise malformed(ins, "the number of groups is 0 or more")
        return Tensor("wait_here", abi.Await(number=number, kind=PRODUCTS, amount=literal(ins), guarded=ins.guard is not None))
    if ins.opcode[1] in ("fence", "commit_group"):
        return Tensor("product_step", abi.Await(number=number, kind=FENCE if ins.opcode[1] == "fence" else COMMIT))
    return product(program, ins, number)


def literal(ins: Instruction) -> int:
    """Return the one operand of an instruction, a whole number."""
    operand = ins.operands[0]
    if not isinstance(operand, Imm) or operand.float_bytes:
        raise malformed(ins, "it takes a whole number")
    return operand.value


def product(program: Placed, ins: Instruction, number: int) -> Tensor:
    """Return the Tensor of `wgmma.mma_async.sync.aligned.shape{.satfinite}.dtype.atype.btype`."""
    words = [w for w in ins.opcode[4:] if w != "satfinite"]
    if ins.opcode[1:4] != WORDS or len(words) != 4:
        raise refuse(ins)
    (_, n, k), (out, first, second) = numbers(words[0]), words[1:]
    half = out == "f16"
    record = abi.WideProduct(number=number, n=n, k=k, bits=BITS.get(first, 8), kind_a=KINDS.index(first), kind_b=KINDS.index(second),
                             half=half, saturate="satfinite" in ins.opcode, a_descriptor=NONE)
    d, a, b, scale, *literals = ins.operands
    record.registers = n // 4 if half else n // 2
    record.d[:record.registers] = braces(program, ins, d, record.registers)
    if isinstance(a, Vec):
        record.a[:] = braces(program, ins, a, 4)
    else:
        record.a_descriptor, = slots(program, ins, (a,), 1, 8)
    record.b_descriptor, = slots(program, ins, (b,), 1, 8)
    accumulate(program, ins, scale, record)
    signs_and_layouts(ins, literals, record)
    if len(set(record.d[:record.registers])) < record.registers:
        raise malformed(ins, "a register stands twice in D")
    factors = first if first in BITS else "i8" if out == "s32" else "f8"
    in_shared = (0 if record.a_descriptor == NONE else ROWS_OF_A_WARP * LINE_BYTES, n * LINE_BYTES // abi.GROUP_WARPS)
    return Tensor("issue_product", record, pipe="gmma", machine_instructions=1, multiply_adds=ROWS_OF_A_WARP * n * k, factors=factors,
                  operand_bytes=in_shared)


def braces(program: Placed, ins: Instruction, operand: Any, count: int) -> list[int]:
    """Return where the registers in braces lie."""
    return slots(program, ins, tuple(opened((operand,))), count, 4)


def accumulate(program: Placed, ins: Instruction, scale: Any, record: Any) -> None:
    """Fill in scale-d: a predicate, or a literal, that says whether the old D is added."""
    if isinstance(scale, Imm):
        record.accumulate, record.accumulate_negated = NONE, scale.value != 0
    elif isinstance(scale, Reg) and program.slots.get(scale.name, (0, ""))[1] == "i1":
        record.accumulate, record.accumulate_negated = program.slots[scale.name][0], scale.negated
    else:
        raise malformed(ins, "scale-d is a predicate")


def signs_and_layouts(ins: Instruction, literals: Sequence[Any], record: Any) -> None:
    """Fill in imm-scale-a and -b, 1 or -1, and imm-trans-a and -b, 0 or 1: there is one for A only where A lies in shared memory."""
    given = [v.value & 0xFFFFFFFF for v in literals]
    wanted = 0 if record.bits == 8 and KINDS[record.kind_a] in ("s8", "u8") else 2
    if record.bits == 16:
        wanted += 1 + (record.a_descriptor != NONE)
    if len(given) != wanted or any(v not in (1, 0xFFFFFFFF) for v in given[:2]) or any(v not in (0, 1) for v in given[2:]):
        raise malformed(ins, f"{wanted} literals are wanted: signs are 1 or -1, transpositions 0 or 1")
    if given:
        record.negate_a, record.negate_b = (v != 1 for v in given[:2])
    if len(given) > 2:
        record.across_b, record.across_a = given[-1], given[2] if len(given) == 4 else 0


def registers_of_products(instructions: Iterable[Instruction]) -> frozenset[str]:
    """Return the registers that hold D or A of some product."""
    found = [o for ins in instructions if ins.opcode[:2] == ("wgmma", "mma_async") for o in ins.operands[:2]]
    return frozenset(o.name for o in opened(v for v in found if isinstance(v, Vec)))


def touched(program: Placed, ins: Instruction, among: frozenset[str]) -> list[int]:
    """Return what `touch_registers` wants to know of an ordinary instruction; empty where it uses none of the registers `among`."""
    if knows(ins) or not among:
        return []
    written = {r.name for r in ins.destinations} & among
    used = {r.name for r in ins.sources} & among | written
    moves = ins.opcode[0] == "mov" and not any(isinstance(o, Vec) for o in ins.operands)
    return [len(used), int(moves), *sorted(program.slots[name][0] | (name in written) for name in used)] if used else []
