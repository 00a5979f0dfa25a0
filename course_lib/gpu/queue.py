"""Work on arrays that stay on the GPU: launches, cuBLAS's products and copies, one after another in one stream."""

import ctypes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.gpu import library
from course_lib.gpu.launch import CUDA_ERRORS, Size, explain, prepare_function, triple

if TYPE_CHECKING:
    from course_lib.toolchain import Compiled


class Queue:
    """A stream of work. Enter it (`with queue:`) before anything is carried out.

    What is bound once can be called again and again, and costs little then: nothing is copied, nobody waits.
    """

    def __init__(self) -> None:
        import cupy

        self.stream = cupy.cuda.Stream(non_blocking=True)

    def __enter__(self) -> "Queue":
        """Make this stream the current one, behind all that was put on the one before."""
        import cupy

        cupy.cuda.get_current_stream().synchronize()
        self.stream.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """Wait for the work, and go back to the stream before."""
        try:
            if error[0] is None:
                self.wait()
        finally:
            self.stream.__exit__(*error)

    def bind(self, compiled: "Compiled | bytes", entry: str, grid: Size, block: Size, args: Sequence[Any]) -> Callable[[], None]:
        """Return the call that launches a kernel.

        Parameters
        ----------
        args
            CuPy arrays and NumPy scalars.
        """
        function, grid, block, args = prepare_function(compiled, entry, 0), triple(grid), triple(block), tuple(args)
        return lambda: function(grid, block, args)

    def bind_library(self, A: Any, B: Any, C: Any, alpha: float, beta: float, transposed: tuple[bool, bool]) -> Callable[[], None]:
        """Return the call of cuBLAS that makes C = alpha op(A) op(B) + beta C, of float32 CuPy arrays without padding."""
        return library.bind_product(A, B, C, alpha, beta, transposed, ctypes.c_void_p(self.stream.ptr))

    def copy(self, target: Any, source: Any) -> None:
        """Overwrite a CuPy array with a CuPy or NumPy array of its type and shape."""
        if isinstance(source, np.ndarray):
            target.set(np.ascontiguousarray(source, target.dtype))
            self.wait()                            # the copy here may be a new array, which must live as long
        else:
            target.data.copy_from_device_async(source.data, source.nbytes, self.stream)

    def wait(self) -> None:
        """Return when everything that was put on the stream is done; errors of kernels show here."""
        try:
            self.stream.synchronize()
        except CUDA_ERRORS as error:
            raise explain(error, "a kernel of the training step") from None

    def record(self, work: Callable[[], None]) -> Callable[[], None]:
        """Record the work that a callable puts on this stream into a CUDA graph, and return the call that replays it.

        The work is not carried out while it is recorded; it must have been carried out once before.
        """
        self.wait()
        try:
            self.stream.begin_capture()
            try:
                work()
            finally:
                graph = self.stream.end_capture()
        except CUDA_ERRORS as error:
            raise explain(error, "a training step as a graph") from None
        return graph.launch
