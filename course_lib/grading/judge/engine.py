"""What a check needs from outside: compile a text, launch a kernel, call a function. Here in this process."""

from course_lib import simt
from course_lib.toolchain import compile_cuda


class Here:
    """Run answers in this process: for a student's own notebook."""

    def compile(self, source, name):
        """Compile CUDA C; return a `toolchain.Compiled`.

        Raises
        ------
        CompileError, CourseError
        """
        return compile_cuda(source, name=name)

    def launch(self, source, entry, grid, block, args, **options):
        """Run a kernel on the simulator, as `simt.launch`; the arrays in `args` are changed in place."""
        return simt.launch(source, entry, grid, block, args, **options)

    def call(self, answer, name, arguments):
        """Call a function once for each tuple of arguments.

        Parameters
        ----------
        answer : callable or str
            The function, or Python text that defines it.
        name : str
            What the text calls it.
        arguments : sequence of tuple

        Yields
        ------
        object or Exception
            What each call returned, or raised; nothing when there is no such function.
        """
        if isinstance(answer, str):
            namespace = {"__name__": "answer"}
            try:
                exec(compile(answer, "<answer>", "exec"), namespace)
            except Exception as error:
                yield error
                return
            answer = namespace.get(name)
        if not callable(answer):
            return
        for given in arguments:
            try:
                yield answer(*given)
            except Exception as error:
                yield error
