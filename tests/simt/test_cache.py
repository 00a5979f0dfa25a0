"""The disk cache of compiled objects: shared by processes, versioned, bounded, and never trusted."""

import os
import subprocess
import sys

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import pytest
from launching import INT, launch

from course_lib.simt.codegen import library, native
from course_lib.simt.host import build
from course_lib.toolchain import compile_cache, compile_cuda, disk, nvrtc

KEY = "ab" + "0" * 62


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "deep" / "cache"))
    return tmp_path / "deep" / "cache"


def never():
    raise AssertionError("this was in the cache")


def place(key=KEY):
    return disk.cache_folder() / key[:2] / f"{key}.o"


# -- one process --------------------------------------------------------------------------------------------------------
def test_made_once_then_read(folder):
    assert not folder.exists()
    assert disk.cached_object(KEY, lambda: b"code") == b"code"
    assert disk.cached_object(KEY, never) == b"code"
    assert [p.suffix for p in folder.glob("*/*/*")] == [".o"], "no half-written file is left"


@pytest.mark.parametrize("what", ["machine", "features", "llvmlite", "llvm", "version", "ours", "text"])
def test_whatever_matters_makes_another_key(what, monkeypatch):
    before = native.cache_key("lanes", "text")
    assert before == native.cache_key("lanes", "text")
    changes = {
        "machine": (llvm, "get_host_cpu_name", lambda: "i386"), "llvmlite": (llvmlite, "__version__", "0"),
        "features": (llvm, "get_host_cpu_features", lambda: llvm.FeatureMap({"none": True})),
        "llvm": (llvm, "llvm_version_info", (0, 0, 0)), "version": (native, "VERSION", "0"), "ours": (native, "own_hash", lambda: "0"),
    }
    if what in changes:
        monkeypatch.setattr(*changes[what])
    assert native.cache_key(*(("lanes", "text") if what in changes else ("lanes", "texts"))) != before
    assert native.cache_key("fast", "text") != native.cache_key("lanes", "text")


DAMAGE = {
    "empty": lambda raw: b"", "cut": lambda raw: raw[:-1], "cut in the checksum": lambda raw: raw[:7],
    "one bit": lambda raw: raw[:-3] + bytes([raw[-3] ^ 1]) + raw[-2:], "more": lambda raw: raw + b"\0",
    "foreign": lambda raw: b"\x7fELF" + bytes(2000), "zeros": lambda raw: bytes(len(raw)),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_anew(damage, folder):
    disk.cached_object(KEY, lambda: b"some code")
    place().write_bytes(DAMAGE[damage](place().read_bytes()))
    assert disk.cached_object(KEY, lambda: b"new code") == b"new code"
    assert disk.cached_object(KEY, never) == b"new code"


def test_another_objects_file_under_this_name_is_not_taken(folder):
    other = "ab" + "1" * 62
    disk.cached_object(other, lambda: b"other code")
    place(other).rename(place())
    assert disk.cached_object(KEY, lambda: b"code") == b"code"


def test_a_folder_in_the_place_of_a_file(folder):
    place().mkdir(parents=True)
    assert disk.cached_object(KEY, lambda: b"code") == b"code"
    assert list(folder.glob("*/*/*.part")) == []


def test_a_cache_that_cannot_be(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "file"))
    assert disk.cached_object(KEY, lambda: b"code") == b"code"


def test_a_read_only_cache_is_read(folder, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("read-only")
    disk.cached_object(KEY, lambda: b"code")
    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    assert disk.cached_object(KEY, never) == b"code"
    other = "cd" + KEY[2:]
    assert disk.cached_object(other, lambda: b"other") == b"other"
    assert not place(other).exists()


def test_a_full_disk(folder, monkeypatch):
    def full(path, data):
        path.touch()
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(type(folder), "write_bytes", full)
    assert disk.cached_object(KEY, lambda: b"code") == b"code"
    assert list(folder.glob("*/*/*")) == []


def test_what_fails_to_compile_is_not_kept(folder):
    def fail():
        raise ValueError("no")
    with pytest.raises(ValueError, match="no"):
        disk.cached_object(KEY, fail)
    assert disk.cached_object(KEY, lambda: b"code") == b"code"


# -- the bound ----------------------------------------------------------------------------------------------------------
def test_trimming_keeps_what_was_used_last(folder, monkeypatch):
    monkeypatch.setattr(disk, "CACHE_BYTES", 5 * (100 + disk.CHECKSUM_BYTES))
    keys = [f"{i:064d}" for i in range(10)]
    for i, key in enumerate(keys):
        disk.store_object(place(key), bytes(100))
        os.utime(place(key), (1000 + i, 1000 + i))
    disk.cached_object(keys[5], never)                   # marks it as used now
    disk.trim()
    assert [k for k in keys if place(k).exists()] == [keys[5], *keys[6:]]


def test_writing_trims_before_long(folder, monkeypatch):
    monkeypatch.setattr(disk, "CACHE_BYTES", 100_000)
    for i in range(100):
        disk.cached_object(f"{i:064d}", lambda: bytes(5000))
    total = sum(p.stat().st_size for p in folder.glob("*/*/*"))
    assert 50_000 < total <= 100_000 + 100_000 // 16 + 5032


def test_other_versions_and_half_written_files_go_too(folder, monkeypatch):
    monkeypatch.setattr(disk, "CACHE_BYTES", 200)
    disk.store_object(place(), bytes(100))
    old, half, fresh = folder / "simt-0" / "aa" / "old.o", place().with_name("x.part"), place().with_name("y.part")
    strange = folder / "simt-0" / "aa" / "readme.txt"
    old.parent.mkdir(parents=True)
    for path in (old, half, fresh, strange):
        path.write_bytes(bytes(100))
    for path in (old, half):
        os.utime(path, (1, 1))
    disk.trim()
    assert [p.exists() for p in (place(), old, half, fresh, strange)] == [True, False, False, True, True]


# -- the simulator with it ----------------------------------------------------------------------------------------------
SOURCE = 'extern "C" __global__ void f(int* out) { out[threadIdx.x] = threadIdx.x * NUMBER; }'


def run(number):
    out = np.zeros(32, INT)
    launch(SOURCE, [out], defines={"NUMBER": number})
    return (out == np.arange(32) * number).all()


def forget():
    """Make this process ask the disk again."""
    build._kernels.clear()
    nvrtc._from_nvrtc.cache_clear()
    nvrtc._compile.cache_clear()


def test_a_text_is_compiled_once_for_all_processes(folder, monkeypatch):
    first = compile_cuda(SOURCE, defines={"NUMBER": 7002})
    assert first.ptxas_log, "the registers and spills are told"
    forget()
    monkeypatch.setattr(nvrtc, "_compile_now", lambda *_: never())
    assert compile_cuda(SOURCE, defines={"NUMBER": 7002}) == first
    with pytest.raises(AssertionError, match="in the cache"):
        compile_cuda(SOURCE, defines={"NUMBER": 7003})


@pytest.mark.parametrize("what", ["wheels", "version", "ours"])
def test_another_compiler_is_asked_again(what, folder, monkeypatch):
    first = nvrtc._compile(SOURCE, "kernel.cu", "sm_90", ("-arch=sm_90", "-DNUMBER=7004"), (13, 0), ("k", "sm_90"))
    forget()
    changes = {"wheels": (compile_cache, "compiler_version", lambda: (("x", "1"), ("y", "2"))),
               "ours": (compile_cache, "_own_hash", lambda: "0")}
    if what in changes:
        monkeypatch.setattr(*changes[what])
    monkeypatch.setattr(nvrtc, "_compile_now", lambda *_: ({"log": "asked"}, b""))
    again = nvrtc._compile(SOURCE, "kernel.cu", "sm_90", ("-arch=sm_90", "-DNUMBER=7004"), (13, 1) if what == "version" else (13, 0),
                           ("k", "sm_90"))
    assert first[0]["log"] == ""
    assert again[0]["log"] == "asked"
    forget()                                               # of the answers that were made up


def test_where_no_file_can_be_seen_texts_are_still_compiled(folder, monkeypatch):
    monkeypatch.setattr(compile_cache, "__file__", "/nowhere/compile_cache.py")
    compile_cache._own_hash.cache_clear()
    try:
        assert "mul.lo.s32" in compile_cuda(SOURCE, defines={"NUMBER": 7005}).ptx
    finally:
        compile_cache._own_hash.cache_clear()
    assert list(folder.glob("*/*/*")) == []


def test_what_does_not_stand_alone_is_not_kept(folder):
    compile_cuda(SOURCE + '\nextern "C" __global__ void g(const char** p) { *p = __TIME__; }', defines={"NUMBER": 1})
    compile_cuda(SOURCE, defines={"NUMBER": 1}, options=["-I/nowhere"])
    with pytest.raises(nvrtc.CompileError):
        compile_cuda(SOURCE + '\n#include "tile.cuh"', defines={"NUMBER": 1})
    assert list(folder.glob("*/*/*")) == []


@pytest.mark.parametrize("text", [SOURCE + "\nwrong", "#include <mma.h>\n" + SOURCE], ids=["refused", "header"])
def test_refusals_and_nvidias_headers_are_asked_for_once(text, folder, monkeypatch):
    def told():
        try:
            return compile_cuda(text, defines={"NUMBER": 1}).ptx
        except nvrtc.CompileError as error:
            return str(error)

    first = told()
    forget()
    monkeypatch.setattr(nvrtc, "_compile_now", lambda *_: never())
    assert told() == first


def test_other_headers_are_asked_for_anew(folder, monkeypatch):
    text = "#include <mma.h>\n" + SOURCE
    compile_cuda(text, defines={"NUMBER": 1})
    forget()
    monkeypatch.setattr(compile_cache, "header_wheels", lambda major: ("numpy",))
    monkeypatch.setattr(nvrtc, "_compile_now", lambda *_: never())
    with pytest.raises(AssertionError, match="in the cache"):
        compile_cuda(text, defines={"NUMBER": 1})


def test_damaged_objects_do_no_harm(folder):
    library.runtime()                                        # is loaded once in a process
    before = set(folder.glob("*/*/*.o"))
    assert run(7001)
    files = sorted(set(folder.glob("*/*/*.o")) - before)
    assert files
    for n, path in enumerate(files):
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2] ^= 0xFF
        path.write_bytes(raw if n else raw[:200])
    assert all(disk.read_object(path) is None for path in files)
    forget()
    assert run(7001)
    assert all(disk.read_object(path) is not None for path in files)


CHILD = """
import sys
import numpy as np
from course_lib import simt
me = int(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for number in (1, 2, 3, 100 + me, 4):
    out = np.zeros(32, np.int32)
    simt.launch('''SOURCE''', "f", 1, 32, [out], defines={"NUMBER": number})
    assert (out == np.arange(32) * number).all()
print("done", flush=True)
""".replace("SOURCE", SOURCE)


@pytest.mark.slow
def test_four_processes_and_an_empty_cache(tmp_path, monkeypatch):
    runtime = {}
    find = disk.cached_object
    monkeypatch.setattr(disk, "cached_object", lambda key, produce: runtime.setdefault(key, find(key, produce)))
    library.Runtime()                                        # the one thing that is not made anew: it takes seconds
    folder = tmp_path / "cache"
    monkeypatch.setenv("COURSE_CACHE", str(folder))
    for key, data in runtime.items():
        disk.store_object(place(key), data)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = [subprocess.Popen([sys.executable, "-c", CHILD, str(i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True, env=environment) for i in range(4)]
    try:
        for child in children:
            assert child.stdout.readline() == "ready\n"
        for child in children:                             # all start at once
            child.stdin.write("go\n")
            child.stdin.flush()
        for child in children:
            out, err = child.communicate(timeout=120)
            assert (child.returncode, out) == (0, "done\n"), err[-2000:]
    finally:
        for child in children:
            child.kill()
    files = list(folder.glob("*/*/*"))
    assert {p.suffix for p in files} == {".o", ".nvrtc"}
    assert all(disk.read_object(p) is not None for p in files)
    assert len(files) > 2 * 8, "the runtime, two objects for each of eight kernels, and those that several share"
