"""The loop along K in the PTX that Triton wrote: its instructions in their order, each with the line of Python that it comes from."""

from course_lib.kernels.triton import Written
from course_lib.plots.linked_code import CodeLine, ptx_lines

SOURCE = "product.py"            # as PTX calls the program
LOOP = "Inner Loop"              # the compiler's comment at the loop's first line
# What is named in a listing of the loop; everything else is arithmetic on addresses, predicates and registers.
NAMED = ("mma.sync", "ldmatrix", "cp.async.wait_group", "cp.async.commit_group", "cp.async.cg", "bar.sync", "fence.proxy",
         "wgmma.fence", "wgmma.mma_async", "wgmma.commit_group", "wgmma.wait_group", "ld.global", "st.shared", "bra")


def loop_lines(made: Written) -> list[CodeLine]:
    """Return the loop's instructions in the order of the text.

    >>> from course_lib.kernels.triton import Setting, written
    >>> sum("mma.sync" in line.text for line in loop_lines(written(Setting())))
    16
    """
    lines = ptx_lines(made.ptx, made.facts["entry"], SOURCE)
    start = next(i for i, line in enumerate(lines) if LOOP in line.text)
    label = lines[start].text.partition(":")[0]
    end = next(i for i, line in enumerate(lines) if i > start and line.text.endswith(f"{label};"))
    return [line for line in lines[start + 1:end + 1] if line.line]


def name_of(text: str) -> str:
    """Return which of `NAMED` an instruction is, or "".

    >>> name_of("@%p1 bra $L__BB0_2;"), name_of("mma.sync.aligned.m16n8k16 {…}"), name_of("add.s32 %r1, %r2, %r3;")
    ('bra', 'mma.sync', '')
    """
    opcode = text.split()[text.startswith("@")]
    return next((name for name in NAMED if opcode.startswith(name)), "")
