"""The tables of lesson 21: what each line of the program costs, its PTX, the stages, and a kernel of ours beside it."""

import numpy as np

from course_lib import simt
from course_lib.explorables.triton import buffers_of, on_their_way
from course_lib.kernels.triton import PROGRAM, Setting, written
from course_lib.lessons.compiler.counts import (
    CONFLICTS,
    COPIES,
    EXECUTED,
    LDMATRIX,
    MULTIPLIED,
    OURS,
    SECTORS,
    STORES,
    WAVEFRONTS,
    our_step,
    step_of,
)
from course_lib.plots import Table
from course_lib.plots.ptx_loop import loop_lines, name_of
from course_lib.run.result import counter_name
from course_lib.run.triton import multiply
from course_lib.widgets.compute import inputs

SHARED_LOADS = (counter_name("shared instructions", "load"), LDMATRIX)
OF_A = 19                        # line of the load of A
PIECE = 16                       # bytes that one copy brings
WIDTH = 44                       # of a line of the program in a table
WHAT = "a k-step of one block of four warps, 64 × 64 × 32"


def multiplying(stages: int = 3) -> float:
    """Return how many of 100 instructions of a step are `mma`, counted in PTX.

    >>> multiplying()
    12.7
    """
    counters = step_of(Setting(stages)).counters
    return round(100 * counters[MULTIPLIED] / counters[EXECUTED], 1)


def by_line(stages: int = 3, arch: str = "sm_80") -> Table:
    """Return a table of the lines of Python in the loop: the instructions that each costs in a k-step, the mma among them, and barriers."""
    found = step_of(Setting(stages, arch)).lines
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    barriers = [code.line for code in loop_lines(written(Setting(stages, arch))) if name_of(code.text) == "bar.sync"]
    rows = [(f"{n}  {_short(lines[n - 1].strip())}", found[n][EXECUTED], found[n].get(MULTIPLIED, 0), barriers.count(n))
            for n in sorted(found) if found[n].get(EXECUTED)]
    return Table(("line of the program", "instructions, counted in PTX", "of these, mma", "barriers of a warp"), rows,
                 f"{WHAT}; num_stages = {stages}, {arch}; simulated", mono=(0,))


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH - 1]}…"


def code(line: int, stages: int = 3, arch: str = "sm_80") -> Table:
    """Return the PTX that a line of Python became inside the loop, in the order of the text."""
    found = [(number, code.text) for number, code in enumerate(loop_lines(written(Setting(stages, arch))), 1) if code.line == line]
    return Table(("position in the loop", "PTX"), found, f"line {line} in the loop, num_stages = {stages}, {arch}", mono=(1,))


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
    return Table(header, rows, f"{arch}: barriers and instructions of one warp per k-step, registers of a thread; barriers and PTX "
                 f"simulated, machine code and registers by the assembler of Triton {written(Setting()).facts['triton']}")


def beside_ours() -> Table:
    """Return Triton's counters beside those of `OURS`, per k-step of a block with the same tiles and as many warps."""
    steps = (step_of(Setting(3, floats=True)), step_of(Setting(1, floats=True)), our_step())
    rows = [(name, *(f"{count(step):,}" for step in steps)) for name, count in COUNTED.items()]
    return Table(("", "Triton, num_stages = 3", "Triton, num_stages = 1", OURS), rows,
                 f"{WHAT}, sm_80, floats given; simulated. The tiles were chosen so that both do the same, not for speed")


COUNTED = {
    "mma": lambda step: step.counters[MULTIPLIED],
    "sectors loaded": lambda step: step.counters[SECTORS],
    "loads from shared memory": lambda step: step.sum(SHARED_LOADS),
    "wavefronts of shared memory": lambda step: step.sum(WAVEFRONTS),
    "of these, bank conflicts": lambda step: step.sum(CONFLICTS),
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


def pieces(rows: int = 8, stages: int = 3) -> Table:
    """Return where Triton's copies put the first rows of A's tile: which piece lies in which 16 bytes of its row."""
    setting, (A, B, _) = Setting(stages), inputs(64, 64, 32)
    report = multiply(A, B, setting, trace=[(0, warp) for warp in range(setting.warps)]).report
    each = 2 * setting.BK // PIECE
    asked = [r for r in report.trace if r.line == OF_A and r.operation.startswith("cp.async.c") and r.width]
    found: dict[tuple[int, int], int] = {}
    for source, target in zip(asked[::2], asked[1::2], strict=True):            # traced twice: where it reads, and where it writes
        for there, here in zip(np.asarray(source.addresses), np.asarray(target.addresses), strict=True):
            if there >= 0:
                place, piece = here // PIECE, (there - report.arrays[0].address) // PIECE
                found[int(place // each), int(place % each)] = int(piece % each)
    table = [(row, *(found[row, place] for place in range(each))) for row in range(rows)]
    return Table(("row", *(f"bytes {PIECE * place} to {PIECE * place + PIECE - 1}" for place in range(each))), table,
                 "which piece of its row lies where, by the copies that the simulator traced")


def check_pieces(kernel: str) -> Table:
    """Run the reader's kernel that moves 64 rows of four pieces through shared memory; return what its order of the pieces costs.

    Parameters
    ----------
    kernel
        CUDA text: what `%%cuda` keeps. Its kernel `pieces` has 128 threads and takes `in` and `out`, 1024 floats each.
    """
    moved, out = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    report = simt.launch(kernel, "pieces", 1, 128, [moved, out], racecheck=True, trace=[(0, warp) for warp in range(4)])
    stores = [[r for r in report.trace if r.warp == warp and r.space == "shared" and r.operation.startswith("st.")] for warp in range(4)]
    places = {128 * turn + 32 * warp + lane: int(address) // PIECE for warp, found in enumerate(stores) for turn, r in enumerate(found)
              for lane, address in enumerate(r.addresses)}
    strays = [f"no: piece {n % 4} of row {n // 4} lies in row {place // 4}" for n, place in sorted(places.items()) if place // 4 != n // 4]
    right = "right" if (moved == out).all() and not report.hazards else "wrong"
    rows = [("wavefronts of the stores", report.counters[counter_name("wavefronts", "store")], "32"),
            ("wavefronts of the loads", report.counters[counter_name("wavefronts", "load")], "32"),
            ("each row holds its own four pieces", strays[0] if strays else "yes", "yes"), ("what arrives in out", right, "right")]
    return Table(("", "your kernel", "wanted"), rows, "pieces: one block of 128 threads, simulated")
