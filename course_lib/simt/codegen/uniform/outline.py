"""Instructions that take many lines of LLVM's text are functions of their own in uniform code, written once for each form.

A half-precision multiply-add takes a hundred lines. A kernel that unrolls thousands of them would take minutes to compile, and LLVM's quick
code generator gives every value of a function a place of its own in the function's frame: 4 KB for each multiply-add.
"""

from collections.abc import Sequence

from course_lib.simt.codegen.llvm import Code
from course_lib.simt.isa.operations import OPS, compute
from course_lib.simt.ptx.ir import Instruction, Vec

MOST_LINES = 24  # of an instruction that is written where it stands; a call takes four to ten


class Outline:
    """Emits arithmetic on all lanes, in place or as a call; `functions` are the texts of what is called."""

    def __init__(self, vector: Code) -> None:
        self.vector = vector
        self.functions: list[str] = []
        self.names: dict[tuple, str | None] = {}

    def compute(self, ins: Instruction, sources: Sequence[str]) -> Sequence[str]:
        """Emit an instruction whose sources are vectors; return its results."""
        results, wanted = OPS[ins.opcode[0]][0](ins)
        literals = tuple(v if t == "imm" else None for v, t in zip(sources, wanted, strict=False))
        key = (ins.opcode, tuple(results), tuple(wanted), literals, tuple(isinstance(o, Vec) for o in ins.operands))
        if key not in self.names:
            self.names[key] = self._function(ins, results, wanted, literals)
        name = self.names[key]
        if name is None:
            return compute(self.vector, ins, sources)
        given = ", ".join(f"{self.vector.ty(t)} {v}" for v, t in zip(sources, wanted, strict=False) if t != "imm")
        found = self.vector.op(f"call {self._returned(results)} @{name}({given})")
        if len(results) == 1:
            return [found]
        return [self.vector.op(f"extractvalue {self._returned(results)} {found}, {i}") for i in range(len(results))]

    def _returned(self, results):
        types = [self.vector.ty(t) for t in results]
        return types[0] if len(types) == 1 else "{" + ", ".join(types) + "}"

    def _function(self, ins, results, wanted, literals):
        """Write the function for a form; return its name, or None for one that is short."""
        code = Code()
        names = [f"%s{i}" if literal is None else literal for i, literal in enumerate(literals)]
        values = compute(code, ins, names)
        if len(code.lines) <= MOST_LINES or not results:
            return None
        returned, whole = self._returned(results), values[0]
        if len(results) > 1:
            whole = "poison"
            for i, (value, t) in enumerate(zip(values, results, strict=True)):
                whole = code.op(f"insertvalue {returned} {whole}, {code.ty(t)} {value}, {i}")
        arguments = ", ".join(f"{code.ty(t)} {n}" for n, t in zip(names, wanted, strict=False) if t != "imm")
        name = f"o{len(self.functions)}"
        head = f"define internal {returned} @{name}({arguments}) noinline nounwind {{"
        self.functions.append("\n".join([head, *code.lines, f"  ret {returned} {whole}", "}"]))
        return name
