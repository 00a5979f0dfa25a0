"""The arguments of a launch: checked against the kernel's parameters and laid out in constant and device memory."""

import ctypes
import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from course_lib.simt.errors import LaunchError
from course_lib.simt.host.build import LoadedKernel
from course_lib.simt.host.memory import DeviceMemory, aligned, byte_bounds
from course_lib.simt.report import DeviceArray
from course_lib.simt.runtime import abi

MOST_VARIABLES = 1 << 30


def listed(args: Any) -> list[Any]:
    """Return the arguments of a launch as a list."""
    if isinstance(args, (str, bytes, dict, np.ndarray)) or not isinstance(args, Iterable):
        raise LaunchError(f"args must be a list with one NumPy array or scalar for each parameter of the kernel, not {reprlib.repr(args)}.")
    return list(args)


class Arguments:
    """Parameters and variables of one launch.

    `constants`: the constant memory, parameters first. `variables`: the `__device__` variables. `memory`: the copies of
    the array arguments. `arrays`: their DeviceArray descriptions.
    """

    def __init__(self, kernel: LoadedKernel, args: Iterable[Any], values: Mapping[str, Any]) -> None:
        self.kernel, self.program = kernel, kernel.program
        given = [np.asarray(a) if isinstance(a, np.ndarray) else a for a in listed(args)]
        self._refuse_types(given)
        self.memory = DeviceMemory([a for a in given if isinstance(a, np.ndarray)])
        self.arrays: list[DeviceArray] = []
        self.constants = self._fill_constants(given)
        if not isinstance(values, Mapping):
            raise LaunchError(f'constants must map names to values, like {{"weights": array}}, not {reprlib.repr(values)}.')
        self.variables = self._fill_variables(self.constants, values)

    def _refuse_types(self, args):
        """Refuse arguments that are too many, too few, or of a type that no kernel can take."""
        if len(args) != len(self.program.params):
            raise LaunchError(f"{self.kernel.name} takes {len(self.program.params)} arguments, {len(args)} were given.")
        for i, arg in enumerate(args):
            kind = getattr(arg, "dtype", None)
            if isinstance(kind, np.dtype) and (kind.hasobject or kind.kind in "UMm"):
                raise LaunchError(f"Argument {i} ({self.name(i)}) holds {kind}; a kernel takes numbers and structures of them.")
            if isinstance(kind, np.dtype) and not kind.isnative:
                raise LaunchError(f"Argument {i} ({self.name(i)}) has the other byte order ({kind}); convert it: "
                                  "x.astype(x.dtype.newbyteorder(\"=\")).")

    def name(self, i: int) -> str:
        """Return what the source calls parameter `i`, or what PTX calls it."""
        names = self.kernel.parameter_names
        return names[i] if i < len(names) else self.program.params[i][0]

    def _fill_constants(self, args):
        """Constant memory: the parameters first, then the `__constant__` variables."""
        params = self.program.params
        data = aligned(max(self.program.constant_bytes, 8))
        data[:] = 0
        for i, (arg, (_, offset, nbytes, kind)) in enumerate(zip(args, params)):
            raw = self._parameter_bytes(arg, self.name(i), nbytes, i, kind)
            data[offset:offset + nbytes] = np.frombuffer(raw, np.uint8)
        return data

    def _parameter_bytes(self, arg, name, nbytes, i, kind):
        """Return the bytes of argument `i` as the kernel finds them."""
        if isinstance(arg, np.ndarray):
            if nbytes != 8:
                raise LaunchError(f"Argument {i} ({name}) is a {nbytes}-byte value, not a pointer; an array was given.")
            described = self.memory.describe(arg, name)
            self.arrays.append(described)
            return np.uint64(described.address + arg.ctypes.data - byte_bounds(arg)[0]).tobytes()
        if not isinstance(arg, (np.generic, ctypes.Structure)):
            raise LaunchError(f"Argument {i} ({name}) is {reprlib.repr(arg)}, a Python {type(arg).__name__}; give a NumPy scalar such as "
                              "np.int32(…) or np.float32(…), or a NumPy array.")
        raw = bytes(arg) if isinstance(arg, ctypes.Structure) else arg.tobytes()
        if len(raw) != nbytes:
            raise LaunchError(f"Argument {i} ({name}) takes {nbytes} bytes, {type(arg).__name__} has {len(raw)}.")
        if isinstance(arg, np.generic) and (kind[0] == "f" and arg.dtype.kind in "iub" or kind[0] in "us" and arg.dtype.kind == "f"):
            wanted, right = ("a floating-point number", "float") if kind[0] == "f" else ("an integer", "int")
            raise LaunchError(f"Argument {i} ({name}) is {wanted} in the kernel, and {arg!r} was given: write np.{right}{8 * nbytes}(…).")
        return raw

    def _fill_variables(self, data, values):
        """Write initial and given values of variables; return the memory of the `__device__` ones."""
        size = max((at + v.nbytes for space, at, v in self.program.constants.values() if space == "global"), default=0)
        if size > MOST_VARIABLES:
            raise LaunchError(f"The source's __device__ variables take {size} bytes; the simulator allows {MOST_VARIABLES}.")
        variables = aligned(size)
        variables[:] = 0
        for name, (space, at, variable) in self.program.constants.items():
            target = data if space == "const" else variables
            init = self._initial_bytes(variable)
            target[at:at + len(init)] = np.frombuffer(init, np.uint8)
            if name in values:
                raw = self._value_bytes(name, values[name])
                if len(raw) > variable.nbytes:
                    raise LaunchError(f"{name} holds {variable.nbytes} bytes, {len(raw)} were given.")
                target[at:at + len(raw)] = np.frombuffer(raw, np.uint8)
        unknown = set(values) - set(self.program.constants)
        if unknown:
            raise LaunchError(f"The source has no variable named {sorted(unknown)[0]!r} (it has: "
                              f"{', '.join(self.program.constants) or 'none'}).")
        return variables

    def _value_bytes(self, name, value):
        value = np.ascontiguousarray(value)
        if value.dtype.hasobject or value.dtype.kind in "UMm" or not value.dtype.isnative:
            raise LaunchError(f"constants: {name} is given {value.dtype}; give numbers in an array of the variable's own type.")
        return value.tobytes()

    def _initial_bytes(self, variable):
        """Return a variable's initial value, addresses of other variables filled in."""
        init = bytearray(variable.init or b"")
        for offset, name, addend, generic, nbytes in variable.pointers:
            if name not in self.program.addresses:
                raise LaunchError(f"The initial value of {variable.name} names {name!r}, which is no variable or function of the source.")
            space, at = self.program.addresses[name]
            address = at + addend + (abi.CONST_WINDOW if space == "const" and generic else 0)
            init[offset:offset + nbytes] = (address & ((1 << (8 * nbytes)) - 1)).to_bytes(nbytes, "little")
        return bytes(init)
