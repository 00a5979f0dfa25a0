"""Where uniform code gives up: all lanes go on in reference code, at the beginning of a block."""

from course_lib.simt.codegen.uniform.context import Context
from course_lib.simt.codegen.uniform.registers import Registers
from course_lib.simt.runtime import abi


class Exits:
    """Emits the exits from uniform code."""

    def __init__(self, context: Context, registers: Registers) -> None:
        self.context, self.registers = context, registers

    def leave_unless(self, ok: str) -> None:
        """Go on in reference code at the start of the current block, unless `ok`."""
        context, code = self.context, self.context.code
        stay, leave = code.fresh("stay"), code.fresh("leave")
        code.do(f"br i1 {ok}, label %{stay}, label %{leave}")
        code.label(leave)
        if context.active is not None:
            code.do(f"br label %{context.region_exit}.{context.current.index}")
        else:
            self.registers.save(context.current.live_in, final=False)
            context.bump("deopts", 2 * context.current.index, "1")
            self.depart(context.current.index)
        code.label(stay)

    def depart(self, block: int, status: int = abi.DIVERGED) -> None:
        """Return to the runtime; all lanes go on at `block` in reference code."""
        self.context.call("branch", "ptr %w", f"i32 {block}", f"i32 {block}", f"i32 {block}", "i32 -1")
        self.context.code.do(f"ret i32 {status}")

    def take_steps(self, count: int) -> None:
        """Take instructions off the warp's budget; reference code reports the end of it."""
        code = self.context.code
        left = code.op(f"sub i64 {code.op('load i64, ptr %p.steps')}, {count}")
        self.leave_unless(code.op(f"icmp sge i64 {left}, 0"))
        code.do(f"store i64 {left}, ptr %p.steps")
