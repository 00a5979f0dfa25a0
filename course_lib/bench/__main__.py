"""`python -m course_lib.bench simt` measures the simulator, `… ladder|sizes|tiles|warps|threads` kernels, `… train` a training run."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from course_lib.bench import command as sweeps
from course_lib.bench import records, simulator, tables
from course_lib.errors import CourseError


def parser() -> argparse.ArgumentParser:
    """Return the command's parser."""
    command = argparse.ArgumentParser(prog="python -m course_lib.bench", description="Measure how fast things run.")
    benchmarks = command.add_subparsers(dest="benchmark", required=True)
    simt = benchmarks.add_parser("simt", help="the simulator: kernels, compilation, racecheck")
    simt.add_argument("--quick", action="store_true", help="small and few: to see that it works, not to quote")
    simt.add_argument("--repeats", type=int, metavar="R", help="measure each speed R times")
    simt.add_argument("--json", type=Path, metavar="FILE", help="write the measurements there too")
    simt.add_argument("--markdown", action="store_true", help="print the tables as docs/simulator-speed.md has them")
    simt.add_argument("--numba-python", metavar="PATH", help="a Python that has numba, for the comparison")
    sweeps.add_parsers(benchmarks)
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    wanted = parser().parse_args(arguments)
    if wanted.benchmark != "simt":
        return sweeps.main(wanted)
    plan = simulator.Plan.quick() if wanted.quick else simulator.Plan()
    if wanted.repeats:
        plan = simulator.Plan(**{**vars(plan), "repeats": wanted.repeats})
    try:
        result = simulator.measure(plan, numba_python=wanted.numba_python, say=lambda text: print(f"… {text}", file=sys.stderr, flush=True))
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    if wanted.json:
        wanted.json.write_text(records.dumps(result), encoding="utf-8")
    print(tables.markdown(result) if wanted.markdown else tables.plain(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
