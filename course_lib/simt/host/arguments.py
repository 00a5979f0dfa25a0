"""The arguments of a launch: checked against the kernel's parameters and laid out in constant and device memory."""

import ctypes
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simt.errors import LaunchError
from course_lib.simt.host.build import LoadedKernel
from course_lib.simt.host.images import Image, Surface, Texture
from course_lib.simt.host.memory import DeviceMemory, aligned, byte_bounds
from course_lib.simt.report import DeviceArray
from course_lib.simt.runtime import abi
from course_lib.tensor_maps import MAP_ALIGNMENT, MAP_BYTES, TensorMap

MOST_VARIABLES = 1 << 30


def listed(args: Any) -> list[Any]:
    """Return the arguments of a launch as a list."""
    if isinstance(args, (str, bytes, dict, np.ndarray)) or not isinstance(args, Iterable):
        raise LaunchError(f"args must be a list with one NumPy array or scalar for each parameter of the kernel, not {reprlib.repr(args)}.")
    return list(args)


def plain(arg: Any) -> Any:
    """Return an argument without NumPy's own kinds of array; a tuple stays one."""
    if isinstance(arg, tuple):
        return tuple(map(plain, arg))
    return np.asarray(arg) if isinstance(arg, np.ndarray) else arg


def leaves(args: Iterable[Any]) -> Iterator[Any]:
    """Yield the arguments, and of structures their members."""
    for arg in args:
        if isinstance(arg, tuple):
            yield from leaves(arg)
        else:
            yield arg


def described(given: TensorMap) -> NDArray[Any]:
    """Return the NumPy array of a tensor map; of a GPU's array that the simulator stands in for, its NumPy array."""
    array = getattr(given.array, "_host", given.array)
    if not isinstance(array, np.ndarray):
        raise LaunchError(f"On the simulator a TensorMap is made from a NumPy array, not from {reprlib.repr(array)}.")
    return np.asarray(array)


class Arguments:
    """Parameters and variables of one launch.

    `constants`: the constant memory, parameters first. `variables`: the `__device__` variables. `memory`: the copies of
    the array arguments. `arrays`: their DeviceArray descriptions. `images`: the textures and surfaces with their names, and
    `image_records` their abi.Image; a handle is a number of this list.
    """

    def __init__(self, kernel: LoadedKernel, args: Iterable[Any], values: Mapping[str, Any]) -> None:
        self.kernel, self.program = kernel, kernel.program
        given = [plain(a) for a in listed(args)]
        self._refuse_types(given)
        every = list(leaves(given))
        if not isinstance(values, Mapping):
            raise LaunchError(f'constants must map names to values, like {{"weights": array}}, not {reprlib.repr(values)}.')
        self.memory = DeviceMemory([a for a in every if isinstance(a, np.ndarray)] + [a.array for a in every if isinstance(a, Surface)]
                                   + [described(a) for a in (*every, *values.values()) if isinstance(a, TensorMap)])
        self.arrays: list[DeviceArray] = []
        self.images: list[tuple[str, Image]] = []
        self.image_records: list[Any] = []
        self.image_data: list[NDArray[Any]] = []
        self.constants = self._fill_constants(given)
        self.variables = self._fill_variables(self.constants, values)

    def _refuse_types(self, args):
        """Refuse arguments that are too many, too few, or of a type that no kernel can take."""
        if len(args) != len(self.program.params):
            raise LaunchError(f"{self.kernel.name} takes {len(self.program.params)} arguments, {len(args)} were given.")
        for i, arg in ((i, leaf) for i, whole in enumerate(args) for leaf in leaves([whole])):
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
        """Return the bytes of argument `i` as the kernel finds them; `nbytes` is None where any number will do."""
        if isinstance(arg, np.ndarray):
            if nbytes != 8:
                raise LaunchError(f"Argument {i} ({name}) is a {nbytes}-byte value, not a pointer; an array was given.")
            return self._pointer(arg, name)
        if isinstance(arg, Texture | Surface):
            if nbytes not in (8, None):
                raise LaunchError(f"Argument {i} ({name}) is a {nbytes}-byte value, not a handle; a {type(arg).__name__} was given.")
            return self._handle(arg, name)
        if isinstance(arg, TensorMap):
            if nbytes not in (MAP_BYTES, None):
                raise LaunchError(f"Argument {i} ({name}) takes {nbytes} bytes; a TensorMap has {MAP_BYTES}: declare it as "
                                  "const __grid_constant__ CUtensorMap.")
            return self._map(arg, name)
        if isinstance(arg, tuple):
            return self._structure(arg, name, nbytes, i)
        if not isinstance(arg, (np.generic, ctypes.Structure)):
            raise LaunchError(f"Argument {i} ({name}) is {reprlib.repr(arg)}, a Python {type(arg).__name__}; give a NumPy scalar such as "
                              "np.int32(…) or np.float32(…), or a NumPy array.")
        raw = bytes(arg) if isinstance(arg, ctypes.Structure) else arg.tobytes()
        if nbytes not in (len(raw), None):
            raise LaunchError(f"Argument {i} ({name}) takes {nbytes} bytes, {type(arg).__name__} has {len(raw)}.")
        if isinstance(arg, np.generic) and (kind[0] == "f" and arg.dtype.kind in "iub" or kind[0] in "us" and arg.dtype.kind == "f"):
            wanted, right = ("a floating-point number", "float") if kind[0] == "f" else ("an integer", "int")
            raise LaunchError(f"Argument {i} ({name}) is {wanted} in the kernel, and {arg!r} was given: write np.{right}{8 * nbytes}(…).")
        return raw

    def _pointer(self, array, name):
        """Describe an array; return its address on the device."""
        described = self.memory.describe(array, name)
        self.arrays.append(described)
        return np.uint64(described.address + array.ctypes.data - byte_bounds(array)[0]).tobytes()

    def _map(self, given, name):
        """Describe the array of a tensor map; return the map's bytes."""
        return given.encode(int.from_bytes(self._pointer(described(given), name), "little"))

    def _handle(self, image, name):
        """Describe a texture or surface; return its handle."""
        record, data = image.describe(self.memory)
        self.images.append((name, image))
        self.image_records.append(record)
        self.image_data.append(data)
        return np.uint64(abi.IMAGES + len(self.images) - 1).tobytes()

    def _structure(self, members, name, nbytes, i):
        """Return the bytes of a structure that the kernel takes by value, with its members where CUDA C places them."""
        raw, align = self._laid_out(members, name, i)
        if len(raw) != nbytes:
            raise LaunchError(f"Argument {i} ({name}) takes {nbytes} bytes, and the members that were given take {len(raw)}, each aligned "
                              f"to its own size and the whole to {align}.")
        return raw

    def _laid_out(self, members, name, i):
        """Return the bytes and the alignment of a structure with these members; an array is a pointer, a tuple a structure inside."""
        raw, most = b"", 1
        for number, member in enumerate(members):
            inner = f"{name}.{number}"
            if isinstance(member, tuple):
                data, align = self._laid_out(member, inner, i)
            else:
                array = isinstance(member, np.ndarray)
                data = self._pointer(member, inner) if array else self._parameter_bytes(member, inner, None, i, "b")
                align = ctypes.alignment(member) if isinstance(member, ctypes.Structure) else \
                    MAP_ALIGNMENT if isinstance(member, TensorMap) else \
                    len(data) if array or isinstance(member, Image) or member.dtype.kind in "biufc" else member.dtype.alignment
            raw += bytes(-len(raw) % align) + data
            most = max(most, align)
        return raw + bytes(-len(raw) % most), most

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
        if isinstance(value, TensorMap):
            return self._map(value, name)
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


def array_table(given: Arguments, workspace: int, pin: Callable[[Any], int]) -> tuple[int, int]:
    """Return the address of an abi.Array for each array of a launch, and how many there are.

    `workspace`: bytes of the memory where the blocks of a grid meet, 0 for none.
    """
    entries = [(a.address, a.address + a.host.nbytes, a.host.ctypes.data, a.writable) for a in given.memory.allocations]
    if workspace:
        entries.append((abi.WORKSPACE, abi.WORKSPACE + workspace, pin(np.zeros(workspace, np.uint8)), True))
    if given.variables.nbytes:
        variables, at = given.variables, abi.GLOBAL_VARIABLES
        entries.append((at, at + variables.nbytes, variables.ctypes.data, True))
    return pin((abi.Array * max(len(entries), 1))(*entries)), len(entries)
