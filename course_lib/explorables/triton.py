"""Lesson 21's explorable: where the tiles of each step are while a warp goes through the loop that Triton wrote."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from course_lib.explorables.explorable import Explorable, module_text
from course_lib.kernels.triton import Setting, Written, written
from course_lib.plots.ptx_loop import loop_lines, name_of

TILES = 4                        # steps of the loop that are shown: K = 128
STAGES, TARGETS = (1, 2, 3, 4), ("sm_80", "sm_90a")
COPY, WAIT, BARRIER, LOAD, MULTIPLY = "copy to shared memory", "wait", "barrier", "load from shared memory", "multiply"
KINDS = {"mma.sync": MULTIPLY, "wgmma.mma_async": MULTIPLY, "ldmatrix": LOAD, "cp.async.cg": COPY, "ld.global": COPY, "st.shared": COPY,
         "cp.async.wait_group": WAIT, "bar.sync": BARRIER, "wgmma.wait_group": WAIT}
REST = "all else: addresses, predicates, moves"
Place = tuple[int, int]          # the first and the last of neighbouring instructions in the loop
Event = dict[str, Any]           # as JSON takes it
BEFORE = (-1, -1)                # the Place of what stands outside of the loop
HALVES = ("first", "second")
WAY, HERE, FREE = "way", "here", "free"


def kind_of(text: str) -> str:
    """Return what an instruction is for, as the picture tells it.

    >>> kind_of("bar.sync 0;"), kind_of("add.s32 %r1, %r2, %r3;")
    ('barrier', 'all else: addresses, predicates, moves')
    """
    return KINDS.get(name_of(text), REST)


def groups(made: Written) -> list[tuple[str, int, int]]:
    """Return what a turn of the loop does in the order of the PTX: kind, and places of its first and last instruction in the loop.

    A barrier counts to the wait beside it.
    """
    kinds = [WAIT if kind_of(line.text) == BARRIER else kind_of(line.text) for line in loop_lines(made)]
    named = [(kind, place) for place, kind in enumerate(kinds) if kind != REST]
    found = [(kind, [place for _, place in those]) for kind, those in groupby(named, key=lambda one: one[0])]
    return [(kind, places[0], places[-1]) for kind, places in found]


def buffers_of(setting: Setting) -> int:
    """Return for how many steps' tiles the loop has buffers in shared memory; tests hold it to where its copies write.

    >>> [buffers_of(Setting(stages)) for stages in STAGES], buffers_of(Setting(3, "sm_90a"))
    ([1, 1, 2, 3], 3)
    """
    return max(setting.stages - (setting.arch == "sm_80"), 1)


def on_their_way(setting: Setting) -> int:
    """Return for how many steps copies may be on their way when a product begins, at most.

    >>> [on_their_way(Setting(stages)) for stages in STAGES]
    [0, 0, 1, 2]
    """
    begun = [event for event in events(setting) if event["ptx"].startswith(("mma", "wgmma ×"))]
    return max(sum(state == WAY for _, state in event["buffers"]) for event in begun)


@dataclass
class Machine:
    """Where the tiles of every step are; `registers` holds (step, half), `multiplied` the halves that are done or, by `wgmma`, begun."""

    buffers: list[tuple[int, str]]
    registers: list[tuple[int, int]] = field(default_factory=list)
    multiplied: list[int] = field(default_factory=lambda: [0] * TILES)
    running: int = -1            # the step whose product by `wgmma` may still be under way
    fetched: int = -1            # the step whose tiles plain loads are bringing

    def seen(self, says: str, ptx: str, lines: str, at: Place = BEFORE) -> Event:
        """Return an event: what is said, its instructions, their lines of Python and place in the loop, and where all tiles are then."""
        return {"says": says, "ptx": ptx, "lines": lines, "at": list(at), "buffers": [list(buffer) for buffer in self.buffers],
                "registers": [list(half) for half in self.registers], "multiplied": list(self.multiplied), "running": self.running,
                "fetched": self.fetched}

    def copy(self, step: int) -> int:
        """Order the copies of a step; return its buffer."""
        buffer = step % len(self.buffers)
        self.buffers[buffer] = (step, WAY)
        return buffer

    def arrive(self, step: int) -> None:
        """Let the tiles of a step be there for all warps."""
        self.buffers[step % len(self.buffers)] = (step, HERE)

    def free(self, step: int) -> None:
        """Let the buffer of a step be filled again."""
        self.buffers[step % len(self.buffers)] = (step, FREE)

    def multiply(self, step: int, half: int) -> None:
        """Multiply half a step out of registers."""
        self.registers.remove((step, half))
        self.multiplied[step] += 1


def events(setting: Setting) -> list[Event]:
    """Return what a warp does, one event after another, in the order of the PTX; K is `TILES` steps."""
    machine = Machine([(-1, FREE)] * buffers_of(setting))
    order = [(first, last) for _, first, last in groups(written(setting))]
    turn = _one_stage if setting.stages == 1 else _mma if setting.arch == "sm_80" else _wgmma
    found = list(filter(None, _before(machine, setting))) if setting.stages > 1 else []
    for step in range(TILES):
        found += filter(None, turn(machine, setting, step, order))
    if machine.running >= 0:
        machine.running = -1
        machine.free(TILES - 1)
        found.append(machine.seen(f"Behind the loop the warp waits for the product of step {TILES - 1}.", "wgmma.wait_group 0", ""))
    return found


def _copied(machine, step, at=BEFORE):
    """Order the copies of a step; None where there is no such step."""
    if step >= TILES:
        return None
    buffer = machine.copy(step)
    return machine.seen(f"The copies of step {step} are ordered into buffer {buffer}.", "cp.async × 4", "19, 20", at)


def _arrived(machine, step, at=BEFORE):
    if step >= TILES:
        return None
    new = machine.buffers[step % len(machine.buffers)] != (step, HERE)
    machine.arrive(step)
    says = f"The warp waits until its copies of step {step} have come. The barrier makes that true for all warps." if new else \
        f"A wait and a barrier: step {step} is there already."
    return machine.seen(says, "cp.async.wait_group, bar.sync", "19", at)


def _loaded(machine, step, half, at=BEFORE):
    if step >= TILES:
        return None
    machine.registers.append((step, half))
    return machine.seen(f"The {HALVES[half]} half of step {step} is loaded into registers.", "ldmatrix × 4", "19, 20", at)


def _multiplied(machine, step, half, at):
    machine.multiply(step, half)
    return machine.seen(f"The {HALVES[half]} half of step {step} is multiplied.", "mma × 8", "21", at)


def _before(machine: Machine, setting: Setting) -> Iterator[Event | None]:
    """Yield what happens in front of the loop."""
    for step in range(setting.stages - 1):
        yield _copied(machine, step)
    if setting.arch == "sm_80":
        yield _arrived(machine, 0)
        yield _loaded(machine, 0, 0)


def _mma(machine: Machine, setting: Setting, step: int, order: Sequence[Place]) -> Iterator[Event | None]:
    """Yield a turn of a pipeline whose products come out of registers."""
    yield _arrived(machine, step, order[0])
    yield _loaded(machine, step, 1, order[1])
    yield _multiplied(machine, step, 0, order[2])
    machine.free(step)
    yield machine.seen(f"A barrier: all warps have read step {step}, so its buffer is free.", "bar.sync", "19", order[3])
    yield _copied(machine, step + setting.stages - 1, order[4])
    yield _arrived(machine, step + 1, order[5])
    yield _loaded(machine, step + 1, 0, order[6])
    yield _multiplied(machine, step, 1, order[7])


def _wgmma(machine: Machine, setting: Setting, step: int, order: Sequence[Place]) -> Iterator[Event | None]:
    """Yield a turn of a pipeline whose products read shared memory themselves."""
    yield _arrived(machine, step, order[0])
    before, machine.running = machine.running, step
    machine.multiplied[step] = 2
    yield machine.seen(f"The product of step {step} begins. It reads shared memory itself.", "wgmma × 2", "21", order[1])
    if before >= 0:
        machine.free(before)
    says = f"The product of step {before} is complete" if before >= 0 else "No product before this one has to be waited for"
    yield machine.seen(f"{says}, and that of step {step} may still be under way. Then a barrier.", "wgmma.wait_group 1, bar.sync", "22, 19",
                       order[2])
    yield _copied(machine, step + setting.stages - 1, order[3])


def _one_stage(machine: Machine, setting: Setting, step: int, order: Sequence[Place]) -> Iterator[Event]:
    """Yield a turn without asynchronous copies."""
    machine.fetched = step
    yield machine.seen(f"The tile of A of step {step} is loaded from global memory into registers.", "ld.global × 2", "19", order[0])
    if step:
        machine.free(step - 1)
    yield machine.seen("A barrier: all warps have read what lies in the buffer, so it is free.", "bar.sync", "19", order[1])
    machine.copy(step)
    yield machine.seen(f"A's tile of step {step} is stored. B's is loaded and stored as well.", "st.shared × 4, ld.global × 2", "19, 20",
                       order[2])
    machine.arrive(step)
    machine.fetched = -1
    mma = setting.arch == "sm_80"
    yield machine.seen(f"A barrier: the tiles of step {step} are there for all warps.", "bar.sync", "19" if mma else "21", order[3])
    if mma:
        machine.registers += [(step, 0), (step, 1)]
        yield machine.seen(f"Both halves of step {step} are loaded into registers.", "ldmatrix × 8", "19, 20", order[4])
        machine.registers.clear()
        machine.multiplied[step] = 2
        yield machine.seen(f"Both halves of step {step} are multiplied.", "mma × 16", "21", order[5])
        return
    machine.running, machine.multiplied[step] = step, 2
    yield machine.seen(f"The product of step {step} begins. It reads shared memory itself.", "wgmma × 2", "21", order[4])
    machine.running = -1
    yield machine.seen(f"The product of step {step} is complete.", "wgmma.wait_group 0", "22", order[5])


@functools.cache
def states() -> dict[str, Any]:
    """Return the events and the loop at every position, as JSON takes it."""
    found = {}
    for target in TARGETS:
        for stages in STAGES:
            made = written(Setting(stages, target))
            kinds = [[kind, sum(1 for _ in those)] for kind, those in groupby(kind_of(line.text) for line in loop_lines(made))]
            found[f"{target}|{stages}"] = {"events": events(made.setting), "loop": kinds, "shared": made.facts["shared"]}
    return {"tiles": TILES, "kinds": [COPY, WAIT, BARRIER, LOAD, MULTIPLY, REST], "at": found}


class TritonLoop(Explorable):
    """The loop that Triton wrote, played; made by `what_triton_wrote`."""

    name = "triton"
    title = "The loop that Triton wrote"
    _esm = module_text("triton")

    def static_text(self) -> str:
        return (f"{self.title}: {TILES} steps of a product with float16 tiles of 64 × 32 and 32 × 64. A warp goes through its "
                "instructions, and the picture shows where the tiles of each step are. Run this cell to play it.")


def what_triton_wrote(stages: int = 3, target: str = "sm_80") -> TritonLoop:
    """Play what a warp does in the loop of lesson 21's product, and where the tiles of each step are meanwhile.

    Parameters
    ----------
    stages
        1 to 4: `num_stages` of the compiler.
    target
        "sm_80" or "sm_90a".
    """
    return TritonLoop(states=states(), values={"stages": stages, "target": target})
