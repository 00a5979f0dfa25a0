"""What runs in the sandbox for kernels: compile texts, launch kernels on the arrays that come, return raw numbers.

It knows neither what is right nor what is asked: one request after the other, HEADERS and GIBIBYTES on its command line.
The answers go through a pipe that nothing else in the process holds; what a kernel or the compiler prints goes nowhere.
"""

import dataclasses
import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.grading.sandbox import compiler, wire
from course_lib.simt.async_report import AsyncFinding, ProductFinding
from course_lib.simt.codegen import native
from course_lib.toolchain import CompileError, compile_cuda, nvrtc, resources
from course_lib.toolchain.sass import disassemble, written

READY = {"ready": 1}                 # the first message: from here on what goes wrong is the kernel's doing
MOST_FILE_BYTES = 64 << 20
MOST_OUTPUT = 20_000                 # characters of what a kernel prints
MOST_MESSAGES = 1000                 # of the compiler
MOST_INSTRUCTIONS = 50_000           # of a text's machine code, when that is asked for
FACTS = ("line", "block", "thread", "address", "array", "width", "kernel", "limit", "assertion", "file", "function", "opcode")


def main(headers: str, gibibytes: str) -> None:
    """Answer requests until there are no more."""
    reply = os.fdopen(os.dup(1), "wb")
    requests = os.fdopen(os.dup(0), "rb")
    for name, value in (("RLIMIT_AS", int(gibibytes) << 30), ("RLIMIT_FSIZE", MOST_FILE_BYTES), ("RLIMIT_CORE", 0)):
        resource.setrlimit(getattr(resource, name), (value, value))
    nvrtc.answer = compiler.start_compiler(headers, reply, requests)
    native.target_machine()
    reply.write(wire.pack(READY))
    reply.flush()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    while head := requests.read(wire.HEAD.size):
        text, raw = wire.HEAD.unpack(head)
        reply.write(answered(json.loads(requests.read(text)), requests.read(raw)))
        reply.flush()


def answered(request: dict, raw: bytes) -> bytes:
    """Do what was asked; return the message with the answer, or with the error."""
    try:
        arrays = wire.rebuilt(request["arrays"], raw)
        told = WORK[request["do"]](**wire.decoded(request["given"], arrays))
        text = wire.pack(told, b"".join(array.tobytes() for array in arrays if array.flags.writeable))
        if wire.HEAD.unpack(text[:wire.HEAD.size])[0] > request["most"]:
            raise CourseError("what is to be told of this kernel is too much: more hazards, lines or records than the check reads")
        return text
    except BaseException as error:
        if isinstance(error, SystemExit):
            raise
        return wire.pack({"error": _described(error)})


def compiled(source: str, name: str) -> dict:
    """Compile a text; return its PTX and what the compiler says."""
    found = compile_cuda(source, name=name)
    return {"ptx": found.ptx, "log": found.log, "ptxas_log": found.ptxas_log}


def machine_code(source: str, name: str) -> dict:
    """Return kernel -> its machine code, as `sass.written` writes it."""
    functions = disassemble(_cubin(source, name))
    if sum(map(len, functions.values())) > MOST_INSTRUCTIONS:
        raise CourseError(f"the machine code has more than {MOST_INSTRUCTIONS} instructions, more than the check reads")
    return {"kernels": {entry: written(code) for entry, code in functions.items()}}


def taken(source: str, name: str) -> dict:
    """Return kernel -> the fields of its `Resources`."""
    found = resources(_cubin(source, name))
    return {"kernels": {entry: dataclasses.asdict(one) for entry, one in found.items()}}


def _cubin(source, name):
    """Return the machine code, without the compiler's log: what a launch in the grader's process has."""
    code = compile_cuda(source, name=name).cubin
    if not isinstance(code, bytes):
        raise CourseError("grading needs NVIDIA's compiler")
    return code


def launched(source: str, entry: str, grid: int | list, block: int | list, args: list, options: dict) -> dict:
    """Launch a kernel; return what the simulator counted and found."""
    report = simt.launch(source, entry, _tuples(grid), _tuples(block), args, **{name: _tuples(value) for name, value in options.items()})
    level: Any = report.level               # a `Levels`, which knows more than the Mapping that a Report promises
    facts = level.facts
    rules: list[AsyncFinding | ProductFinding] = [*report.async_findings, *report.products]
    return {
        "kernel": report.kernel, "counters": report.counters, "steps": report.steps, "ptx": report.ptx,
        "output": report.output[:MOST_OUTPUT],
        "sure": facts.sure, "diverged": sorted(facts.diverged), "copied": facts.copied,
        "predicted": [[*where, list(widths.items())] for where, widths in facts.predicted.items()],
        "written": [[*where, times] for where, times in facts.written.items()],
        "lines": [[line, counts] for line, counts in report.lines.items()],
        "hazards": [[h.kind, h.address, h.first_line, h.second_line, h.first_thread, h.second_thread, h.block, h.count,
                     h.first_copies, h.second_copies, h.bulk, h.first_multiplies, h.array, h.offset, h.first_header, h.second_header]
                    for h in report.hazards],
        "rules": [[r.kind, r.first_line, r.second_line, r.first_thread, r.second_thread, r.block, r.count, r.first_header, r.second_header,
                   *((r.array, r.offset) if isinstance(r, AsyncFinding) else ("", 0))]
                  for r in rules],
        "arrays": [[a.name, a.address, a.nbytes, a.itemsize] for a in report.arrays],
        "shared": [[v.name, v.offset, v.nbytes] for v in report.shared],
        "trace": [[t.step, t.block, t.warp, t.line, t.operation, t.mask, t.addresses.tolist(), t.width, t.space] for t in report.trace],
    }


WORK: dict[str, Callable[..., dict]] = {"compile": compiled, "sass": machine_code, "resources": taken, "launch": launched}


def _tuples(value):
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _described(error):
    """Return an error as [class, words, plain facts, the compiler's messages]."""
    facts = {name: _fact(getattr(error, name)) for name in FACTS if isinstance(error, CourseError) and hasattr(error, name)}
    diagnostics = error.diagnostics[:MOST_MESSAGES] if isinstance(error, CompileError) else ()
    messages = [[d.line, d.severity, d.message, d.source_line, d.column] for d in diagnostics]
    return [type(error).__name__, str(error), {name: value for name, value in facts.items() if value is not None}, messages]


def _fact(value):
    if isinstance(value, (tuple, list)):
        return [int(item) for item in value] if all(hasattr(item, "__index__") for item in value) else None
    return int(value) if hasattr(value, "__index__") else value if isinstance(value, str) else None


if __name__ == "__main__":
    main(*sys.argv[1:])
