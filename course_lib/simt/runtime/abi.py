"""What Python and the runtime agree on. `structures.cuh` is the one description: its enums and structures are read here, field by field.

>>> Fault.OUT_OF_BOUNDS, Access.offset.offset, [name for name, _ in Live._fields_]
(<Fault.OUT_OF_BOUNDS: 1>, 32, ['kind', 'bytes', 'uniform', 'slot', 'lanes', 'pattern'])
"""

import ctypes
import enum
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

TEXT = (Path(__file__).parent / "structures.cuh").read_text(encoding="utf-8")
CType = Any    # a class of ctypes
TYPES: dict[str, CType] = {"u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
                          "i64": ctypes.c_int64}


def without_comments(text: str) -> str:
    """Return CUDA C text without its line comments."""
    return re.sub(r"//[^\n]*", "", text)


def enumerators(body: str, known: dict[str, int]) -> dict[str, int]:
    """Return the names of an enum and their values; a value may be a number, or name one of `known`.

    >>> enumerators("READY, WAITING = 4, DONE", {})
    {'READY': 0, 'WAITING': 4, 'DONE': 5}
    """
    found: dict[str, int] = {}
    following = 0
    for item in filter(None, map(str.strip, body.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        found[name] = number(value, known | found) if value else following
        following = found[name] + 1
    return found


def number(text: str, known: dict[str, int]) -> int:
    """Return the value of a literal, a name, or a product of them.

    >>> number("2 * LANES", {"LANES": 32}), number("0x20u", {})
    (64, 32)
    """
    product = 1
    for factor in text.split("*"):
        word = factor.strip()
        product *= known[word] if word in known else int(word.rstrip("ul"), 0)
    return product


def fields(body: str, types: dict[str, CType], known: dict[str, int]) -> list[tuple[str, CType]]:
    """Return the fields of a structure as ctypes has them; an array of arrays becomes one array.

    >>> [(name, ctypes.sizeof(kind)) for name, kind in fields("u32 mask, item[4]; u8 sectors[4][32];", TYPES, {})]
    [('mask', 4), ('item', 16), ('sectors', 128)]
    """
    found = []
    for declaration in filter(None, map(str.strip, body.split(";"))):
        kind, _, names = declaration.partition(" ")
        for declarator in names.split(","):
            name, *lengths = re.findall(r"[^\[\]]+", declarator.strip())
            count = 1
            for length in lengths:
                count *= number(length, known)
            found.append((name, types[kind] * count if lengths else types[kind]))
    return found


def read(text: str) -> tuple[dict[str, dict[str, int]], dict[str, type[ctypes.Structure]]]:
    """Return the enums (by name; "" for those without) and the structures of CUDA C text."""
    text = without_comments(text)
    enums: dict[str, dict[str, int]] = {"": {}}
    structures: dict[str, type[ctypes.Structure]] = {}
    for name, body in re.findall(r"enum\s*(\w*)\s*(?::\s*\w+\s*)?\{(.*?)\};", text, re.DOTALL):
        enums.setdefault(name, {}).update(enumerators(body, enums[""]))
    for name, body in re.findall(r"struct\s+(\w+)\s*\{(.*?)\};", text, re.DOTALL):
        structures[name] = type(name, (ctypes.Structure,), {"_fields_": fields(body, TYPES | structures, enums[""])})
    return enums, structures


def enumeration(name: str) -> Any:
    """Return an enum of the text as a class, whose members a type checker does not know."""
    return enum.IntEnum(name, ENUMS[name], module=__name__)


ENUMS, STRUCTURES = read(TEXT)
Fault, Misuse, Misfit, ImageUse, ImageElement = map(enumeration, ("Fault", "Misuse", "Misfit", "ImageUse", "ImageElement"))
AddressMode, Boundary = map(enumeration, ("AddressMode", "Boundary"))
ObjectUse, ObjectMisuse, FlightKind = map(enumeration, ("ObjectUse", "ObjectMisuse", "FlightKind"))
MapMisuse, ClusterMisuse = map(enumeration, ("MapMisuse", "ClusterMisuse"))
HAZARDS = tuple(name if len(name) == 3 else name.lower() for name in ENUMS["HazardKind"])
SPACES = {name.lower(): value for name, value in ENUMS["Space"].items()}  # as PTX writes them
globals().update(STRUCTURES)
for _names in ("", "Window", "Status", "LiveKind", "ByRuntime", "Crossed", "WaitStatus", "PeerAddress"):
    globals().update(ENUMS[_names])
# The runtime's functions that translated kernels call, in the order of the table that `Warp.functions` points to.
FUNCTIONS = ("memory_access", "next_block", "branch", "arrive", "sync_warp", "count_guarded", "lookup", "analyze",
             "pattern_sectors", "pattern_waves", "cross_lanes", "wait_lanes",
             "find_site", "count_site", "new_site",
             "call_function", "return_function", "branch_indexed", "trap", "read_clock",
             "access_tile", "multiply", "copy_async", "copy_group", "use_image",
             "check_exactly", "settle", "mark_lines", "lines_read", "arrive_only",
             "use_object", "fence_proxy", "arrive_behind_copies", "copy_bulk", "copy_box", "wait_bulk", "store_async",
             "issue_product", "product_step", "wait_here", "touch_registers")
TESTED = ("count_sectors", "count_wavefronts", "host_of")  # further functions that Python calls

if TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        """Structures and constants of the text, which a type checker does not read."""


def at(field: str, owner: type[ctypes.Structure] = STRUCTURES["Warp"]) -> int:
    """Return the byte offset of a field of a structure, for IR text."""
    return getattr(owner, field).offset
