"""The fewest machine instructions that a warp can execute in one step along K: the shortest path through the loop."""

from dataclasses import dataclass
from graphlib import TopologicalSorter

from course_lib.kernels import Kernel, get
from course_lib.toolchain.inner_loop import inner_loop
from course_lib.toolchain.loops import ControlFlow, Loop, back_edges, graph, loops
from course_lib.toolchain.nvrtc import compile_cuda
from course_lib.toolchain.sass import sass
from course_lib.toolchain.step_along_k import whole_step


@dataclass(frozen=True)
class LoopPath:
    """One path from the start of a loop to its jump back.

    Attributes
    ----------
    multiply_adds, loads, instructions
        What a warp executes on it: FFMA or DFMA, loads from global memory, and all instructions.
    """

    multiply_adds: int
    loads: int
    instructions: int

    @property
    def per_multiply_add(self) -> float:
        """Return the instructions for each multiply-add."""
        return self.instructions / self.multiply_adds


def shortest_path(kernel: str | Kernel, loads_per_multiply_add: float = 0.0, *, arch: str = "sm_90", **parameters: int) -> LoopPath:
    """Return the shortest path through a kernel's step along K that does all its multiply-adds and its global loads.

    The step is the whole loop along K where `whole_step` finds one, with the loop over the tile run to its end; else a turn of
    the loop with the most multiply-adds. Where the compiler wrote that loop several times (with guards and without), the shortest
    counts, of two sides of a branch one. Other loops inside, such as those that load a tile, are passed once.

    Parameters
    ----------
    loads_per_multiply_add
        Global load requests of a warp for each of its multiply-adds, as a simulated launch counts them: of paths that load
        more or less, those that come nearest are taken.
    **parameters
        Of the kernel.

    Raises
    ------
    CourseError
        As `inner_loop`.

    >>> shortest_path("sgemm_unrolled", 2 / 16, UNROLL=1)
    LoopPath(multiply_adds=16, loads=2, instructions=159)
    >>> shortest_path("sgemm_tiled", 2 / 32).instructions - shortest_path("sgemm_tiled", 0).instructions       # the guarded loads
    22
    """
    kernel = kernel if isinstance(kernel, Kernel) else get(kernel)
    found, step = inner_loop(kernel, arch=arch, **parameters), whole_step(kernel, arch=arch, **parameters)
    code = sass(compile_cuda(kernel.source, name=kernel.file_name, arch=arch, defines=kernel.defines(**found.parameters)), kernel.entry)
    flow, turns = graph(code), step.turns if step else 1
    loads = round(loads_per_multiply_add * found.multiply_adds * turns)
    paths = []
    for inner, outer in _alike(loops(code), found):
        if step is None or not step.rolled:
            paths.append(shortest_in(flow, inner, found.fma, loads))
        elif outer:
            paths.append(shortest_in(flow, outer, found.fma, loads, (inner, shortest_in(flow, inner, found.fma, 0), turns)))
    return min(paths, key=lambda path: path.per_multiply_add)


def _alike(all_loops, found):
    """Yield the loops with as many multiply-adds as the one found, and none within, each with the loop around it or None."""
    busy = [loop for loop in all_loops if loop.counts[found.fma]]
    for loop in busy:
        around = [x for x in all_loops if x.depth < loop.depth and loop.within(x)]
        if loop.counts[found.fma] == found.multiply_adds and not any(x.depth > loop.depth and x.within(loop) for x in busy):
            yield loop, min(around, key=lambda x: x.end - x.start, default=None)


def shortest_in(flow: ControlFlow, loop: Loop, fma: str, loads: int, inside: tuple[Loop, LoopPath, int] | None = None) -> LoopPath:
    """Return the LoopPath through a loop: of those with most multiply-adds and about as many loads as wanted, the shortest.

    `inside` is (loop, LoopPath of a turn, turns) of a loop that is taken as one block.
    """
    blocks, after = _body(flow, loop, inside and inside[0])
    weights = {b: LoopPath(sum(i.base == fma for i in code), sum(i.base == "LDG" for i in code), len(code)) for b, code in blocks.items()}
    if inside:
        inner, turn, turns = inside
        weights = {b: LoopPath(0, path.loads, path.instructions) for b, path in weights.items()}    # the path must lead through `inside`
        weights[inner.start] = LoopPath(turns * turn.multiply_adds, turns * turn.loads, turns * turn.instructions)
    best: dict[int, dict[int, tuple[int, int]]] = {}       # block -> {loads until the jump back: (-multiply-adds, instructions)}
    for block in TopologicalSorter({b: follows - {None} for b, follows in after.items()}).static_order():
        here = weights[block]
        own: dict[int, tuple[int, int]] = {}
        for follow in after[block]:
            for seen, (fmas, length) in ({0: (0, 0)} if follow is None else best[follow]).items():
                path = fmas - here.multiply_adds, length + here.instructions
                own[seen + here.loads] = min(own.get(seen + here.loads, path), path)
        best[block] = own
    paths = [LoopPath(-fmas, count, length) for count, (fmas, length) in best[loop.start].items()]
    return min(paths, key=lambda path: (-path.multiply_adds, abs(path.loads - loads), path.instructions))


def _body(flow, loop, inner):
    """Return a loop's blocks, and for each those that follow without a jump back; None stands for the loop's own jump back."""
    blocks, edges = flow
    offsets, folded = ({i.offset for i in part.instructions} if part else set() for part in (loop, inner))
    back = set(back_edges(edges))
    after: dict[int, set[int | None]] = {}
    for block in edges:
        if block in offsets:
            name = inner.start if block in folded else block
            for follow in edges[block]:
                if follow == loop.start and (block, follow) in back:
                    after.setdefault(name, set()).add(None)
                elif (block, follow) not in back and (follow in offsets - folded or follow in folded and block not in folded):
                    after.setdefault(name, set()).add(follow)
    for block in edges:                     # one that leaves the loop, or only stops
        if block in offsets - folded:
            after.setdefault(block, set())
    return {b: blocks[b] for b in after}, after
