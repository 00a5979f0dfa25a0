"""What the latest launch through `cp` did: counters from the simulator, resources from the compiler."""

from dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.run import LaunchResult
from course_lib.run.types import Rows
from course_lib.unwritten import Unwritten, missing

# The latest `Launch`; or why there is none: a sentence, or the kernel that is not written.
_latest: "list[Launch | str | Unwritten]" = []


@dataclass(frozen=True, repr=False)
class Launch(LaunchResult):
    """One launch of the reader's own kernel. `count("sectors")`, `sectors_per_request()` and the table are those of `run`."""

    dynamic_shared: int = 0

    def head_rows(self) -> Rows:
        """Return the rows on how it was launched."""
        blocks, threads = (" × ".join(map(str, size[:2] if size[2] == 1 else size)) for size in (self.grid, self.block))
        rows = [("launch", f"grid {blocks}, block {threads}, {self.label}")]
        if self.dynamic_shared:
            rows.append(("dynamic shared", f"{self.dynamic_shared} bytes a block"))
        if self.counters is None:
            rows.append(("counters", "none: the simulator does not run beside a launch of so many threads"))
        return tuple(rows)


def note(launch: Launch | str | Unwritten) -> None:
    """Keep a launch as the latest one, or why there is none."""
    _latest[:] = [launch]


def last_launch() -> Launch:
    """Return what the latest launch by a `cp.RawKernel` did.

    Counters are the simulator's, also on a GPU, where it runs first to keep a faulty kernel off it. With more than 2**20 threads it does
    not, and `counters` is None.

    Raises
    ------
    CourseError
        When nothing was launched, or the latest launch failed.
    NotWritten
        When the kernel of the latest launch was not there yet.
    """
    found = _latest[0] if _latest else "no kernel was launched yet: launch one with cp.RawKernel(source, name)(grid, block, args)"
    if isinstance(found, Unwritten):
        raise missing(found)
    if isinstance(found, str):
        raise CourseError(found)
    return found
