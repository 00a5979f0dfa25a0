"""`RawKernel`, as CuPy has it: a text, the name of a kernel in it, and a call that launches it."""

import math
import operator
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from course_lib import gpu, simt, toolchain
from course_lib.arch import DEFAULT_DEVICE, DEVICES
from course_lib.cp import arrays, launches
from course_lib.cp.arguments import device_arguments, to_fill
from course_lib.cp.launches import Launch
from course_lib.errors import CourseError
from course_lib.kernels import UserKernel
from course_lib.kernels.user import kernels_in
from course_lib.model.occupancy import occupancy
from course_lib.run import choose_backend
from course_lib.run.launch import observed, simulated_arch
from course_lib.run.types import Extent
from course_lib.toolchain.compiled import Compiled
from course_lib.unwritten import Unwritten, is_unwritten, missing

MOST_SIMULATED = 1 << 20             # threads of a launch beside which the simulator runs, on a machine with a GPU
ALWAYS = ("-std=c++17", "--std=c++17", "-lineinfo", "--generate-line-info")    # the course's compiler has these on
_NOTHING: MappingProxyType = MappingProxyType({})


class RawKernel:
    """A kernel that the reader launches: `RawKernel(source, "name")(grid, block, args)`. It is compiled by the first call, as CuPy's.

    Parameters
    ----------
    code
        CUDA C text, as `%%cuda NAME` keeps it under NAME.
    name
        Which `extern "C" __global__` function of it.
    options
        For the compiler, a tuple such as ("-DBM=16",).
    others
        CuPy's further options are refused by name.

    Raises
    ------
    CourseError
        When one of these is of the wrong kind.

    Source: CuPy's documentation, "cupy.RawKernel" and "User-Defined Kernels"; only the arguments are checked, which CuPy does not do.

    >>> x = arrays.zeros(4, np.float32)
    >>> RawKernel('extern "C" __global__ void one(float* x) { x[threadIdx.x] = 1.0f; }', "one")((1,), (4,), (x,))
    >>> x
    array([1., 1., 1., 1.], dtype=float32)
    """

    def __init__(self, code: str | Unwritten, name: str, options: tuple[str, ...] = (), **others: Any):
        if others:
            raise CourseError(f"RawKernel takes code, name and options here; {', '.join(others)} of CuPy's are not covered")
        _check_kinds(code, name, options)
        self.code, self.name, self.options = code, name, options

    def __repr__(self) -> str:
        return f"<RawKernel {self.name}>"

    def __call__(self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], *, shared_mem: int = 0) -> None:
        """Launch once and wait for the end; the arrays among the arguments are changed in place.

        Parameters
        ----------
        grid, block
            Tuples of one to three: blocks along x, y, z, and threads per block.
        args
            A tuple with one `cp` array or NumPy scalar per parameter of the kernel.
        shared_mem
            Bytes of dynamic shared memory per block.

        Raises
        ------
        CourseError
            For arguments that the kernel cannot read, and for what goes wrong while it runs, with its line.
        NotWritten
            When the text is not there yet.
        """
        launches.note(f"the latest launch, of {self.name}, did not end well: there is nothing to tell about it")
        code = self.code
        if isinstance(code, Unwritten):
            launches.note(code)
            raise missing(code, to_fill(code, self.name, args))
        blocks, threads = size(grid, "grid"), size(block, "block")
        self._check_name(code)
        given = device_arguments(code, self.name, args)
        self._carry_out(code, blocks, threads, given, shared_mem)

    def _check_name(self, code: str) -> None:
        known = kernels_in(code)
        if known and self.name not in known:
            raise CourseError(f"the text holds no kernel {self.name!r}, but {' and '.join(known)}: write cp.RawKernel(…, {known[0]!r})",
                              name=self.name)

    def _carry_out(self, code: str, grid: Extent, block: Extent, given: list[Any], shared_mem: int) -> None:
        """Run on the simulator, which finds what is wrong, and then on the GPU where there is one."""
        where = choose_backend()
        arch = gpu.probe().arch if where == "gpu" else simulated_arch()
        options = tuple(option for option in self.options if option not in ALWAYS)
        compiled = toolchain.compile_cuda(code, name=self.name, arch=arch, options=options)
        if self.name not in toolchain.resources(compiled):
            raise CourseError(f"the compiler made no kernel {self.name!r}. Declare it extern \"C\": without that, C++ writes the types of "
                              "the arguments into its name", name=self.name)
        report = None
        if where == "sim" or math.prod(grid) * math.prod(block) <= MOST_SIMULATED:
            host = [a.get() if gpu.is_cupy(a) else a._host if isinstance(a, arrays.ndarray) else a for a in given]
            report = simt.launch(code, self.name, grid, block, host, dynamic_shared=shared_mem, arch=arch, options=options)
            if report.output:
                print(report.output, end="")
        if where == "gpu":
            gpu.launch(compiled, self.name, grid, block, given, dynamic_shared=shared_mem)
        launches.note(self._launch(code, grid, block, shared_mem, where, compiled, report))

    def _launch(self, code: str, grid: Extent, block: Extent, shared_mem: int, where: str, compiled: Compiled,
                report: simt.Report | None) -> Launch:
        found = toolchain.resources(compiled)[self.name]
        status = gpu.probe() if where == "gpu" else None
        device = next((d for d in DEVICES.values() if status and d.cc == status.cc), DEFAULT_DEVICE)
        fits = occupancy(device, math.prod(block), found.registers, found.static_shared_bytes + shared_mem)
        kernel = UserKernel(name=self.name, path=None, entry=self.name,  # type: ignore[arg-type]    # a text has no file
                            idea="your own kernel", lesson="", parameters=(), rules=(), passes=(),
                            block_of=lambda p: block, grid_of=lambda *p: grid, text=code)
        return Launch(kernel=kernel, parameters={}, grid=grid, block=block, backend=where,
                      label=f"run on {status.name}" if status else "simulated", time=None, resources=found, occupancy=fits,
                      device=device.name, dynamic_shared=shared_mem, **observed(report, racecheck=False))


def _check_kinds(code: Any, name: Any, options: Any) -> None:
    """Refuse what is no text of a kernel, no name or no options."""
    if not is_unwritten(code) and not isinstance(code, str):
        raise CourseError(f"RawKernel takes the kernel's text, not a {type(code).__name__}: give what %%cuda NAME keeps as NAME")
    if not isinstance(name, str):
        raise CourseError(f'RawKernel takes the name of the kernel as text: cp.RawKernel(mine, "mine"), not {type(name).__name__}')
    if not isinstance(options, tuple) or not all(isinstance(option, str) for option in options):
        raise CourseError(f'options is {options!r}; CuPy takes a tuple of texts: options=("-DBM=16",)', options=options)


def size(given: Any, name: str) -> tuple[int, int, int]:
    """Return grid or block along x, y, z.

    >>> size((2, 3), "grid")
    (2, 3, 1)
    """
    if not isinstance(given, tuple):
        shown: Any = "(16, 16)"
        if isinstance(given, int | float | np.generic | list):
            shown = tuple(given) if isinstance(given, list) else (given,)
        raise CourseError(f"{name} is {given!r}; CuPy takes a tuple: write {shown}", given=given)
    try:
        numbers = tuple(operator.index(n) for n in given)
    except TypeError:
        raise CourseError(f"{name} is {given!r}; it needs whole numbers: divide with // and not with /, as in (N + 15) // 16",
                          given=given) from None
    if not 1 <= len(numbers) <= 3 or min(numbers) < 1:
        raise CourseError(f"{name} is {given!r}; it needs one to three numbers, each at least 1: along x, y, z", given=given)
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z
