"""What a check needs from outside: compile a text, launch a kernel, call a function. Here in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from course_lib import simt
from course_lib.toolchain import Compiled, compile_cuda

Shape = int | tuple[int, ...]


class Engine(Protocol):
    """What `check` runs answers with: `Here`, or `course_lib.grading.sandbox.sandboxed.Sandboxed`."""

    def compile(self, source: str, name: str) -> Compiled:
        """Compile CUDA C.

        Raises
        ------
        CompileError, CourseError
        """

    def launch(self, source: str, entry: str, grid: Shape, block: Shape, args: Sequence, **options: Any) -> simt.Report:
        """Run a kernel on the simulator, as `simt.launch`; the writable arrays in `args` are changed in place."""

    def call(self, answer: Any, name: str, arguments: Sequence[tuple]) -> Iterator[object]:
        """Call a function once for each tuple of arguments.

        Parameters
        ----------
        answer
            Python text that defines the function; for `Here` also the function itself.
        name
            What the text calls it.

        Yields
        ------
        object or Exception
            What each call returned, or raised; nothing when there is no such function.
        """


class Here:
    """Run answers in this process: for a student's own notebook. The methods are those of `Engine`."""

    def compile(self, source: str, name: str) -> Compiled:
        """Compile CUDA C."""
        return compile_cuda(source, name=name)

    def launch(self, source: str, entry: str, grid: Shape, block: Shape, args: Sequence, **options: Any) -> simt.Report:
        """Run a kernel on the simulator."""
        return simt.launch(source, entry, grid, block, args, **options)

    def call(self, answer: str | Callable, name: str, arguments: Sequence[tuple]) -> Iterator[object]:
        """Call a function, given itself or by the text that defines it, once for each tuple of arguments."""
        if isinstance(answer, str):
            namespace: dict[str, Any] = {"__name__": "answer"}
            try:
                exec(compile(answer, "<answer>", "exec"), namespace)
            except Exception as error:
                yield error
                return
            function = namespace.get(name)
        else:
            function = answer
        if not callable(function):
            return
        for given in arguments:
            try:
                yield function(*given)
            except Exception as error:
                yield error
