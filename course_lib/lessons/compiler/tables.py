"""The tables of lesson 21: what each line of the program costs, its PTX, the stages, and a kernel of ours beside it."""

import re

from course_lib import toolchain
from course_lib.errors import CourseError
from course_lib.explorables.triton import buffers_of, on_their_way
from course_lib.kernels import get
from course_lib.kernels.triton import PROGRAM, Setting, written
from course_lib.lessons.compiler.counts import (
    CONFLICTS,
    COPIES,
    COPY_WAVEFRONTS,
    EXECUTED,
    LDMATRIX,
    MULTIPLIED,
    OURS,
    SECTORS,
    STORES,
    TILE,
    WAVEFRONTS,
    our_step,
    step_of,
)
from course_lib.plots import Table
from course_lib.plots.linked_code import ptx_lines
from course_lib.plots.ptx_loop import loop_lines, name_of
from course_lib.run.result import counter_name

SHARED_LOADS = (counter_name("shared instructions", "load"), LDMATRIX)
OWN = "kernel.cu"                # as PTX calls a kernel of the reader
WIDTH = 44                       # of a line of the program in a table
WHAT = "a step of one block of four warps, 64 × 64 × 32"


def multiplying(stages: int = 3) -> float:
    """Return how many of 100 instructions of a step are `mma`, counted in PTX.

    >>> multiplying()
    12.7
    """
    counters = step_of(Setting(stages)).counters
    return round(100 * counters[MULTIPLIED] / counters[EXECUTED], 1)


def wavefronts(setting: Setting) -> int:
    """Return the wavefronts of shared memory that a step of a block takes.

    >>> wavefronts(Setting(3))
    192
    """
    return step_of(setting).sum(WAVEFRONTS)


def by_line(stages: int = 3, arch: str = "sm_80") -> Table:
    """Return a table of the lines of Python in the loop: a block's instructions in a step, and how many are mma and bar.sync."""
    setting = Setting(stages, arch)
    found, lines = step_of(setting).lines, PROGRAM.read_text(encoding="utf-8").splitlines()
    barriers = [code.line for code in loop_lines(written(setting)) if name_of(code.text) == "bar.sync"]
    rows = [(f"{n}  {_short(lines[n - 1].strip())}", found[n][EXECUTED], found[n].get(MULTIPLIED, 0), setting.warps * barriers.count(n))
            for n in sorted(found) if found[n].get(EXECUTED)]
    return Table(("line of the program", "instructions", "of these, mma", "of these, bar.sync"), rows,
                 f"PTX instructions in {WHAT}; num_stages = {stages}, {arch}; simulated", mono=(0,))


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH - 1]}…"


def code(line: int, stages: int = 3, arch: str = "sm_80", *, first: int = 1, last: int | None = None) -> Table:
    """Return the PTX that a line of Python became inside the loop, in the order of the text.

    Parameters
    ----------
    first, last
        Positions in the loop, counted from 1, between which the instructions lie; default the whole loop.
    """
    loop = loop_lines(written(Setting(stages, arch)))
    found = [(number, code.text) for number, code in enumerate(loop, 1) if code.line == line and first <= number <= (last or len(loop))]
    return Table(("position in the loop", "PTX"), found, f"line {line} in the loop, num_stages = {stages}, {arch}", mono=(1,))


def ptx_of(kernel: str, part: str) -> Table:
    """Return the PTX that a line of the reader's own kernel became.

    Parameters
    ----------
    kernel
        CUDA text: what `%%cuda` keeps.
    part
        Text that stands in the line; the first such line counts.

    Raises
    ------
    CourseError
        When no line holds it, or the text holds no kernel.
    """
    number, text = next(((n, text) for n, text in enumerate(kernel.splitlines(), 1) if part in text), (0, ""))
    if not number:
        raise CourseError(f"no line of the kernel holds {part!r}: copy a part of the line, with its spaces", part=part)
    ptx = toolchain.compile_cuda(kernel, name=OWN).ptx
    entry = re.search(r"\.entry\s+(\w+)", ptx)
    if entry is None:
        raise CourseError('the text holds no kernel: write one as extern "C" __global__ void NAME(…) { … }')
    rows = [(found.text,) for found in ptx_lines(ptx, entry[1], OWN) if found.line == number]
    return Table(("PTX",), rows, f"line {number}: {text.strip()}", mono=(0,))


def stages_compared(arch: str = "sm_80") -> Table:
    """Return what num_stages changes: shared memory, copies that run ahead, barriers, instructions and registers."""
    rows = []
    for stages in (1, 2, 3, 4):
        setting = Setting(stages, arch)
        step, facts = step_of(setting), written(setting).facts
        rows.append((stages, buffers_of(setting), on_their_way(setting), f"{facts['shared']:,}", step.barriers,
                     step.counters[EXECUTED] // setting.warps, facts["loop"]["instructions"], facts["registers"]))
    header = ("num_stages", "buffers", "steps on their way when a product begins", "bytes of shared memory", "barriers",
              "instructions in PTX", "machine instructions", "registers")
    return Table(header, rows, f"{arch}: barriers and instructions of one warp per step, registers of a thread; barriers and PTX "
                 f"simulated, machine code and registers by the assembler of Triton {written(Setting()).facts['triton']}")


def beside_ours() -> Table:
    """Return Triton's counters beside those of `OURS`, per step of a block with the same tiles and as many warps."""
    settings, ours = (Setting(3), Setting(3, floats=True), Setting(1, floats=True)), get(OURS)
    steps = [*map(step_of, settings), our_step()]
    rows = [(name, *(f"{count(step):,}" for step in steps)) for name, count in COUNTED.items()]
    shared = [*(written(setting).facts["shared"] for setting in settings), ours.shared_of(ours.check(**TILE))]
    rows.append(("bytes of shared memory that the block has", *(f"{size:,}" for size in shared)))
    return Table(("", "Triton, float16, 3 stages", "Triton, floats, 3 stages", "Triton, floats, 1 stage", "ours, floats"), rows,
                 f"{WHAT}, sm_80; simulated. Ours is {OURS}, and each does 64 mma")


COUNTED = {
    "sectors loaded": lambda step: step.counters[SECTORS],
    "loads from shared memory": lambda step: step.sum(SHARED_LOADS),
    "wavefronts of shared memory": lambda step: step.sum(WAVEFRONTS),
    "of these, of asynchronous copies": lambda step: step.counters.get(COPY_WAVEFRONTS, 0),
    "of these, bank conflicts": lambda step: step.sum(CONFLICTS),
    "barriers, at which all four warps meet": lambda step: step.barriers,
}


def any_size() -> Table:
    """Return the counters of the program that takes any size beside those of the one that was promised multiples of 16."""
    names = {"requests of global memory": (counter_name("requests", "load"),), "sectors loaded": (SECTORS,),
             "asynchronous copies to shared memory": (COPIES,), "stores to shared memory": (STORES,)}
    settings = (Setting(3), Setting(3, any_size=True))
    facts = [written(setting).facts for setting in settings]
    rows: list[tuple[str, ...]] = [(name, *(f"{step_of(setting).sum(those):,}" for setting in settings)) for name, those in names.items()]
    rows += [("machine instructions of a warp", *(str(made["loop"]["instructions"]) for made in facts)),
             ("registers of a thread", *(str(made["registers"]) for made in facts))]
    return Table(("", "N, K multiples of 16", "any N, K"), rows, f"{WHAT}; num_stages = 3, sm_80; instructions and registers by the "
                 "assembler, the rest simulated")
