"""Controls on who issues when: an instruction, the warps of a multiprocessor, the independent instructions of each."""

from dataclasses import dataclass

from matplotlib.axes import Axes

from course_lib.arch import WARP
from course_lib.lessons.measuring.gantt import describe_gantt, gantt
from course_lib.model import Timeline
from course_lib.plots import style
from course_lib.run import choose_backend
from course_lib.run.clocked import Pipe, pipes
from course_lib.widgets.explore import Control, Explore

WARPS = (1, 2, 4, 6, 8, 12, 16, 24, 32)
INDEPENDENT = (1, 2, 4, 8)
MANY = 17                       # rows from which on only every fourth warp is named


@dataclass(frozen=True)
class Turns:
    """What a position shows: the timeline of one pipe, the cycles that were measured at it or None, and what its kernel says here."""

    name: str
    gpu: str
    warps: int
    independent: int
    issue: float
    latency: float
    shares: int
    timeline: Timeline
    once: bool
    known: float | None
    source: str
    here: str

    @property
    def cycles(self) -> float:
        """Return what is compared with a measurement: cycles of a round among many, or until all results of the first are there."""
        if self.once:
            return max(issue.done for issue in self.timeline.issues if issue.step < self.independent)
        return self.timeline.round_cycles

    @property
    def busy(self) -> float:
        """Return the share of a long time in which something is issued: a round's issues, by how long a round takes."""
        return min(1.0, self.timeline.warps * self.independent * self.issue / self.timeline.round_cycles)


def who_issues(name: str, warps: int, independent: int) -> Turns:
    """Work out the timeline of one pipe, and look up what was measured.

    >>> turns = who_issues("FMA, 2 registers", 16, 1)
    >>> turns.timeline.warps, turns.cycles, turns.timeline.hidden
    (4, 4, True)
    """
    pipe = pipes()[name]
    known = pipe.known.get(independent, {}).get(WARP * warps)
    return Turns(name, pipe.gpu, warps, independent, pipe.issue, pipe.latency, pipe.shares, pipe.timeline(warps, independent),
                 pipe.once, known, pipe.source, run_here(pipe, warps, independent))


def run_here(pipe: Pipe, warps: int, independent: int) -> str:
    """Run the position's kernel and say what its clocks said: cycles on a GPU, instructions on the simulator.

    >>> run_here(pipes()["FMA, shared operand"], 2, 1) if choose_backend() == "sim" else "2.0 instructions"
    '2.0 instructions'
    """
    result = pipe.run(warps, independent)
    if result is None:
        return "needs a GPU" if independent in pipe.kernels else "–"
    if not result.right:
        return "a chain is not whole"
    if result.clock != "cycles":
        return f"{result.counts_per_step[1]:.1f} instructions"
    cycles = result.end.max() - result.begin.min() if pipe.once else result.cycles_per_step[1]
    return f"{cycles:.1f} cycles"


def turn_facts(turns: Turns) -> dict[str, str]:
    """Return what the table shows, as a mapping of label to text."""
    what = "first round" if turns.once else "round"
    return {"warps of the scheduler" if turns.shares > 1 else "warps": str(turns.timeline.warps),
            "under way, at most": f"{turns.timeline.warps} · {turns.independent} = {turns.timeline.warps * turns.independent}",
            "needed: latency / issue": f"{turns.latency:g} / {turns.issue:g} = {turns.latency / turns.issue:.1f}",
            f"{what}, modelled": f"{turns.cycles:.1f} cycles",
            f"{what}, {turns.source or 'by Chien'}": "–" if turns.known is None else f"{turns.known:.1f} cycles",
            f"{what}, run here": turns.here,
            "busy issuing": f"{100 * turns.busy:.0f} %"}


def turn_picture(turns: Turns) -> tuple[Axes, str]:
    """Draw the first cycles of the timeline; return (Axes, alternative text)."""
    line, rows = turns.timeline, turns.timeline.warps + 1
    ax = style.axes(width=6.2, height=min(2.1 + 0.36 * rows, 6.4))
    hidden = "never idle" if line.hidden else f"busy {100 * turns.busy:.0f} % of the time"
    gantt(line, ax, title=f"{turns.name}: {hidden}",
          until=min(line.cycles, max(4 * turns.latency, 3 * line.warps * turns.issue)))
    if legend := ax.get_legend():
        legend.remove()
    names = [f"warp {w}" if rows < MANY or w % 4 == 0 else "" for w in range(line.warps)]
    ax.set_yticks(range(rows), [*names, "issued"])
    ax.set_xlabel("cycles, modelled; dark: issued, pale: waits" + ", hatched: idle" * (not line.hidden))
    return ax, describe_gantt(line, busy=turns.busy)


def warp_sliders(name: str = "FMA, 2 registers", warps: int = 4, independent: int = 1) -> Explore:
    """Put controls on the instruction, on the warps and on their independent instructions."""
    controls = (Control("instruction", "what all warps execute", tuple(pipes()), name),
                Control("warps", "on a multiprocessor", WARPS, warps),
                Control("ILP", "independent instructions of a warp, which do not wait for each other", INDEPENDENT, independent))
    return Explore(controls, who_issues, facts=turn_facts, picture=turn_picture, doing="running", done="run and computed",
                   ahead=choose_backend() == "sim")
