"""How often a launch executed each machine instruction, found from counters: what a GPU's profiler counts, without a GPU.

The simulator runs PTX, and the machine executes something else: loops that were written out further, loads that were joined, other
addresses. But some instructions are the same in both and are counted for each source line: multiply-adds, loads and stores. In the
machine code each stands in a known block. As often as a block is entered it is left, so that these counts and the jumps between
blocks decide how often every other instruction runs.

Where they leave a choice, the fewest instructions are taken: among all that the counts allow it is the least. A loop that runs at all
is entered once in each turn of the loop around it, and whether it runs is tried (branch and bound).

Held to `smsp__inst_executed.sum` of Nsight Compute on an H200, kernel by kernel (tests/toolchain/test_executed.py).
"""

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.errors import require
from course_lib.toolchain.loops import back_edges, body_of, graph
from course_lib.toolchain.sass import SassInstruction

COUNTED = ("FFMA", "DFMA", "LDG", "STG", "LDS", "STS", "BAR")
# A count that cannot be met costs so much for each: where lines disagree, the surer one decides.
_SURE, _LESS_SURE = 1e5, 1e3
MOST_TRIALS, MANY_BLOCKS = 200, 400     # what is tried of loops; in a text with many blocks, nothing
_LITTLE = 1e-9                       # of the largest count
_AT_LEAST = ("FFMA", "DFMA")         # counted by thread: of a warp with lanes missing, fewer than 32


@dataclass(frozen=True)
class Executed:
    """What the warps of a launch executed.

    Attributes
    ----------
    times
        Offset of an instruction -> how often warps executed it, all together.
    looped
        Offsets of the instructions that are part of a loop.
    met
        Whether all counts were met. If not, the figures are an estimate; if so, the least that the counts allow, and not more is known
        where they leave a choice.
    """

    times: dict[int, float] = field(repr=False, hash=False)
    instructions: tuple[SassInstruction, ...] = field(repr=False, hash=False)
    looped: frozenset[int] = field(repr=False)
    met: bool

    def total(self, *, opcode: str | None = None, looped: bool = False) -> float:
        """Return executed instructions of warps: all, or of one opcode, or those in loops only."""
        return sum(self.times[i.offset] for i in self._those(opcode, looped))

    def per_line(self, *, looped: bool = False) -> dict[int, float]:
        """Return source line -> executed instructions of warps."""
        lines: defaultdict[int, float] = defaultdict(float)
        for i in self._those(None, looped):
            lines[i.line or 0] += self.times[i.offset]
        return {line: times for line, times in sorted(lines.items()) if line and times}

    def _those(self, opcode, looped):
        return [i for i in self.instructions if i.offset in self.times and opcode in (None, i.base)
                and (not looped or i.offset in self.looped)]


def executed(instructions: Sequence[SassInstruction], counted: Mapping[tuple[int, str], float]) -> Executed:
    """Find how often each machine instruction of a kernel was executed.

    Parameters
    ----------
    instructions
        From `sass`.
    counted : mapping of (line, opcode) to float
        How often warps executed what `COUNTED` names, for each source line; of BAR whatever is counted for a line that holds
        nothing else. An opcode that is missing for all lines is not known; a line that is missing for an opcode has none.

    >>> from course_lib.toolchain import compile_cuda, sass
    >>> text = '''extern "C" __global__ void dot(const float* x, float* y, int n) {
    ...     float sum = 0;
    ... #pragma unroll 1
    ...     for (int i = 0; i < n; ++i)
    ...         sum += x[i] * x[i];
    ...     *y = sum;
    ... }'''
    >>> found = executed(sass(compile_cuda(text)), {(5, "FFMA"): 100, (5, "LDG"): 100, (6, "STG"): 1})
    >>> found.total(opcode="FFMA"), found.total(opcode="EXIT"), found.met
    (100.0, 1.0, True)
    """
    if not instructions:
        return Executed({}, (), frozenset(), True)
    code = _Code(instructions)
    marks = code.marks(counted)
    flow, missed = code.solve(marks)
    if missed and any(mark.opcode == "BAR" for mark in marks):       # a line of barriers may have held more than barriers
        without = [mark for mark in marks if mark.opcode != "BAR"]
        again, missed_again = code.solve(without)
        if not missed_again:
            flow, missed = again, 0.0
    times = {block: float(sum(flow[edge] for edge in code.out[block])) for block in code.order}
    return Executed({i.offset: times[block] for block in code.order for i in code.blocks[block]}, tuple(instructions),
                    frozenset(i.offset for block in code.order if block in code.looped for i in code.blocks[block]), not missed)


@dataclass(frozen=True)
class _Mark:
    """A count that ties blocks: how many of its instructions each block holds, and how many were executed."""

    opcode: str
    there: Counter = field(hash=False)
    executed: float


class _Code:
    """Blocks of code, and the edges between them: from block to block, the start (None, first) or an end (last, None)."""

    def __init__(self, instructions):
        self.blocks, follows = graph(instructions)
        self.order = sorted(follows)
        self.edges: list[tuple[int | None, int | None]] = []
        self.out: defaultdict[int | None, list[int]] = defaultdict(list)
        self.into: defaultdict[int | None, list[int]] = defaultdict(list)
        for block in self.order:
            ends = not follows[block] or self.blocks[block][-1].base in ("EXIT", "RET")
            for target in [*dict.fromkeys(follows[block]), *[None] * ends]:
                self._add(block, target)
        self.start = self._add(None, self.order[0])
        self.loops: dict[int, set[int]] = {}
        for tail, head in back_edges(follows):
            self.loops[head] = self.loops.get(head, {head}) | body_of(head, tail, follows)
        self.looped = frozenset().union(*self.loops.values())

    def _add(self, source, target):
        self.edges.append((source, target))
        self.out[source].append(len(self.edges) - 1)
        self.into[target].append(len(self.edges) - 1)
        return len(self.edges) - 1

    def marks(self, counted):
        """Return the counts that are known of these instructions."""
        opcodes = {opcode for _, opcode in counted}
        bases = defaultdict(set)
        for block in self.order:
            for i in self.blocks[block]:
                bases[i.line].add(i.base)
        there: defaultdict[tuple[int | None, str], Counter[int]] = defaultdict(Counter)
        for block in self.order:
            for i in self.blocks[block]:
                if i.base in opcodes and (i.base != "BAR" or bases[i.line] == {"BAR"}):
                    there[i.line, i.base][block] += 1
        return [_Mark(opcode, blocks, counted.get((line, opcode), 0.0)) for (line, opcode), blocks in there.items()]

    def solve(self, marks):
        """Return how often each edge is taken, and by how much counts are missed; the least instructions that the counts allow."""
        scale = max((mark.executed for mark in marks), default=0) or 1.0
        n = len(self.edges)
        equal, right = self._equations(marks, scale)
        cost = np.concatenate([self._sizes(), *(_prices(mark) for mark in marks)])
        found, open_loop = self._cheapest(cost, equal, right, 1 / scale)
        missed = sum(few + many * (_prices(mark)[0] > 0) for mark, many, few in zip(marks, found[n::2], found[n + 1::2]))
        flow, whole = found[:n] * scale, np.round(found[:n] * scale)
        flow = np.where(np.abs(flow - whole) <= max(1e-7 * scale, 1e-3), whole, flow)           # as exactly as the numbers are known
        return flow, missed + (open_loop is not None) if missed > _LITTLE or open_loop is not None else 0.0

    def _cheapest(self, cost, equal, right, once):
        """Return the cheapest flow, and a loop that turns in it but is not entered as often as it must be, or None."""
        number, trials = itertools.count(), MOST_TRIALS if len(self.order) < MANY_BLOCKS else 1
        found: Any = None
        open_loop: int | None = None
        # price, number, loop -> whether it runs (as far as decided), flow; the cheapest first
        waiting: list[tuple[float, int, dict[int, bool], Any]] = [(0.0, next(number), {}, None)]
        while waiting:
            price, _, runs, flow = heapq.heappop(waiting)
            if flow is None and not trials:
                break
            if flow is None:
                trials -= 1
                price, flow = self._least(cost, equal, right, runs, once)
                if flow is not None:                       # else loops cannot run so
                    heapq.heappush(waiting, (price, next(number), runs, flow))
                continue
            found = flow
            open_loop = next((head for head in self.loops if head not in runs and found[self.into[head]].sum() > _LITTLE
                              and self._entered(head, len(cost)) @ found > _LITTLE), None)
            if open_loop is None:
                break
            for whether in (True, False):
                heapq.heappush(waiting, (price, next(number), runs | {open_loop: whether}, None))
        return found, open_loop

    def _least(self, cost, equal, right, runs, once):
        """Return the price of the cheapest flow in which the kernel starts, at least once, and the flow; None when there is none."""
        require("Counting executed instructions", "scipy")
        from scipy.optimize import linprog  # a third of a second to import, and only for those who ask
        rules = [self._entered(head, len(cost)) for head, whether in runs.items() if whether]
        still = {edge for head, whether in runs.items() if not whether for edge in self.into[head]}
        bounds = [(once if edge == self.start else 0, 0 if edge in still else None) for edge in range(len(cost))]
        found = linprog(cost, A_eq=equal, b_eq=right, A_ub=np.array(rules) if rules else None, b_ub=np.zeros(len(rules)) if rules else None,
                        bounds=bounds, method="highs")
        return (np.inf, None) if found.x is None else (found.fun, found.x)

    def _sizes(self):
        return [len(self.blocks[source]) if source is not None else 0 for source, _ in self.edges]

    def _equations(self, marks, scale):
        """Return matrix and right side: what enters a block leaves it; counts are met, but for what is too much and too little."""
        matrix = np.zeros((len(self.order) + len(marks), len(self.edges) + 2 * len(marks)))
        right = np.zeros(len(matrix))
        for row, block in enumerate(self.order):
            matrix[row, self.into[block]] += 1
            matrix[row, self.out[block]] -= 1
        for number, mark in enumerate(marks):
            row = len(self.order) + number
            for block, there in mark.there.items():
                matrix[row, self.out[block]] += there
            matrix[row, len(self.edges) + 2 * number] = -1            # too much
            matrix[row, len(self.edges) + 2 * number + 1] = 1         # too little
            right[row] = mark.executed / scale
        return matrix, right

    def _entered(self, head, width):
        """Return the rule that a loop is entered as often as the loop around it turns, or the kernel starts."""
        around = [other for other, body in self.loops.items() if other != head and head in body]
        parent = min(around, key=lambda other: len(self.loops[other]), default=None)
        rule = np.zeros(width)
        for edge in self.into[head]:
            rule[edge] -= self.edges[edge][0] not in self.loops[head]
        rule[[self.start] if parent is None else self.into[parent]] += 1
        return rule


def _prices(mark):
    """Return what it costs to execute one more than was counted, and one less."""
    price = _LESS_SURE if mark.opcode in ("LDS", "BAR") else _SURE
    return 0.0 if mark.opcode in _AT_LEAST else price, price
