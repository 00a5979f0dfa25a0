"""Python reads the runtime's structures out of its text: both must lay them out alike."""

import ctypes

import pytest

from course_lib.simt.codegen import library, native
from course_lib.simt.runtime import abi


@pytest.fixture(scope="module")
def measured():
    """Return {structure: (bytes, offset of the last field)} as the compiled runtime has them."""
    names = list(abi.STRUCTURES)
    last = {name: abi.STRUCTURES[name]._fields_[-1][0] for name in names}
    cases = " : ".join(f"which == {i} ? (u64)sizeof({name}) << 32 | __builtin_offsetof({name}, {last[name]})"
                       for i, name in enumerate(names))
    text = abi.TEXT + f'extern "C" __device__ u64 layout(u32 which) {{ return {cases} : 0; }}'
    code = native.compile_ir(library.Runtime.translate(text))
    loaded = native.Library([code], ["layout"])     # the function lives as long as it
    ask = loaded.function("layout", ctypes.c_uint64, ctypes.c_uint32)
    return {name: divmod(ask(i), 1 << 32) for i, name in enumerate(names)}


def test_every_structure_has_one_layout(measured):
    ours = {name: (ctypes.sizeof(kind), getattr(kind, kind._fields_[-1][0]).offset) for name, kind in abi.STRUCTURES.items()}
    assert measured == ours
    assert len(ours) > 20


def test_a_structure_of_another_order_would_be_seen(measured):
    swapped = abi.read("struct Access { i64 offset; u32 kind; };")[1]["Access"]
    assert (ctypes.sizeof(swapped), swapped.kind.offset) != measured["Access"]


@pytest.mark.parametrize(("text", "value"), [("enum E { A, B = 3, C };", {"A": 0, "B": 3, "C": 4}),
                                             ("enum E : u64 { A = 0x20 };", {"A": 32})])
def test_enums_are_read(text, value):
    assert abi.read(text)[0]["E"] == value


def test_every_fault_has_words():
    """A fault that the runtime can report and `faults.explain` has never heard of would be told as an access out of bounds."""
    host = abi.Path(library.__file__).parents[1] / "host"
    names = ("faults.py", "image_faults.py", "product_faults.py", "clusters.py")
    source = "".join((host / name).read_text(encoding="utf-8") for name in names)
    unnamed = [fault.name for fault in abi.Fault if f"Fault.{fault.name}" not in source]
    assert unnamed == ["NO_FAULT", "COPY_SIZE"], "the first is none; the second is the last case of of_tensor"
