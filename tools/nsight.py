"""Have Nsight Compute watch a tool, and read what it counted."""

import csv
import io
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools import ROOT, ToolError, again

GLOBAL = ("l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum")
INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
# What the hardware repeats exactly, and the name of the same count in the simulator's report.
MEASURED = {name.format(op): name.format(op) for name in (*GLOBAL, INSTRUCTIONS) for op in ("ld", "st")} | {
    f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum":
    f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")}


def watched(words: Iterable[object], metrics: Iterable[str], entries: Sequence[str], said: Path, pattern: str = "",
            patience: float = 420) -> list[dict[str, str]]:
    """Have Nsight Compute watch another `python -m tools`; return a row for each launch.

    Parameters
    ----------
    words : sequence
        What comes after `python -m tools`.
    metrics : sequence of str
        What to count.
    entries : sequence of str
        The kernels that must have been launched, in this order; others are left out.
    said : Path
        Gets what Nsight Compute says.
    pattern : str
        Only kernels whose names match this regular expression are watched; "" for all.
    patience : float
        Seconds.

    Raises
    ------
    ToolError
        When launches are missing or in another order.
    """
    named = ["--kernel-name", f"regex:{pattern}"] if pattern else []
    command = [find_ncu(), "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", *named,
               "--metrics", ",".join(metrics), *again(*words)]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patience)
    said.write_text(answer.stdout + answer.stderr)
    rows = [row for row in parse_ncu(answer.stdout) if kernel_of(row) in entries]
    if [kernel_of(row) for row in rows] != list(entries):
        raise ToolError(f"Nsight Compute reported {len(rows)} launches of {len(entries)}, or in another order, and ended with status "
                        f"{answer.returncode}: {(answer.stdout + answer.stderr)[-1500:]}")
    return rows


def kernel_of(row: dict[str, str]) -> str:
    """Return the name of the kernel that a row is about, without its parameters."""
    return row["Kernel Name"].partition("(")[0]


def parse_ncu(text: str) -> list[dict[str, str]]:
    """Read `ncu --csv --page raw`: one row per launch, without the row of units.

    >>> parse_ncu('==PROF== x\\n"ID","Kernel Name","m.sum"\\n"","","sector"\\n"0","sgemm_naive","1,024"\\n')
    [{'ID': '0', 'Kernel Name': 'sgemm_naive', 'm.sum': '1,024'}]
    """
    start = text.find('"ID"')
    rows = csv.DictReader(io.StringIO(text[start:])) if start >= 0 else ()
    return [row for row in rows if (row["ID"] or "").isdigit()]


def number(text: str) -> int:
    """Read a count as ncu writes it: "1,024"."""
    return int(float(text.replace(",", "")))


def find_ncu() -> str:
    """Return where Nsight Compute's command is.

    Raises
    ------
    ToolError
        When it is not installed.
    """
    found = shutil.which("ncu") or next(iter(sorted(map(str, Path("/usr/local").glob("cuda*/bin/ncu")))), None)
    if found is None:
        raise ToolError("Nsight Compute (ncu) is not on the PATH, and there is none in /usr/local/cuda*/bin.")
    return found


def version_of(tool: str) -> str:
    """Return the last line of what a program says about its version."""
    answer = subprocess.run([tool, "--version"], capture_output=True, text=True, timeout=60)
    return answer.stdout.strip().rpartition("\n")[2]
