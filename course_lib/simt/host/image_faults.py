"""Faults of textures and surfaces as exceptions, whose messages say what happened, where, and what to look at."""

import ctypes
from typing import Any

from course_lib.simt.errors import InvalidOperand, Misaligned, OutOfBounds, SimtError
from course_lib.simt.host.images import Image
from course_lib.simt.host.running import Running
from course_lib.simt.isa import images
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import Fault, Misfit

FAULTS = (Fault.NO_IMAGE, Fault.IMAGE_MISFIT, Fault.OUTSIDE_SURFACE, Fault.UNALIGNED_SURFACE)


def explain(fault: int, run: Running, worker: Any, ins: Instruction, place: str, facts: dict[str, Any]) -> SimtError:
    """Return the exception of a fault that an abi.Worker describes; `place` begins the message: kernel, line, thread and block."""
    value = worker.fault_address    # a handle, a Misfit and the number of the image, or coordinates
    facts |= {"operation": ins.name}
    if fault == Fault.NO_IMAGE:
        return InvalidOperand(f"{place}: {ins.name} uses the handle {value:#x}, which is no texture or surface of this launch. Pass a "
                              "simt.Texture or simt.Surface for the parameter.", value=value, **facts)
    if fault == Fault.IMAGE_MISFIT:
        name, image = run.images[value >> 8]
        return InvalidOperand(f"{place}: {ins.name} {misfit(Misfit(value & 255), ins, image, name)}.", array=name, **facts)
    x, y = (part - (part >> 31 << 32) for part in (value & 0xFFFFFFFF, value >> 32))
    size = images.elements(ins) * images.type_bytes(images.element(ins))
    verb = "writes" if ins.opcode[0] == "sust" else "reads"
    where = f"byte {x}" + (f" of row {y}" if images.dimensions(ins) == 2 else "")
    facts |= {"x": x, "y": y, "width": size}
    name, image = image_at(run, worker)
    if fault == Fault.UNALIGNED_SURFACE:
        return Misaligned(f"{place} {verb} {size} bytes at {where} of the surface {name}: x counts bytes and must be a multiple of {size}. "
                          "Multiply the column by sizeof of the element.", array=name, **facts)
    row, height = image.extent[0] * image.depth * image.array.itemsize, image.extent[1]
    size_of_it = f"{height} row{'s' * (height > 1)} of {row} bytes" if image.dimensions == 2 else f"{row} bytes"
    return OutOfBounds(f"{place} {verb} {size} bytes at {where} of {name}, a surface of {size_of_it}. Guard the access, or give it "
                       "cudaBoundaryModeZero or cudaBoundaryModeClamp; x counts bytes.", array=name, bounds=(0, row), **facts)


def image_at(run: Running, worker: Any) -> tuple[str, Image]:
    """Return the image, and the name of its parameter, whose handle the lane at fault holds."""
    registers = abi.Warp.from_address(run.warp_address(worker, worker.fault_warp)).registers
    slot = run.program.tensors[worker.fault_access].record.handle + 8 * worker.fault_lane
    return run.images[ctypes.c_uint64.from_address(registers + slot).value - abi.IMAGES]


def misfit(why: Misfit, ins: Instruction, image: Image, name: str) -> str:
    """Return what an instruction and an image do not agree about, as the end of a sentence."""
    kind, array = type(image).__name__, image.array
    holds = f"{array.dtype}{' read as normalized floats' if getattr(image, 'read', '') == 'normalized_float' else ''}"
    right = {"f": "float", "i": "int", "u": "unsigned"}["f" if "floats" in holds else array.dtype.kind]
    return {
        Misfit.OTHER_USE: f"is not for {name}, which is a {kind}",
        Misfit.OTHER_DIMENSIONS: f"has {images.dimensions(ins)} coordinates, and {name} has {image.dimensions} dimension"
                                 f"{'s' * (image.dimensions > 1)}",
        Misfit.NOT_WRITABLE: f"writes to {name}, which was made from a read-only array",
        Misfit.OTHER_TYPE: f"asks for {images.element(ins)}, and {name} holds {holds}: fetch a type such as {right}",
        Misfit.NO_SUCH_CHANNEL: f"asks for more channels than {name} has, {image.depth}",
        Misfit.NO_SUCH_LEVEL: f"asks for another level than 0 of {name}; mipmaps are not covered",
        Misfit.TEXELS_WANTED: f"counts texels, and {name} has normalized coordinates",
    }[why]
