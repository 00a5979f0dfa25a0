"""The text of many kernels' machine code with one call of nvdisasm, which takes 0.4 s to start and little more for a kernel.

Kernels that are one function each are put behind one another and disassembled as bare instructions; their source lines are read from
the cubin's DWARF table. Tests hold the text to what nvdisasm says of each kernel alone.
"""

import io
import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from course_lib.toolchain.binaries import SECONDS, find_binary
from course_lib.toolchain.sass import disassemble_now, instructions_of, read_back, written

NO_TARGET = ("BPT", "WARPSYNC")      # control flow whose last operand is a number or a mask, not an offset in the code


def code_texts(cubins: Sequence[bytes], arch: str) -> list[dict[str, str]]:
    """Return for each cubin its functions as `sass.written` writes them, name -> text.

    Parameters
    ----------
    arch
        What all of them were compiled for, `sm_90`.
    """
    bare = {number: found for number, cubin in enumerate(cubins) if (found := _one_function(cubin))}
    together = dict(zip(bare, _disassembled([code for _, code, _ in bare.values()], arch), strict=True)) if bare else {}
    texts = []
    for number, cubin in enumerate(cubins):
        if number not in bare:
            texts.append(_alone(cubin))
            continue
        name, _, lines = bare[number]
        raw = [item | lines.get(16 * i, {}) for i, item in enumerate(together[number])]
        texts.append({name: written(instructions_of({"sass-instructions": raw, "length": 16 * len(raw)}))})
    return texts


def _alone(cubin):
    functions = disassemble_now(cubin)
    texts = {name: written(code) for name, code in functions.items()}
    assert {name: read_back(text) for name, text in texts.items()} == functions, "the text of the machine code loses something"
    return texts


def _one_function(cubin):
    """Return (kernel, its bytes, {offset: source line and file}) of a cubin that is one function, or None."""
    elf = ELFFile(io.BytesIO(cubin))
    sections = [s for s in elf.iter_sections() if s.name.startswith(".text.")]
    functions = [s.name for s in _symbols(elf) if s["st_info"]["type"] == "STT_FUNC"]
    moved = [s for s in elf.iter_sections() if isinstance(s, RelocationSection) and ".text." in s.name and s.num_relocations()]
    if len(sections) != 1 or functions != [sections[0].name.removeprefix(".text.")] or moved:
        return None
    return functions[0], sections[0].data(), _lines(elf)


def _symbols(elf):
    return elf.get_section_by_name(".symtab").iter_symbols()


def _lines(elf):
    """Return what nvdisasm adds to the instructions where a line of the DWARF table begins."""
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=False)
    program = dwarf._parse_line_program_at_offset(0, dwarf.structs)
    states = [entry.state for entry in program.get_entries() if entry.state and not entry.state.end_sequence]
    return {state.address: {"source-line": state.line, "source-file-id": state.file} for state in states}


def _disassembled(codes, arch):
    """Disassemble bare instructions; return for each piece nvdisasm's items, with branches relative to the piece."""
    with tempfile.TemporaryDirectory(prefix="course-") as folder:
        path = Path(folder, "code.bin")
        path.write_bytes(b"".join(codes))
        done = subprocess.run([find_binary("nvdisasm"), "--binary", arch.upper().replace("_", ""), "--emit-json", path],
                              capture_output=True, encoding="utf-8", timeout=SECONDS, stdin=subprocess.DEVNULL, check=True)
    items = json.loads(done.stdout, strict=False)[1][0]["sass-instructions"]
    assert 16 * len(items) == sum(map(len, codes)), "an instruction has 16 bytes"
    pieces, start = [], 0
    for code in codes:
        piece = items[start // 16:(start + len(code)) // 16]
        pieces.append([_moved(item, start) for item in piece])
        start += len(code)
    return pieces


def _moved(item, start):
    """Return a branch with a target that counts from its kernel's first instruction."""
    first, comma, last = item.get("operands", "").rpartition(",")
    plain = "control-flow" not in item.get("other-attributes", {}) or not last.startswith("0x")
    if plain or item["opcode"].startswith(NO_TARGET):
        return item
    return item | {"operands": f"{first}{comma}{int(last, 16) - start:#x}"}
