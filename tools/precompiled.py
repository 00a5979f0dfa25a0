"""Make the precompiled archive.

It holds what NVRTC says to everything that lessons and exercises ask of it, for machines without NVRTC.

It compiles every kernel at every position of its sliders and runs every lesson and exercise with a cache of its own; the archive is
that cache, packed. It can be interrupted and goes on where it was.
"""

import hashlib
import io
import json
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

import click
import nbformat
from nbclient import NotebookClient
from tqdm import tqdm

from tools import ROOT, ToolError
from tools.options import Names

TARGET = ROOT / "build" / "precompiled.zip"
VARIANT = "exercises/variant-"          # what students of another class get: no file, but made from solutions/
CELL_SECONDS = 600
ARCH = "sm_90"                          # what the simulator runs without being told otherwise
GROUP = 32                              # texts packed together: a look-up unpacks one group, and neighbours have much in common
BATCH = 16                              # texts for one call of the disassembler
WHEN = (1980, 1, 1, 0, 0, 0)            # the same answers give the same bytes


@click.command()
@click.option("--to", type=click.Path(path_type=Path), default=TARGET, help="Default: build/precompiled.zip.")
@click.option("--kernels", type=Names(), help="Names from the catalog (default: all).")
@click.option("--notebooks", "chosen", type=Names(), help="Paths from the repository (default: lessons and exercises).")
@click.option("--cache", type=click.Path(path_type=Path), help="Where answers lie until they are packed (default: a folder in build/).")
@click.option("--released", metavar="URL",
              help="Write course_lib/toolchain/precompiled.json, which tells where a release has the archive, and its checksum, and stop.")
def command(to: Path, kernels: tuple[str, ...] | None, chosen: tuple[str, ...] | None, cache: Path | None, released: str | None) -> None:
    """Make the archive, or say where it was released."""
    if released:
        checksum = hashlib.sha256(to.read_bytes()).hexdigest()
        told = ROOT / "course_lib" / "toolchain" / "precompiled.json"
        told.write_text(json.dumps({"url": released, "sha256": checksum}, indent=1) + "\n", encoding="utf-8")
        return
    books = notebooks() if chosen is None else chosen
    cache = cache or ROOT / "build" / f"precompiled-{inputs_hash(books)}"
    os.environ |= {"COURSE_CACHE": str(cache / "at work"), "COURSE_BACKEND": "sim"}
    compile_catalog(kernels)
    set_aside(cache)
    run_notebooks(books, cache)
    os.environ["COURSE_CACHE"] = str(cache / "answers")
    print(pack(to))


def notebooks() -> list[str]:
    """Return the lessons and exercises, relative to the repository, and the exercises of other variants than the committed one."""
    from course_lib.grading.classroom.variants import FIRST, variants_of
    found = [path for folder in ("notebooks", "exercises") for path in sorted((ROOT / folder).rglob("*.ipynb"))]
    committed = [path.relative_to(ROOT).as_posix() for path in found if ".ipynb_checkpoints" not in path.parts]
    others = [f"{VARIANT}{variant}/{path.name}" for path in sorted((ROOT / "solutions").glob("*/*.ipynb"))
              for variant in variants_of(nbformat.read(path, as_version=4).cells) if variant != FIRST]
    return committed + others


def book(name: str) -> Any:
    """Return a notebook; an exercise of another variant as students start from it."""
    if not name.startswith(VARIANT):
        return nbformat.read(ROOT / name, as_version=4)
    from course_lib.grading.classroom.preprocessors import ClearCudaSolutions, DropInstructorCells, DropOtherVariants
    path = Path(name)
    found = nbformat.read(ROOT / "solutions" / path.stem / path.name, as_version=4)
    for step in (DropInstructorCells(), DropOtherVariants(variant=path.parent.name.removeprefix("variant-")), ClearCudaSolutions()):
        found, _ = step.preprocess(found, {"language": "python"})
    return found


def inputs_hash(books: Sequence[str]) -> str:
    """Return a hash of all that decides what is asked and answered."""
    files = sorted((ROOT / "course_lib").rglob("*.*")) + [ROOT / "constraints.txt"]
    texts = [path.read_bytes() for path in files if path.suffix in (".py", ".cu", ".cuh", ".json", ".toml", ".txt") and path.is_file()]
    cells = [cell.source.encode() for name in books for cell in book(name).cells if cell.cell_type == "code"]
    return hashlib.sha256(b"\0".join(texts + cells)).hexdigest()[:16]


def catalog_requests(names: Sequence[str] | None = None) -> Iterator[Any]:
    """Yield the requests of the runtime, of every position of the catalog's sliders, of other devices, and of what was recorded."""
    from course_lib import toolchain
    from course_lib.arch import DEVICES
    from course_lib.kernels import ALL
    from course_lib.run.ahead import catalog_requests as positions
    from course_lib.simt.codegen import library
    from course_lib.toolchain.nvrtc import define_options
    from course_lib.toolchain.request import NAME, Request
    yield Request(library.source(), NAME, ARCH, ("-rdc=true",))
    yield from positions(names or ())
    known = toolchain.supported_architectures()
    numbers = {10 * d.cc[0] + d.cc[1] for d in DEVICES.values()}
    others = sorted({n if n in known else min(known) for n in numbers} - {90})
    for kernel in (ALL[name] for name in names or ALL):
        yield Request(kernel.source, kernel.file_name, ARCH)
        for values in _recorded(kernel):
            yield Request(kernel.source, kernel.file_name, ARCH, tuple(define_options(kernel.defines(**values))))
        for number in (n for n in others if kernel.runs_on((n // 10, n % 10))):
            yield Request(kernel.source, kernel.file_name, f"sm_{number}", tuple(define_options(kernel.defines())))


def _recorded(kernel: Any) -> Iterator[dict[str, Any]]:
    """Yield the parameters with which a kernel was measured, which sliders need not offer."""
    from course_lib import data
    for path in sorted(Path(data.__file__).parent.glob("*.json")):
        for record in json.loads(path.read_text(encoding="utf-8")).get("records", ()):
            values = record.get("parameters", {})
            if record["kernel"] == kernel.name and not kernel.problems(**values):
                yield values


def compile_catalog(names: Sequence[str] | None = None) -> None:
    """Compile the catalog's requests on all cores; the answers lie in the cache then."""
    from course_lib.simt.host.workers import available_cores
    from course_lib.toolchain.ahead import compile_all
    requests = list(dict.fromkeys(catalog_requests(names)))
    batches = [requests[i:i + BATCH] for i in range(0, len(requests), BATCH)]
    with ThreadPoolExecutor(available_cores()) as pool:
        for _ in tqdm(pool.map(compile_all, batches), desc="kernels", total=len(batches), unit=f"{BATCH} positions"):
            pass


def run_notebooks(books: Sequence[str], cache: Path) -> None:
    """Run each notebook with the cache, and compile what its widgets offer; one that was run with this cache is not run again."""
    for name in tqdm(books, desc="notebooks"):
        done = cache / "done" / f"{name.replace('/', '.')}"
        if not done.exists():
            execute(name)
            set_aside(cache)
            done.parent.mkdir(parents=True, exist_ok=True)
            done.touch()


def set_aside(cache: Path) -> None:
    """Link what the compiler said into a folder of its own: a cache that grows full forgets what was used longest ago."""
    for path in (cache / "at work").glob("*/*/*"):
        there = cache / "answers" / path.relative_to(cache / "at work")
        if path.suffix in (".nvrtc", ".sass") and not there.exists():
            there.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, there)


def execute(name: str) -> None:
    """Run a notebook; deliberate errors and starters that are not right yet are expected."""
    asked = book(name)
    asked.cells.append(nbformat.v4.new_code_cell("from course_lib.run import compile_offered\ncompile_offered()"))
    with tempfile.TemporaryDirectory() as folder:       # an exercise may write beside itself
        client = NotebookClient(asked, timeout=CELL_SECONDS, kernel_name="python3", allow_errors=True,
                                resources={"metadata": {"path": folder}})
        client.execute(env=os.environ | {"WARP_BY_WARP_HOME": str(Path(folder, "home")), "PYTHONPATH": str(ROOT)})
    if any(output.output_type == "error" for output in asked.cells[-1].outputs):
        raise ToolError(f"{name}: the positions of its sliders cannot be compiled: {asked.cells[-1].outputs[-1].evalue}")


def pack(target: Path) -> str:
    """Write everything in the cache to an archive; return a line on what is in it."""
    from course_lib.toolchain.archive import packed
    from course_lib.toolchain.compile_cache import stored_compilations
    entries = {}
    for key, told, cubin in tqdm(stored_compilations(), desc="packing"):
        entries[key] = entry(told, cubin)
    keys = sorted(entries, key=lambda key: (_first_entry(entries[key][0]["ptx"]), key))     # what is alike stands together
    groups = {f"{number:04}": keys[at:at + GROUP] for number, at in enumerate(range(0, len(keys), GROUP))}
    target.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:         # stored: the members are compressed already
        archive.writestr(zipfile.ZipInfo("index.json", WHEN), packed(facts() | {"groups": groups}))
        for name, members in tqdm(groups.items(), desc="compressing"):
            archive.writestr(zipfile.ZipInfo(f"{name}.json", WHEN), packed([entries[key][0] for key in members]))
            archive.writestr(zipfile.ZipInfo(f"{name}.sass.json", WHEN), packed([entries[key][1] for key in members]))
    part = target.with_suffix(".part")
    part.write_bytes(file.getvalue())
    part.replace(target)
    return f"{target.name}: {len(keys)} texts and positions, {target.stat().st_size / 1e6:.2f} MB"


def entry(told: dict[str, Any], cubin: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """Return (what the archive says of an answer, kernel -> text of its machine code)."""
    from course_lib import toolchain
    from course_lib.toolchain.disassemble_many import code_texts
    from course_lib.toolchain.sass import texts_on_disk
    if "status" in told or not cubin:
        return told | {"resources": {}}, {}
    compiled = toolchain.Compiled("", ARCH, "", told["ptx"], cubin, told["log"], told["ptxas_log"], toolchain.nvrtc_version())
    used = {name: asdict(found) for name, found in toolchain.resources(compiled).items()}
    return told | {"resources": used}, texts_on_disk(cubin) or code_texts([cubin], ARCH)[0]


def _first_entry(ptx: str) -> str:
    found = re.search(r"\.entry (\w+)", ptx)
    return found[1] if found else ""


def facts() -> dict[str, Any]:
    """Return what all entries have in common."""
    from course_lib import toolchain
    from course_lib.toolchain import nvrtc
    return {"nvrtc": list(toolchain.nvrtc_version()), "wheel": metadata.version("nvidia-cuda-nvrtc"), "options": list(nvrtc.ALWAYS),
            "architectures": list(toolchain.supported_architectures())}
