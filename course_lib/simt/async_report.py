"""What a launch tells of mbarriers, bulk copies and wgmma: rules that were broken, and how much was under way."""

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.simt.errors import where

Index = tuple[int, ...]     # (x, y, z) of a thread or a block
UNFENCED, OPAQUE, UNAWAITED = KINDS = ("unfenced", "opaque", "unawaited")
PROXY, PENDING, UNORDERED = OF_PRODUCTS = ("proxy", "pending", "unordered")


@dataclass(frozen=True)
class Finding:
    """A rule that two source lines break, with the first example's threads and block, and in `count` how often."""

    kind: str
    first_line: int
    second_line: int
    first_thread: Index
    second_thread: Index
    block: Index
    count: int


@dataclass(frozen=True)
class AsyncFinding(Finding):
    """A rule of bulk copies or mbarriers that a launch broke; the answer may be right all the same.

    `kind`: "unfenced", a bulk copy touches what ordinary stores wrote, and no fence.proxy.async stands between; "opaque", an
    ordinary access to the 64 bits of an mbarrier; "unawaited", a bulk copy that is under way when its block ends. The last one is found
    without racecheck too. One entry per kind and pair of lines: the first example, and in `count` how many there were, in bytes or words of
    shared memory. `first_*` is the store or the init, `second_*` the copy or the access. `array`: the `__shared__` variable, "" where none
    is declared, and `offset` the byte in it. `second_block`: that of the second thread, where it is another one of the cluster.
    """

    array: str = ""
    offset: int = 0
    first_header: str = ""
    second_header: str = ""
    second_block: Index | None = None

    def __str__(self) -> str:
        here, there = where(self.first_line, self.first_header), where(self.second_line, self.second_header)
        at = f"byte {self.offset} of {self.array}" if self.array else f"shared byte {self.offset}"
        end = f"block {self.block} ({self.count} time{'s' if self.count != 1 else ''})"
        other = f" of block {self.second_block}" if self.second_block else ""
        if self.kind == UNFENCED:
            return (f"missing fence: thread {self.first_thread} writes {at} at {here}, and the bulk copy of thread "
                    f"{self.second_thread}{other} at {there} touches it with no fence.proxy.async between the two; {end}. Ordinary stores "
                    "and bulk copies go different ways to memory: each thread that writes executes the fence behind its stores, and then "
                    "the barrier.")
        if self.kind == OPAQUE:
            return (f"an ordinary access of thread {self.second_thread} at {there} to {at}, an mbarrier since {here}; {end}. "
                    "Only mbarrier instructions may touch its 64 bits.")
        return (f"the bulk copy of thread {self.first_thread} at {here} is still under way when its block ends; {end}. Wait for its group, "
                "or for the phase of its mbarrier: the shared memory may be another block's by then.")


@dataclass(frozen=True)
class ProductFinding(Finding):
    """What the rules of `wgmma` ask for and a kernel lacks, though its result may be right.

    `kind`: "proxy" (the product at the second line reads what the first line wrote, without a `fence.proxy.async` between them), "pending"
    (the second line uses registers of the product at the first, without a wait) or "unordered" (the first line uses registers of the
    product at the second, without a `wgmma.fence` between them; one line: there was none at all). `count`: how often.
    """

    first_header: str = ""
    second_header: str = ""

    def __str__(self) -> str:
        here, there = where(self.first_line, self.first_header), where(self.second_line, self.second_header)
        times = f"block {self.block}, {self.count} time{'s' if self.count != 1 else ''}"
        if self.kind == PROXY:
            return f"wgmma at {there} may not see what is written at {here} ({times}). Put fence.proxy.async.shared::cta behind the write."
        if self.kind == PENDING:
            return f"{there} uses registers of the product at {here} ({times}). Put wgmma.commit_group and wgmma.wait_group between them."
        if here == there:
            return f"no wgmma.fence stands before the product at {here} ({times}). Put one there."
        return f"{here} uses registers of the product at {there} ({times}). Put wgmma.fence between the two."


@dataclass(frozen=True)
class Pipeline:
    """How far a launch's copies ran ahead, and how its instructions are shared between warps that copy and warps that multiply.

    Attributes
    ----------
    stages
        Stages in flight -> at how many waits. A wait is that of a warp for an mbarrier at which bytes or copies arrive. When it is over,
        the stages in flight are the other mbarriers of the block whose copies are under way: 0 says that nothing was copied meanwhile.
        Copies arrive here as late as the rules allow, and a warp runs until it must wait, but for the order "interleaved", in which none
        runs ahead. So it is a count of this run; how far copies run ahead on a GPU is a question of time.
    warps, instructions
        Of warps by what they issued: "copies" (`cp.async` or bulk copies), "products" (`wgmma`), "both" or "neither". Instructions are
        those of PTX, as in `TraceRecord.step`: with those that are switched off in all lanes, and each further attempt to end a wait.
    """

    stages: Mapping[int, int]
    warps: Mapping[str, int]
    instructions: Mapping[str, int]

    @property
    def waits(self) -> int:
        """Return how many waits there were."""
        return sum(self.stages.values())

    @property
    def least(self) -> int:
        """Return the fewest stages in flight behind a wait; 0 without a wait."""
        return min(self.stages, default=0)

    @property
    def mean(self) -> float:
        """Return the stages in flight behind a wait, on average; 0 without a wait."""
        return sum(stages * times for stages, times in self.stages.items()) / max(self.waits, 1)

    @property
    def most(self) -> int:
        """Return the most stages in flight behind a wait; 0 without a wait."""
        return max(self.stages, default=0)
