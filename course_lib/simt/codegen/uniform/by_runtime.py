"""Matrix instructions and asynchronous copies in uniform code: the runtime carries them out on the register file, for all lanes."""

from course_lib.simt.codegen.llvm import bytes_constant
from course_lib.simt.codegen.reference import access
from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.isa.tensor import map_bytes
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi


class ByRuntime:
    """Emits calls of the runtime; `constants` are the definitions of the records that they pass."""

    def __init__(self, context: Context, registers: Registers) -> None:
        self.context, self.code, self.registers = context, context.code, registers
        self.constants: dict[tuple[str, object], str] = {}

    def emit(self, ins: Instruction, number: int) -> None:
        """Have the runtime carry out an instruction, which reads and writes the register file."""
        code, found = self.code, self.context.program.tensors[number]
        for register in ins.sources:
            self.registers.spill(register.name)
        given = [self.context.record(number)] if found.function == "access_tile" else []
        given.append(self._constant("t", number, bytes(found.record)))
        given += [self._constant("m", part, map_bytes(part)) for part in found.maps]
        if found.function == "copy_async":
            given.append(code.op(f"getelementptr i8, ptr %sites, i64 {access.site(self.context.program, number)}"))
        failed = code.op(f"call i32 %f.{found.function}(ptr %w, {', '.join(f'ptr {g}' for g in given)})")
        bad, good = code.fresh("failed"), code.fresh("good")
        code.do(f"br i1 {code.op(f'icmp ne i32 {failed}, 0')}, label %{bad}, label %{good}")
        code.label(bad)
        code.do(f"ret i32 {abi.FAILED}")
        code.label(good)
        for register in ins.destinations:
            self.registers.values.pop(register.name, None)
            self.registers.dirty.discard(register.name)

    def _constant(self, letter, key, raw):
        """Return the name of a constant with these bytes; the same key names the same one."""
        if (letter, key) not in self.constants:
            self.constants[letter, key] = bytes_constant(f"@{letter}{len(self.constants)}", raw)
        return self.constants[letter, key].split(" ")[0]
