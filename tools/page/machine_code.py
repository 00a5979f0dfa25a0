"""Write docs/machine-code.md: inner loops.

Loads from shared memory and multiply-adds in the innermost loops, beside Chien's Tables 8 and 12.

Only the tables are written; the rest of the page stays as it is. The day is today's only when something else in the tables changes.
"""

import re
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from course_lib.kernels import KERNELS, get
from course_lib.model.gt200 import METHODS
from course_lib.plots import inner_loops
from course_lib.toolchain import inner_loop, nvrtc_version, tensor_step
from tools import ROOT
from tools.pages import Part, page_command

PAGE = ROOT / "docs" / "machine-code.md"
TABLES = Part("<!-- written by python -m tools page machine-code -->", "<!-- end of tables -->")
ARCH = "sm_90"
OURS = {"volkov": "sgemm_volkov", "volkov_variant": "sgemm_volkov", "method 1 by nvcc": "sgemm_method1", "method 1": "sgemm_method1",
        "method 2": "sgemm_method2", "method 3": "sgemm_method3", "method 4": "sgemm_method4"}
LOAD_A = "*a[v]"                 # what the line of the source says that loads an element of A


def loads_of_a(found: Any, source: str) -> int:
    """Return the global loads of the loop that come from the line that loads A."""
    lines = {number for number, line in enumerate(source.splitlines(), 1) if LOAD_A in line}
    return sum(i.base == "LDG" and i.line in lines for i in found.loop.instructions)


def markdown(table: Any) -> str:
    """Return a Table as Markdown."""
    heads = "| " + " | ".join(table.header) + " |\n|---" + "|--:" * (len(table.header) - 1) + "|"
    return "\n".join([heads, *("| " + " | ".join([f"`{row[0]}`", *map(str, row[1:])]) + " |" for row in table.rows)])


def beside_chien() -> str:
    """Return the table of what his methods pay for a multiply-add, and what ours do."""
    lines = ["| method | kernel | load A, his | load A, ours | MAD with a shared operand, his | MOV from shared, his | LDS, ours | "
             "shared words, ours | MAD of registers, his | FFMA, ours |", "|---|---|" + "--:|" * 8]
    for name, kernel in OURS.items():
        his, found = METHODS[name].operations(), inner_loop(kernel, arch=ARCH)
        ours = Fraction(loads_of_a(found, get(kernel).source), found.multiply_adds)
        lines.append(f"| {name} | `{kernel}` | {his['load A']} | {ours} | {his['MAD shared']} | {his['shared to register']} | "
                     f"{found.per_multiply_add('LDS')} | {Fraction(found.shared_words, found.multiply_adds)} | {his['MAD']} | 1 |")
    return "\n".join(lines)


def on_tensor_cores() -> str:
    """Return the table of one step along K of the kernels for tensor cores."""
    names = ("HMMA", "LDS", "LDSM", "LD", "STS", "FADD", "F2FP")
    lines = ["| kernel | 32 multiply-adds of the product | HMMA | LDS | LDSM | LD | STS | FADD | F2FP | instructions, shortest way | "
             "instructions / 32 multiply-adds of the product |", "|---|" + "--:|" * 10]
    for name, kernel in KERNELS.items():
        if kernel.inputs and not kernel.boxes:             # those have no step that all warps make
            step, p = tensor_step(kernel, arch=ARCH), kernel.check()
            product = p["WM"] * p["WN"] * p["BK"] // 32
            lines.append(f"| `{name}` | {product} | {' | '.join(str(step.opcodes[n]) for n in names)} | {step.instructions} | "
                         f"{step.instructions / product:.4f} |")
    return "\n".join(lines)


def body(day: str) -> str:
    """Return everything between the marks."""
    version = ".".join(map(str, nvrtc_version()))
    return "\n\n".join([f"NVRTC {version}, {ARCH}, {day}; every parameter at its default.", "### For each multiply-add, beside Chien's "
                        "Tables 8 and 12", beside_chien(), "### One turn of the innermost loop", markdown(inner_loops(arch=ARCH)),
                        "### One step along K on tensor cores", on_tensor_cores()])


def page(text: str, today: str = "") -> str:
    """Return the page's text with the tables written anew; the day stays when nothing else changes."""
    today = today or datetime.now(UTC).date().isoformat()
    _, old, _ = TABLES.split(text)
    day = re.search(r"\d{4}-\d\d-\d\d", old)
    same = body(day[0] if day else today)
    return TABLES.renewed(text, same if old.strip() == same else body(today))


command = page_command(PAGE, page)
