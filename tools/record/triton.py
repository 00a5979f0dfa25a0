"""Compile lesson 21's product with Triton.

It is compiled at each of the lesson's settings. No GPU is needed, but Triton is: `pip install -c constraints.txt -e .[triton]`.
Each PTX text is kept in course_lib/kernels/triton. Its first line says how it was made and how it is launched, and what the machine code
that Triton's assembler made of it has: registers, bytes of local memory, and the instructions of its loop.
"""

import itertools
import json
import re
from collections import Counter
from importlib.machinery import SourceFileLoader
from importlib.metadata import version
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from course_lib import toolchain
from course_lib.errors import require
from course_lib.kernels.triton import FOLDER, PROGRAM, SETTINGS, Setting, digest_of, program_of

SHOWN = ("HMMA", "HGMMA", "LDSM", "LDS", "STS", "LDGSTS", "LDG", "BAR", "LDGDEPBAR", "DEPBAR", "WARPGROUP")
NEVER = "@!PT"                   # the assembler puts a few loads that no lane executes before asynchronous copies


def jitted(source: str, folder: Path) -> Any:
    """Return the program `product` of a text, which Triton wants to read in a file."""
    path = folder / "product.py"
    path.write_text(source, encoding="utf-8")
    loader = SourceFileLoader("product", str(path))
    spec = spec_from_loader("product", loader)
    if spec is None:
        raise ImportError(f"{path} cannot be loaded")
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module.product


def compiled(setting: Setting, folder: Path) -> Any:
    """Return what Triton makes of the program at a setting."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    function = jitted(program_of(setting), folder)
    given = "*fp32" if setting.floats else "*fp16"
    types = dict(zip(function.arg_names, (given, given, "*fp32", "i32", "i32", "i32")))
    tile = {"BM": setting.BM, "BN": setting.BN, "BK": setting.BK}
    aligned = ("A", "B", "C", *(() if setting.any_size else ("N", "K")))
    attributes = {(i,): [["tt.divisibility", 16]] for i, name in enumerate(function.arg_names) if name in aligned}
    source = ASTSource(function, {**types, **dict.fromkeys(tile, "constexpr")}, tile, attributes)
    target = GPUTarget("cuda", int(setting.arch.strip("sm_a")), 32)
    return triton.compile(source, target=target, options={"num_stages": setting.stages, "num_warps": setting.warps})


def about(made: Any) -> dict[str, Any]:
    """Return what a launch of compiled code needs, and what its machine code has."""
    cubin, entry = made.asm["cubin"], made.metadata.name
    used = toolchain.resources(cubin)[entry]
    loops = toolchain.loops(toolchain.sass(cubin, entry))
    busy = max(loops, key=lambda loop: loop.counts["HMMA"] + loop.counts["HGMMA"])
    executed = [i.base for i in busy.instructions if i.predicate != NEVER]
    found = Counter(executed)
    counts = {name: found[name] for name in SHOWN if found[name]}
    order = [f"{len(list(those))} {name}" for name, those in itertools.groupby(name for name in executed if name in SHOWN)]
    return {"triton": version("triton"), "entry": entry, "shared": made.metadata.shared, "registers": used.registers,
            "local": used.local_bytes, "loop": {"instructions": found.total()} | counts, "order": ", ".join(order)}


def text_of(made: Any, setting: Setting) -> str:
    """Return the text that is kept: a line that says what it is, and the PTX without a debugger's sections and this machine's folders."""
    head = json.dumps(setting.as_dict() | {"program": digest_of(setting)} | about(made))
    code, _, _ = made.asm["ptx"].partition("\t.section\t.debug")
    body = re.sub(r'(\.file\s+\d+ )"[^"]*/', r'\1"', code).rstrip()
    return f"// {head}\n{body}\n"


@click.command()
def command() -> None:
    """Write the texts."""
    require("python -m tools record triton", "triton")
    print(f"{PROGRAM.name}, Triton {version('triton')}")
    for setting in SETTINGS:
        with TemporaryDirectory() as name:
            text = text_of(compiled(setting, Path(name)), setting)
        (FOLDER / f"{setting.name}.ptx").write_text(text, encoding="utf-8")
        print(f"{setting.name}.ptx", text.partition("\n")[0])
