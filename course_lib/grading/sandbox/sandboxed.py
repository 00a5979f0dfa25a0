"""The engine of grading: what a check asks for is done in a sandbox, and numbers come back.

Neither expected values nor seed, spec or verdict go in. One sandbox serves the kernels of a submission; each Python function
gets one of its own, which knows nothing of the others. One that hangs or breaks is ended, and the next part starts anew.
"""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from course_lib import simt
from course_lib.errors import CourseError
from course_lib.grading.sandbox import bubblewrap, replies, wire
from course_lib.grading.sandbox.process import SandboxProcess, TookTooLong
from course_lib.toolchain import Compiled
from course_lib.toolchain.code_stand_in import CodeStandIn
from course_lib.toolchain.nvrtc import nvrtc_version
from course_lib.toolchain.request import with_features

SECONDS = 60                 # for one check of one part; a usual one takes about one
ANSWER_SECONDS = 10          # for one call of a Python function, and for its definition
MOST_LINE = 10_000           # bytes that a call of a function may answer with
OPTIONS = ("racecheck", "max_steps", "trace", "defines", "dynamic_shared", "constants", "warp_order", "strict_barriers")


class Sandboxed:
    """Compile, launch and call as `course_lib.grading.judge.engine.Here` does, in bubblewrap.

    Parameters
    ----------
    cache
        Folder of translations that many launches share; read only, unless `fills_cache`, which is for the instructor's own kernels.
    seconds
        Limit from one `begin` to the next.
    unsafe
        Do without bubblewrap, with the limits alone.

    Raises
    ------
    NoSandbox
        From each method, when the sandbox does not start: that is nobody's fault but the machine's.
    Ended
        From each method, when it ends before its time or says what no honest one does.

    >>> with Sandboxed(unsafe=True) as engine:
    ...     print(list(engine.call("def f(x): return x / 4", "f", [(1,), (None,)])))
    [0.25, Raised("unsupported operand type(s) for /: 'NoneType' and 'int'")]
    """

    def __init__(self, *, cache: str | Path | None = None, fills_cache: bool = False, seconds: float = SECONDS, unsafe: bool = False):
        bubblewrap.demand(unsafe)
        self.cache, self.fills_cache, self.seconds, self.unsafe = cache, fills_cache, seconds, unsafe
        self.deadline = 0.0
        self.sandbox: SandboxProcess | None = None           # for kernels
        self.begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> None:
        """Start the clock for a part."""
        self.deadline = time.monotonic() + self.seconds

    def close(self) -> None:
        """End the sandbox for kernels."""
        if self.sandbox:
            self.sandbox.close()
        self.sandbox = None

    def compile(self, source: str, name: str) -> Compiled:
        """Compile CUDA C; return a `toolchain.Compiled`, whose machine code stays in the sandbox until somebody looks into it.

        Raises
        ------
        CompileError, CourseError
        """
        def read(told):
            ptx, log, ptxas_log = (replies.words(told.get(key), 1 << 24) for key in ("ptx", "log", "ptxas_log"))
            return Compiled(name, with_features("sm_90", source), source, ptx, self._code(source, name), log, ptxas_log, nvrtc_version())

        return self._ask("compile", {"source": source, "name": name}, read)

    def launch(self, source: str, entry: str, grid: int | tuple[int, ...], block: int | tuple[int, ...], args: Sequence,
               **options: Any) -> simt.Report:
        """Run a kernel on the simulator, as `simt.launch`; the writable arrays in `args` are changed in place.

        Raises
        ------
        SimtError
        """
        unknown = options.keys() - set(OPTIONS)
        if unknown:
            raise TypeError(f"the sandbox does not launch with {', '.join(sorted(unknown))}")
        given = {"source": source, "entry": entry, "grid": grid, "block": block, "args": list(args), "options": options}
        code = self._code(source, "kernel.cu")
        return self._ask("launch", given, lambda told: replies.report(told, entry, code), wire.MOST_TRACE if options.get("trace") else None)

    def call(self, answer: str, name: str, arguments: Sequence[tuple]) -> Iterator[object]:
        """Call a function, which a Python text defines, once for each tuple of arguments, in a fresh process.

        Yields
        ------
        number, tuple of numbers, Shown or Exception
            What each call returned, or raised; `Ended` once when the process is no more.
        """
        task = {"text": answer, "name": name, "arguments": [list(given) for given in arguments]}
        sandbox = SandboxProcess(*bubblewrap.for_answers(self.unsafe), processes=False)

        def first(deadline):
            sandbox.send(json.dumps(task, default=lambda number: number.item()).encode(), deadline)
            sandbox.close_input()
            return sandbox.line(MOST_LINE, deadline)

        try:
            sandbox.expect_start(first)
            for _ in arguments:
                line = sandbox.line(MOST_LINE, self._soon())
                if "missing" in line:
                    return
                yield replies.returned(line)
                if "last" in line:           # the text itself fails
                    return
        except replies.Ended as error:
            yield error
        finally:
            sandbox.close()

    def _soon(self):
        return min(time.monotonic() + ANSWER_SECONDS, self.deadline)

    def _code(self, source, name):
        def fetch(what, read):
            try:
                return self._ask(what, {"source": source, "name": name}, read)
            except CourseError as error:
                raise replies.Ended(str(error)) from None

        return Distant((uuid.uuid4().hex, name), fetch=fetch)

    def _ask(self, what, given, read, most=None):
        """Have something done; return what `read` makes of the answer. What came back for arrays is in those that were given."""
        arrays: list[np.ndarray] = []
        most, name = most or wire.MOST_TEXT, given.get("name", "kernel.cu")
        given = wire.encoded(given, arrays)
        request = {"do": what, "given": given, "arrays": wire.shapes(arrays), "most": most}
        writable = [array for array in arrays if array.flags.writeable]
        try:
            sandbox = self._open()
            sandbox.send(wire.pack(request, b"".join(array.tobytes() for array in arrays)), self.deadline)
            told, raw = sandbox.message(sum(array.nbytes for array in writable), most, self.deadline)
            if "error" in told:
                raise replies.error(told["error"], name)
            replies.validated(raw, len(raw) == sum(array.nbytes for array in writable))
            found = read(told)
        except MemoryError:
            self.close()
            raise
        except TookTooLong:
            self.close()
            raise TookTooLong(f"Compiling and running this kernel takes longer than the {self.seconds:g} s that grading allows "
                              "for a part.") from None
        except replies.Ended as error:
            self.close()
            raise replies.Ended(f"This kernel cannot be checked: {error}.") from None
        for array in writable:
            array[...] = np.frombuffer(raw, array.dtype, array.size).reshape(array.shape)
            raw = raw[array.nbytes:]
        return found

    def _open(self):
        """Return the sandbox for kernels, a new one when there is none."""
        if self.sandbox is None:
            sandbox = SandboxProcess(*bubblewrap.for_kernels(self.cache, self.fills_cache, self.unsafe), processes=True)
            sandbox.expect_start(lambda deadline: sandbox.message(0, wire.MOST_TEXT, deadline)[0])
            self.sandbox = sandbox
            self.begin()
        return self.sandbox


@dataclass(frozen=True)
class Distant(CodeStandIn):
    """Stands in for machine code that is in the sandbox: `sass`, `loops` and `resources` have it looked into there."""

    key: tuple[str, str]
    fetch: Callable[[str, Callable[[dict], Any]], Any] = field(compare=False, repr=False)

    def resources(self) -> dict[str, dict]:
        """Return kernel -> the fields of its `Resources`."""
        return self.fetch("resources", replies.resources)

    def sass(self) -> dict[str, str]:
        """Return kernel -> its instructions as `sass.written` writes them."""
        return self.fetch("sass", replies.machine_code)
