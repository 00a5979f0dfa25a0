"""Launch broken pipelines on a GPU, and ask compute-sanitizer about them.

The kernels are those of `tests/simt/bulk_kernels.py`: right ones, and ones with a mistake that the simulator reports. Each is launched in a
process of its own, alone and under three tools, because it may hang or leave the process without a GPU. `initcheck` is left out: it looks
for reads of global memory that nobody has written, and these kernels have none.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from tools import ROOT, ToolError, again, from_tests
from tools.gpu.winners import sanitizer, summary

TOOLS = ("memcheck", "racecheck", "synccheck")
OPTIONS = {"racecheck": ("--racecheck-report", "all")}
LAUNCHES, AT_A_TIME = 40, 14       # of each kernel without a tool, each with other numbers; processes at once
STARTING, RUNNING = 45, 15         # seconds that a process has until its first launch, and from there to its end
LATEST, ALL = 215, 260             # seconds behind which no process begins, and none goes on
NOTHING = "nothing"
MARK = "pipelines: "               # begins a line of a launching process, beside what the tool prints
SHORT = {"unfenced": "missing fence.proxy.async", "unseen": "missing fence behind the init", "opaque": "ordinary access to an mbarrier",
         "unawaited": "copies not waited for"}


@dataclass(frozen=True)
class Case:
    """A kernel, as the processes that launch it read it from a file."""

    name: str
    mistake: bool
    source: str
    defines: dict[str, str]
    threads: int
    tile: int
    tiles: int
    cubin: str = ""
    launches: int = LAUNCHES


def cases() -> Iterator[Case]:
    """Yield the right kernels, those with a mistake, and other ways to be right."""
    there = from_tests("simt", "bulk_kernels")
    right = {f"none: {what} through mbarriers or groups": (kernel, {}) for kernel, what in
             zip(there.RIGHT, ("loading", "storing", "copying"), strict=True)}
    for mistake, group in ((False, right), *((True, g) for g in (there.HAZARDS, there.FINDINGS, there.WAITS, there.MISUSES)),
                           (False, {f"none: {name}": case for name, case in there.QUIET.items()})):
        for name, (kernel, changed, *_) in group.items():
            changed = dict(changed)
            tiles = changed.pop("tiles", 5)
            yield Case(name, mistake, there.source(kernel), there.RIGHT[kernel] | changed, there.THREADS[kernel], there.TILE[kernel], tiles)


def simulated(case: Case) -> tuple[str, list[str]]:
    """Return in a few words what the simulator says of a kernel, and its first four messages."""
    from course_lib import simt
    x = np.arange(1, case.tile * case.tiles + 1, dtype=np.float32)
    try:
        report = simt.launch(case.source, "k", 1, case.threads, [np.int32(case.tiles), x, np.zeros_like(x)], arch="sm_90a",
                             defines=case.defines, racecheck=True, workers=1)
    except simt.SimtError as error:
        return type(error).__name__, [str(error)]
    kinds = {SHORT.get(found.kind, found.kind): None for found in report.all_hazards}
    return ", ".join(kinds) or NOTHING, [str(found) for found in report.all_hazards[:4]]


# -- a process that launches -----------------------------------------------------------------------------------------------------------
def launch_case(case: Case) -> None:
    """Launch a kernel again and again, each time with other numbers, and print after each launch whether the answer is right."""
    from course_lib import gpu
    cubin, count = Path(case.cubin).read_bytes(), case.tile * case.tiles
    gpu.load(cubin, "k")
    for number in range(case.launches):
        x, y = np.arange(1, count + 1, dtype=np.float32) + 1000 * number, np.full(count, np.nan, np.float32)
        print(f"{MARK}launch", flush=True)
        try:
            gpu.launch(cubin, "k", 1, case.threads, [np.int32(case.tiles), x, y])
        except gpu.GpuError as error:
            print(f"{MARK}error {error.cause}", flush=True)
            return
        print(MARK + ("right" if np.array_equal(y, 2 * x.reshape(-1, 2)[:, ::-1].ravel()) else "wrong"), flush=True)


def command_of(path: Path) -> list[str]:
    """Return the command line of a process that launches the kernel of a file."""
    return again("gpu", "pipelines", path)


@click.command()
@click.argument("file", type=click.Path(exists=True, path_type=Path))
def command(file: Path) -> None:
    """Launch it."""
    launch_case(Case(**json.loads(file.read_text())))


# -- the processes ---------------------------------------------------------------------------------------------------------------------
def watched(words: list[str], text: Path, until: float) -> tuple[str, bool]:
    """Run a command until its time is over, then end it and its children; return what it printed, and whether it had to be ended."""
    begun, first = time.monotonic(), 0.0
    with text.open("w") as out:
        process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        while process.poll() is None:
            now = time.monotonic()
            if not first and MARK in text.read_text(errors="replace"):
                first = now
            if now > until or now > (first + RUNNING if first else begun + STARTING):
                break
            time.sleep(0.1)
        ended = process.poll() is None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):       # a driver may hold a process for a while
            process.wait(10)
    return text.read_text(errors="replace"), ended


def outcome(said: str, ended: bool) -> str:
    """Return in a few words how the launches of a process went.

    >>> outcome("pipelines: launch" + chr(10) + "pipelines: wrong" + chr(10) + "pipelines: launch", True)
    'hangs in launch 2; wrong 1 of 1'
    """
    marks = [line.removeprefix(MARK) for line in said.splitlines() if line.startswith(MARK)]
    launched, right, wrong = (marks.count(word) for word in ("launch", "right", "wrong"))
    failed = next((mark.removeprefix("error ") for mark in marks if mark.startswith("error ")), "")
    answers = f"wrong {wrong} of {right + wrong}" if wrong else f"right {right} of {right}" if right else ""
    if failed:
        answers = "; ".join(filter(None, (f"error in launch {launched}: {failed}", answers)))
    elif launched > right + wrong:
        answers = "; ".join(filter(None, (f"{'hangs' if ended else 'dies'} in launch {launched}", answers)))
    return answers or ("never launched, ended" if ended else f"never launched: {said[-200:]}")


def reported(said: str, ended: bool) -> dict[str, Any]:
    """Return what one of compute-sanitizer's tools found: its first message, its summary, and how the launch went under it.

    All that it printed stays in a file of its own; here are eight lines of it.
    """
    lines = [line.strip("= ") for line in said.splitlines() if line.startswith("=========") and line.strip("= ")]
    messages = [line for line in lines if not line.startswith(("COMPUTE-SANITIZER", "Target application")) and "SUMMARY" not in line]
    last = "" if ended and "SUMMARY" not in said else summary(said)
    clean = not messages if ended else last.endswith((": 0 errors", "(0 errors, 0 warnings)"))
    return {"found": "" if clean else next(iter(messages), last), "summary": last, "launch": outcome(said, ended),
            "said": [line for line in lines if not line.startswith(("Host Frame", "Saved host"))][:8]}


def run_all(wanted: list[Case], program: str, out: Path) -> dict[str, dict[str, Any]]:
    """Launch every kernel alone, then under each tool; what hung when it was alone comes last, so that it holds up nothing else."""
    begun, rows = time.monotonic(), {case.name: {"mistake": case.mistake} for case in wanted}

    def one(job: tuple[str, Case, int]) -> None:
        tool, case, number = job
        if time.monotonic() > begun + LATEST:
            return
        path = out / f"{number:02}.{tool or 'plain'}.json"
        path.write_text(json.dumps(asdict(case) | ({"launches": 1} if tool else {})))
        prefix = [program, "--tool", tool, "--print-limit", "20", *OPTIONS.get(tool, ())] if tool else []
        said, ended = watched([*prefix, *command_of(path)], path.with_suffix(".txt"), begun + ALL)
        rows[case.name][tool or "plain"] = reported(said, ended) if tool else outcome(said, ended)

    with ThreadPoolExecutor(AT_A_TIME) as pool:
        list(pool.map(one, [("", case, number) for number, case in enumerate(wanted)]))
        jobs = [(tool, case, number) for tool in TOOLS for number, case in enumerate(wanted)]
        list(pool.map(one, sorted(jobs, key=lambda job: str(rows[job[1].name].get("plain")).startswith("hangs"))))
    return rows


def built(case: Case, number: int, out: Path) -> Case:
    """Return a case with the path of its machine code."""
    from course_lib import toolchain
    path = out / f"{number:02}.cubin"
    path.write_bytes(toolchain.machine_code(toolchain.compile_cuda(case.source, name="k.cu", arch="sm_90a", defines=case.defines)))
    return Case(**asdict(case) | {"cubin": str(path)})


def section_pipelines(record: dict[str, Any], out: Path) -> str:
    """Set what the simulator says of broken pipelines beside what a GPU does with them and what compute-sanitizer finds."""
    from course_lib import gpu
    status = gpu.probe()
    if status.arch != "sm_90":
        raise ToolError(f"these kernels are for sm_90a, and this machine has {status.name or 'no GPU'}")
    program, there = sanitizer(), out / "pipelines"
    there.mkdir(parents=True, exist_ok=True)
    wanted = [built(case, number, there) for number, case in enumerate(cases())]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60).stdout.split("\n")
    record.update(device=status.name, driver=status.driver, sanitizer=next((line for line in version if "ersion" in line), ""),
                  launches=LAUNCHES, seconds=RUNNING, options=OPTIONS)
    rows = run_all(wanted, program, there)
    for case in wanted:
        rows[case.name]["simulator"], rows[case.name]["simulator_says"] = simulated(case)
    record["rows"] = [{"name": case.name, **rows[case.name]} for case in wanted]
    missing = sum(tool not in row for row in record["rows"] for tool in ("plain", *TOOLS))
    broken = [row for row in record["rows"] if row["mistake"]]
    silent = sum(not any(row.get(tool, {}).get("found") for tool in TOOLS) for row in broken)
    words = f"{len(broken)} broken pipelines, of {silent} compute-sanitizer says nothing; {len(wanted) - len(broken)} right ones"
    if missing or any(row["mistake"] == (row["simulator"] == NOTHING) for row in record["rows"]):
        raise ToolError(f"{words}; {missing} runs are missing")
    return words
