"""What the parts of the uniform code generator share while they write the code of one kernel."""

from typing import Any

from course_lib.simt.codegen.llvm import Code, bytes_constant
from course_lib.simt.codegen.uniform.affine import KindAnalysis
from course_lib.simt.passes.cfg import Block
from course_lib.simt.passes.pipeline import Program

MemoryKey = tuple[Any, ...]    # ("u", register), ("lanes" or "pattern", root, bits), ("mask", block) or ("window", access)


class Context:
    """The text so far, the analysis that it relies on, the layout of a warp's uniform memory, and where in the program we are.

    `code` writes scalars and spelled-out vectors, `vector` continues the same text with 32 lanes per value. `static` tells what each
    execution of an access adds to the counters, (wavefronts, phases), where that is known beforehand. `current` is the block that is
    being written. Inside a region (regions.py) `active` names the mask of the lanes that run, and labels that begin with
    `region_exit` lead to reference code; outside both are None.
    """

    current: Block

    def __init__(self, program: Program, block: tuple[int, int, int]) -> None:
        self.program, self.kinds = program, KindAnalysis(program, block)
        self.code = Code(lanes=None)
        self.vector = Code(shared=self.code)
        self.nbytes = 0
        self.offsets: dict[MemoryKey, int] = {}
        self.static: dict[int, tuple[int, int]] = {}
        self.records: dict[int, str] = {}
        self.active: str | None = None
        self.region_exit: str | None = None

    def allocate(self, key: MemoryKey, nbytes: int, align: int = 8) -> int:
        """Return the offset of something that lies in the uniform memory of a warp; the same key names the same bytes."""
        if key not in self.offsets:
            self.nbytes = -(-self.nbytes // align) * align
            self.offsets[key] = self.nbytes
            self.nbytes += nbytes
        return self.offsets[key]

    def pointer(self, offset: int) -> str:
        """Return a pointer into the uniform memory of the warp."""
        return self.code.op(f"getelementptr i8, ptr %uniform, i64 {offset}")

    def slot(self, name: str) -> tuple[str, str]:
        """Return (pointer into the register file, type) of a register."""
        offset, t = self.program.slots[name]
        return self.code.op(f"getelementptr i8, ptr %registers, i64 {offset}"), t

    def bump(self, array: str, index: int, amount: str) -> None:
        """Add to one of the worker's counters, 8 bytes each."""
        place = self.code.op(f"getelementptr i64, ptr %{array}, i64 {index}")
        before = self.code.op(f"load i64, ptr {place}")
        self.code.do(f"store i64 {self.code.op(f'add i64 {before}, {amount}')}, ptr {place}")

    def call(self, function: str, *arguments: str) -> None:
        """Call a function of the runtime that returns nothing, marked as rarely needed."""
        self.code.do(f"call void %f.{function}({', '.join(arguments)}) cold")

    def ask(self, function: str, *arguments: str) -> str:
        """Call a function of the runtime that returns an i32, marked as rarely needed; return the value's name."""
        return self.code.op(f"call i32 %f.{function}({', '.join(arguments)}) cold")

    def record(self, number: int) -> str:
        """Return the name of the constant that describes an access to the runtime."""
        if number not in self.records:
            self.records[number] = bytes_constant(f"@a{number}", bytes(self.program.accesses[number]))
        return f"@a{number}"
