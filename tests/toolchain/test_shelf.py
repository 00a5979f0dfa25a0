"""The shelf: complete, up to date, and as good as NVRTC for everything that the course itself compiles."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
import shelf as tool
import what_it_says
import without_nvrtc

from course_lib import kernels
from course_lib.errors import CourseError
from course_lib.gpu.launch import _module
from course_lib.kernels import ALL
from course_lib.simt.workers import available_cores
from course_lib.toolchain import compile_cuda, loops, machine_code, nvrtc, resources, sass, shelf
from course_lib.toolchain.sass import disassemble, read_back

ROOT = Path(__file__).parents[2]
REFRESH = f"the shelf is out of date, run `{tool.COMMAND}` and commit course_lib/toolchain/shelf.zip: "
MOST_BYTES = 15_000_000
NOTEBOOKS = sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("solutions/*/*.ipynb")])


def test_every_position_of_every_slider_is_there_and_nothing_is_stale():
    found = tool.course_problems(tool.Old())
    assert not found, REFRESH + "; ".join(found[:5])


def test_every_padding_of_the_bank_bench_is_there():
    keys = {tuple(key) for group in shelf.index()["groups"].values() for key in group}
    for name in ("transpose", "sgemm_padded"):
        kernel = kernels.get(name)
        for tile in (8, 16, 32):
            for pad in range(9):
                options = tuple(nvrtc.define_options(kernel.defines(TILE=tile, PAD=pad)))
                assert shelf.Request(kernel.source, shelf.NAME, "sm_90", options).key in keys, (name, tile, pad)


@pytest.mark.slow
def test_every_notebook_is_as_it_was_when_its_kernels_were_shipped():
    found = tool.problems(tool.Old())
    assert not found, REFRESH + "; ".join(found[:5])


def test_the_pinned_compiler_filled_it():
    pins = dict(re.findall(r"^(nvidia-cuda-nv\w+)==(\S+)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE))
    said = shelf.index()
    assert (said["wheel"], said["disassembler"]) == (pins["nvidia-cuda-nvrtc"], pins["nvidia-cuda-nvdisasm"]), REFRESH
    assert said["options"] == list(nvrtc.ALWAYS), REFRESH


def test_it_is_one_small_file_of_fixed_bytes():
    assert shelf.FILE.stat().st_size <= MOST_BYTES
    with zipfile.ZipFile(shelf.FILE) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert f"{shelf.FILE.relative_to(ROOT).as_posix()} binary" in (ROOT / ".gitattributes").read_text(encoding="utf-8")


def test_a_key_is_text_architecture_and_options_in_any_order():
    def key(**changes):
        given = {"source": "int x;", "name": "a.cu", "arch": "sm_90", "options": ("-DA=1", "-DB=2")} | changes
        return shelf.Request(**given).key
    assert key() == key(options=("-DB=2", "-DA=1")) == key(name="b.cu")
    assert len({key(), key(source="int y;"), key(arch="sm_80"), key(options=("-DA=1",)), key(options=("-DA=12",))}) == 5
    assert key(source="int x;  // told\n") == key(source="int x;\n") != key(source="\nint x;\n") != key(source="int x; /* */\n")
    assert key(source='f("//a");') != key(source='f("//b");') != key(source="f('\"'); g(\"//b\");")
    telling = "void f() { assert(0); }"                    # the message of an assertion names the file
    assert key(source=telling) != key(source=telling, name="b.cu")


def without(tmp_path, chosen, **more):
    return json.loads(without_nvrtc.python(tmp_path, str(Path(what_it_says.__file__)), json.dumps(chosen), **more))


def compare(chosen, tmp_path, monkeypatch, **more):
    """Hold what is said without NVRTC to what is said when it compiles everything, part by part."""
    monkeypatch.setattr(nvrtc, "_installed_filled_the_shelf", lambda: False)
    with_it, alone = json.loads(json.dumps(what_it_says.everything(chosen))), without(tmp_path, chosen, **more)
    assert alone.pop("nvrtc") is False
    assert nvrtc.nvrtc_is_there()
    assert alone.keys() == with_it.keys()
    for part, said in with_it.items():
        assert alone[part] == said, part


@pytest.mark.slow
def test_without_nvrtc_kernels_run_and_tell_the_same(tmp_path, monkeypatch):
    compare(what_it_says.QUICK, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_without_nvrtc_every_kernel_runs_from_an_empty_cache(every, tmp_path, monkeypatch):
    """Everything is translated anew there, the simulator's own runtime too."""
    compare({name: {} for name in list(ALL)[::every]}, tmp_path, monkeypatch, COURSE_CACHE=str(tmp_path / "cache"), timeout=1000)


EDITED = """
from course_lib import gpu, kernels
from course_lib.errors import CourseError
from course_lib.run import run
from course_lib.simt.workers import available_cores
from course_lib.toolchain import compile_cuda
import numpy as np
tiled, A = kernels.get("sgemm_tiled"), np.ones((16, 16), np.float32)
for ask in (lambda: run(tiled.source.replace("acc +=", "acc -="), A, A), lambda: run("sgemm_tiled", A, A, BM=7),
            lambda: compile_cuda(tiled.source, arch="sm_13"), lambda: compile_cuda(tiled.source, options=["-use_fast_math"])):
    try:
        ask()
    except CourseError as error:
        print(error)
"""


def test_an_edited_kernel_is_refused_with_what_to_do(tmp_path):
    edited, other, architecture, option = without_nvrtc.python(tmp_path, "-c", EDITED).splitlines()
    assert "this text is none of them: it was edited" in edited
    assert "run `pip install cuda-bindings nvidia-cuda-nvrtc`" in edited
    assert "but not for sm_90 -DBK=32 -DBM=7 -DBN=32: take values that the kernel's sliders offer" in other
    assert "makes no code for sm_13" in architecture
    assert "but not for sm_90 -use_fast_math" in option


def test_a_gpu_gets_machine_code_for_the_stand_in(monkeypatch):
    kernel = kernels.get("sgemm_naive")
    compiled = compile_cuda(kernel.source)
    assert isinstance(compiled.cubin, shelf.Shelved)
    code = machine_code(compiled)
    assert code[:4] == b"\x7fELF"
    assert machine_code(nvrtc.compile_anew(compiled.cubin.request)) == code
    assert resources(code)[kernel.entry].registers == resources(compiled)[kernel.entry].registers
    given = []
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(RawModule=lambda path: given.append(Path(path).read_bytes())))
    _module(compiled)
    assert given == [code]
    monkeypatch.setattr(nvrtc, "_library", without_library)
    with pytest.raises(CourseError, match="NVRTC.*cannot be loaded"):
        machine_code(compiled)


def without_library():
    raise CourseError("NVRTC, NVIDIA's CUDA compiler, cannot be loaded")


def test_another_compiler_than_the_shelfs_compiles_by_itself(monkeypatch):
    request = shelf.Request(kernels.get("sgemm_naive").source, "k.cu", "sm_90")
    for other in ((("nvidia-cuda-nvrtc", "12.9.86"), ("cuda-bindings", "12.9.4")), None):
        nvrtc._installed_filled_the_shelf.cache_clear()
        monkeypatch.setattr(nvrtc, "compiler_version", lambda other=other: other)
        assert isinstance(nvrtc.answer(request).cubin, bytes)
    nvrtc._installed_filled_the_shelf.cache_clear()


def shelved(request):
    """Return what the shelf answers, though NVRTC is here."""
    return nvrtc._from_shelf(request)


def test_a_missing_file_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(shelf, "FILE", tmp_path / "nothing.zip")
    with pytest.raises(CourseError, match="git checkout"):
        shelf.index()


def two_kernels(tmp_path, monkeypatch):
    """Let the tool see two small texts, no notebook, and an empty shelf."""
    texts = [f'extern "C" __global__ void k{i}(float* x) {{\n  *x += {i};\n}}' for i in range(2)]
    monkeypatch.setattr(shelf, "FILE", tmp_path / "shelf.zip")
    monkeypatch.setattr(tool, "JOURNAL", tmp_path / "journal")
    monkeypatch.setattr(tool, "course_requests", lambda: [(f"k{i}", shelf.Request(t, "k.cu", "sm_90")) for i, t in enumerate(texts)])
    monkeypatch.setattr(tool.shelf_lessons, "notebooks", list)
    return texts


@pytest.mark.slow
def test_only_what_changed_is_compiled_and_the_bytes_are_the_same_each_time(tmp_path, monkeypatch):
    texts = two_kernels(tmp_path, monkeypatch)
    assert tool.problems(tool.Old()) == ["there is no shelf, or one that another compiler filled"]
    assert tool.refresh().startswith("2 texts and positions, 2 of them new")
    first = shelf.FILE.read_bytes()
    assert tool.problems(tool.Old()) == []
    assert tool.refresh().startswith("2 texts and positions, 0 of them new")
    assert shelf.FILE.read_bytes() == first
    texts[1] = texts[1].replace("+= 1", "+= 5")
    assert [words.split(":")[0] for words in tool.problems(tool.Old())] == ["k1", tool.problems(tool.Old())[1]]
    assert tool.refresh().startswith("2 texts and positions, 1 of them new")
    assert tool.problems(tool.Old()) == []
    changed = shelf.FILE.read_bytes()
    shelf.FILE.unlink()
    monkeypatch.setattr(tool, "JOURNAL", tmp_path / "empty")
    tool.refresh()
    assert shelf.FILE.read_bytes() == changed
    assert "x1" not in shelved(shelf.Request(texts[1], "other.cu", "sm_90")).ptx


@pytest.mark.slow
def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    two_kernels(tmp_path, monkeypatch)
    monkeypatch.setattr(tool, "BATCH", 1)
    monkeypatch.setattr(tool, "available_cores", lambda: 1)
    make_all, made = tool.make_all, []

    def once(requests, known):
        if made:
            raise KeyboardInterrupt
        made.extend(requests)
        return make_all(requests, known)

    monkeypatch.setattr(tool, "make_all", once)
    with pytest.raises(KeyboardInterrupt):
        tool.refresh()
    assert not shelf.FILE.exists()
    monkeypatch.setattr(tool, "make_all", lambda requests, known: made.extend(requests) or make_all(requests, known))
    tool.refresh()
    assert sorted(r.source for r in made) == sorted(r.source for _, r in tool.course_requests())


ODD = [
    'extern "C" __global__ void k(int* x) {\n  *x = y;\n}', "#include <nothing.h>", "#error no",
    'extern "C" __global__ void k() {\n  __shared__ int s[20000];\n  s[threadIdx.x] = 1;\n}',
    'extern "C" __global__ void k(int* x) {\n  asm("nonsense;");\n  *x = 1;\n}',
    'extern "C" __global__ void k() {\n  int unused;\n}', "__device__ int x;",
    '#include <cuda_fp16.h>\nextern "C" __global__ void k(half* x) { assert(x); *x = __hadd(x[0], x[1]); }',
    'extern "C" __global__ void k(long long* x) { *x /= x[1]; }\nextern "C" __global__ void other(float* x) { *x = 1; }',
]


@pytest.mark.slow
def test_refusals_warnings_and_odd_texts_are_told_as_nvrtc_tells_them(tmp_path, monkeypatch):
    two_kernels(tmp_path, monkeypatch)
    requests = [shelf.Request(source, "mine.cu", "sm_90", ("-DN=1",)) for source in ODD]
    requests += [shelf.Request(ODD[0], "mine.cu", "sm_90", ("--no-such-option",)), shelf.Request(ODD[5], "mine.cu", "compute_90")]
    monkeypatch.setattr(tool, "course_requests", lambda: [("odd", request) for request in requests])
    tool.refresh()

    def told(ask):
        try:
            c = ask()
        except CourseError as error:
            return str(error), repr(getattr(error, "diagnostics", "")), error.log
        assert not re.search(r'\.file\s+\d+ ".*[/\\]', c.ptx)
        return c.ptx, c.log, c.ptxas_log, c.warnings, *((resources(c), disassemble(c.cubin)) if c.cubin else ())
    for request in requests:
        assert told(lambda: shelved(request)) == told(lambda: nvrtc.compile_anew(request))    # noqa: B023 -- called at once


@pytest.mark.slow
def test_machine_code_is_read_back_with_its_loops():
    kernel = kernels.get("sgemm_2d_tile")
    defines = kernel.defines(BM=64, BN=64)
    request = shelf.Request(kernel.source, "kernel.cu", "sm_90", tuple(nvrtc.define_options(defines)))
    here, there = nvrtc.compile_anew(request), compile_cuda(kernel.source, defines=defines)
    assert isinstance(here.cubin, bytes)
    assert isinstance(there.cubin, shelf.Shelved)
    assert there.ptx == here.ptx
    assert sass(there, kernel.entry) == sass(here, kernel.entry)
    assert loops(sass(there.cubin)) == loops(sass(here)) != ()
    assert resources(there) == resources(here)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("every", [80, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_everything_compiles_to_what_is_shipped(every, tmp_path, monkeypatch):
    """PTX, messages, resources, machine code and its text, all of it anew, in another folder."""
    monkeypatch.chdir(tmp_path)
    old = tool.Old()
    asked = {request.key: request for _, request in tool.course_requests()}
    asked |= {request.key: request for noted in old.lessons.values() for request in noted["requests"]}
    assert asked.keys() == old.keys

    def wrong(requests):
        made = json.loads(json.dumps(tool.make_all(requests)))
        kept = [shelf.entry(r.key) | {"sass": shelf.Shelved(r.key).sass()} for r in requests]
        return [r.key for r, one, other in zip(requests, made, kept, strict=True) if one != other]

    with ThreadPoolExecutor(available_cores()) as pool:
        found = [key for keys in pool.map(wrong, tool.batches([asked[key] for key in sorted(asked)[::every]])) for key in keys]
    assert not found, REFRESH + str(found[:5])


@pytest.mark.slow
@pytest.mark.parametrize("every", [200, pytest.param(30, marks=pytest.mark.exhaustive)])
def test_a_kernel_disassembled_alone_reads_the_same(every):
    asked = {request.key: request for _, request in tool.course_requests()}
    for key in [key for key in sorted(asked) if "status" not in shelf.entry(key)][::every]:
        cubin = nvrtc.compile_anew(asked[key]).cubin
        assert {name: read_back(text) for name, text in shelf.Shelved(key).sass().items()} == disassemble(cubin), key


@pytest.mark.slow
def test_no_path_of_a_machine_is_shipped():
    places = re.compile(r"/(?:home|tmp|root|work|Users|usr|opt)/|site-packages|[A-Z]:\\\\")
    with zipfile.ZipFile(shelf.FILE) as archive:
        for name in archive.namelist():
            text = json.dumps(tool._unpack(archive.read(name)), ensure_ascii=False)
            assert not (found := places.search(text)), (name, text[found.start() - 80:found.end() + 80])


@pytest.mark.slow
@pytest.mark.sampled(slow=2)
@pytest.mark.timeout(600)
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_without_nvrtc(notebook, tmp_path):
    """As `make notebooks` does: every output is compared; a solution in a copy, for it may write beside itself."""
    if notebook.parent.name != "notebooks":
        shutil.copytree(notebook.parent, tmp_path / notebook.stem)
        notebook = tmp_path / notebook.stem / notebook.name
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", "--nbval-sanitize-with",
               ROOT / "tests/nbval_sanitize.cfg", "--nbval-cell-timeout", "300", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, notebook]
    done = subprocess.run(command, env=without_nvrtc.environment(tmp_path), cwd=ROOT, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stdout[-4000:]
