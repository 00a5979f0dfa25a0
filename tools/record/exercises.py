"""Hold the exercises' worked kernels to a GPU.

Their results are checked on every input, and their counters against Nsight Compute's.

With a FILE, on a machine with a GPU and Nsight Compute, it compares and writes the file, which is what tests/data/h200_exercises.json
holds.
Without, each is launched once, on the input of its gates; this is what Nsight Compute watches. Instructors' notes say that a gate's
counters are the hardware's: this shows it.

Where build/exercise_code.json is, its machine code runs on the GPU: so the compiler that the course is installed with is held to the
hardware on a machine that has another one, and the counters are compared where the record is read
(tests/hardware/test_exercises_counted.py).
"""

import base64
import datetime
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import nbformat

from course_lib import magic, toolchain
from course_lib.grading import all_parts
from course_lib.grading.judge.spec import Spec
from course_lib.kernels.user import written_values
from course_lib.toolchain.request import source_hash
from tools import ROOT, ToolError
from tools.nsight import MEASURED, find_ncu, number, version_of, watched

LDSM = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum"       # separate in the profiler, together in our report
CODE = ROOT / "build" / "exercise_code.json"
LOADED = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"


def worked(only: str = "") -> Iterator[tuple[Spec, str]]:
    """Yield (spec, CUDA C text) of the worked solution of every part that is a kernel; `only`: of this exercise alone."""
    for spec in (spec for spec in all_parts().values() if type(spec) is Spec and only in ("", spec.exercise)):
        for cell in nbformat.read(ROOT / f"solutions/{spec.exercise}/{spec.exercise}.ipynb", 4).cells:
            if cell.source.startswith("%%cuda") and magic.from_cell(cell.source)[0] == spec.entry:
                yield spec, magic.from_cell(cell.source)[1]


def tile_of(spec: Spec, text: str) -> dict[str, int]:
    """Return the numbers of a text that decide its launch."""
    values = written_values(text)
    return {name: values[name] for name in spec.tile}


def simulated(spec: Spec, text: str) -> Any:
    """Return the simulator's report of the input of the gates."""
    from course_lib import simt
    tile = tile_of(spec, text)
    trial = spec.operation.trial(spec.gate_case(tile))
    return simt.launch(text, spec.entry, spec.grid(trial.case, tile), spec.block(tile), trial.args,
                       constants=getattr(trial, "constants", None), dynamic_shared=spec.dynamic_shared(tile))


def differing(report: Any, measured: dict[str, int]) -> dict[str, tuple[int, int]]:
    """Return the counters that a report gives otherwise than measured, by the profiler's names: {name: (simulated, measured)}."""
    ours = {name: report.counters[MEASURED[name]] for name in measured}
    return {name: (ours[name], measured[name]) for name in measured if ours[name] != measured[name]}


def launch(spec: Spec, text: str, compiled: Any, case: Any) -> str | None:
    """Launch a kernel on the GPU on one input; return what is wrong with the result, or None."""
    from course_lib import gpu
    tile = tile_of(spec, text)
    trial = spec.operation.trial(case)
    gpu.launch(compiled, spec.entry, spec.grid(case, tile), spec.block(tile), trial.args, constants=getattr(trial, "constants", None),
               dynamic_shared=spec.dynamic_shared(tile))
    return spec.operation.judge(trial)


def compiled_for(text: str) -> Any:
    """Return the machine code of `CODE`, or compile for the GPU that is here."""
    from course_lib import gpu
    if CODE.exists():
        code = json.loads(CODE.read_text())["code"]
        if source_hash(text) not in code:
            raise ToolError(f"{CODE.relative_to(ROOT)} lacks a worked kernel as it is now: write it again (--code), or delete it")
        return base64.b64decode(code[source_hash(text)])
    return toolchain.compile_cuda(text, name="answer.cu", arch=gpu.probe().arch)


def write_code(only: str = "") -> None:
    """Write `CODE`."""
    made = {source_hash(text): toolchain.machine_code(toolchain.compile_cuda(text, name="answer.cu")) for _, text in worked(only)}
    code = {digest: base64.b64encode(cubin).decode() for digest, cubin in made.items()}
    CODE.parent.mkdir(exist_ok=True)
    CODE.write_text(json.dumps({"nvrtc": toolchain.nvrtc_version(), "code": code}))


def compare(record: dict[str, Any], out: Path, only: str = "") -> str:
    """Run every worked kernel on the GPU, and set what Nsight Compute counts beside the simulator's counters.

    Parameters
    ----------
    record : dict
        Gets device, driver, date, versions and a row for each kernel.
    out : Path
        The folder for what Nsight Compute says.
    only : str
        An exercise, instead of all.

    Returns
    -------
    str
        How many were right, and equal.

    Raises
    ------
    ToolError
        When a result is wrong, a counter differs, or Nsight Compute saw other launches.
    """
    from course_lib import gpu
    parts = list(worked(only))
    rows = watched(["record", "exercises", "--only", only], [*MEASURED, LDSM], [spec.entry for spec, _ in parts], out / "ncu_exercises.csv",
                   "^(" + "|".join({spec.entry for spec, _ in parts}) + ")$")
    status = gpu.probe()
    nvrtc = json.loads(CODE.read_text())["nvrtc"] if CODE.exists() else list(toolchain.nvrtc_version())
    record.update(device=status.name, driver=status.driver, date=datetime.date.today().isoformat(), ncu=version_of(find_ncu()),
                  nvrtc=nvrtc, counters=list(MEASURED), rows=[])
    wrong = []
    for (spec, text), row in zip(parts, rows, strict=True):
        compiled, cases = compiled_for(text), spec.cases(tile_of(spec, text))
        wrong += [f"{spec.entry}, {case}: {found}" for case in cases if (found := launch(spec, text, compiled, case)) is not None]
        there = {name: number(row[name]) for name in MEASURED}
        there[LOADED] += number(row[LDSM])
        if not CODE.exists():
            found = differing(simulated(spec, text), there)
            wrong += [f"{spec.entry} {name}: simulated {ours}, measured {theirs}" for name, (ours, theirs) in found.items()]
        record["rows"].append({"exercise": spec.exercise, "part": spec.part, "inputs": len(cases), "text": source_hash(text),
                               "measured": list(there.values())})
    if wrong:
        raise ToolError("; ".join(wrong[:6]))
    inputs = sum(row["inputs"] for row in record["rows"])
    compared = "recorded" if CODE.exists() else "equal"
    return f"{len(parts)} kernels right on {inputs} inputs, {len(parts) * len(MEASURED)} counters {compared}"


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--code", is_flag=True, help="Anywhere: compile for sm_90, into build/exercise_code.json.")
@click.option("--only", default="", metavar="EXERCISE", help="This exercise alone; FILE then holds no other.")
def command(file: Path | None, code: bool, only: str) -> None:
    """Launch each kernel once, or compile, or compare and write the record."""
    if code:
        write_code(only)
    elif file:
        record: dict[str, Any] = {}
        try:
            print(compare(record, file.parent, only))
        finally:
            rows = ",\n".join(json.dumps(row) for row in record.pop("rows", []))
            file.write_text(json.dumps(record)[:-1] + ', "rows": [\n' + rows + "]}\n")
    else:
        for spec, text in worked(only):
            launch(spec, text, compiled_for(text), spec.gate_case(tile_of(spec, text)))
