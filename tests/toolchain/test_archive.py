"""The precompiled archive: as good as NVRTC for what is in it, fetched once with its checksum, and missed in one sentence."""

import hashlib
import http.server
import json
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest
import what_it_says
import without_nvrtc

from course_lib.errors import CourseError
from course_lib.kernels import ALL
from course_lib.toolchain import archive, compile_cuda, machine_code, nvrtc, resources, sass
from course_lib.toolchain.compile_cache import stored_compilations
from course_lib.toolchain.disassemble_many import code_texts
from course_lib.toolchain.request import Request
from course_lib.toolchain.sass import disassemble_now, read_back
from tools import again
from tools import precompiled as tool

ROOT = Path(__file__).parents[2]
LESSON = "notebooks/06_bank_conflicts.ipynb"
SMALL = 'extern "C" __global__ void k(float* x) {\n  *x += 1;\n}'
ODD = [
    'extern "C" __global__ void k(int* x) {\n  *x = y;\n}', "#include <nothing.h>", "#error no",
    'extern "C" __global__ void k() {\n  __shared__ int s[20000];\n  s[threadIdx.x] = 1;\n}',
    'extern "C" __global__ void k(int* x) {\n  asm("nonsense;");\n  *x = 1;\n}',
    'extern "C" __global__ void k() {\n  int unused;\n}', "__device__ int x;",
    '#include <cuda_fp16.h>\nextern "C" __global__ void k(half* x) { assert(x); *x = __hadd(x[0], x[1]); }',
    'extern "C" __global__ void k(long long* x) { *x /= x[1]; }\nextern "C" __global__ void other(float* x) { *x = 1; }',
]


def build(folder, *arguments):
    """Make an archive as a release does, in a process of its own; return its path."""
    made = folder / "precompiled.zip"
    subprocess.run([*again("precompiled", "--to", made, "--cache", folder / "cache", *arguments)], check=True, cwd=ROOT,
                   capture_output=True, timeout=1500)
    return made


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return an archive of a few kernels and one lesson."""
    return build(tmp_path_factory.mktemp("archive"), "--kernels", ",".join([*what_it_says.QUICK, "matrix_sum"]),
                 "--notebooks", f"{LESSON},notebooks/03_first_kernel.ipynb")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Let this process begin with an empty cache, in memory too."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    for remembered in (nvrtc._compile, nvrtc._from_nvrtc, nvrtc._from_archive):
        remembered.cache_clear()
    yield tmp_path / "cache"
    for remembered in (nvrtc._compile, nvrtc._from_nvrtc, nvrtc._from_archive):
        remembered.cache_clear()


def packed(requests, folder, monkeypatch):
    """Make an archive of these requests in this process, and let it be the one that is read."""
    for request in requests:
        try:
            nvrtc.compile_here(request)
        except CourseError:
            continue
    tool.pack(folder / "made.zip")
    monkeypatch.setenv("COURSE_PRECOMPILED", str(folder / "made.zip"))
    return folder / "made.zip"


def test_a_key_is_text_architecture_and_options_in_any_order():
    def key(**changes):
        given = {"source": "int x;", "name": "a.cu", "arch": "sm_90", "options": ("-DA=1", "-DB=2")} | changes
        return Request(**given).key
    assert key() == key(options=("-DB=2", "-DA=1")) == key(name="b.cu")
    assert len({key(), key(source="int y;"), key(arch="sm_80"), key(options=("-DA=1",)), key(options=("-DA=12",))}) == 5
    assert key(source="int x;  // told\n") == key(source="int x;\n") != key(source="\nint x;\n") != key(source="int x; /* */\n")
    assert key(source='f("//a");') != key(source='f("//b");') != key(source="f('\"'); g(\"//b\");")
    telling = "void f() { assert(0); }"                    # the message of an assertion names the file
    assert key(source=telling) != key(source=telling, name="b.cu")


@pytest.mark.slow
def test_refusals_warnings_and_odd_texts_are_told_as_nvrtc_tells_them(cache, tmp_path, monkeypatch):
    requests = [Request(source, "mine.cu", "sm_90", ("-DN=1",)) for source in ODD] + [Request(ODD[5], "mine.cu", "compute_90")]
    packed(requests, tmp_path, monkeypatch)

    def told(ask):
        try:
            c = ask()
        except CourseError as error:
            return str(error), repr(getattr(error, "diagnostics", "")), error.log
        assert not re.search(r'\.file\s+\d+ ".*[/\\]', c.ptx)
        return c.ptx, c.log, c.ptxas_log, c.warnings, *((resources(c), [sass(c, name) for name in resources(c)]) if c.cubin else ())
    for request in requests:
        assert told(lambda: nvrtc._from_archive(request)) == told(lambda: nvrtc.compile_here(request))    # noqa: B023 -- called at once


def test_the_same_answers_give_the_same_bytes(cache, tmp_path, monkeypatch):
    request = Request(SMALL, "k.cu", "sm_90")
    first = packed([request], tmp_path, monkeypatch).read_bytes()
    assert packed([request], tmp_path, monkeypatch).read_bytes() == first
    with zipfile.ZipFile(tmp_path / "made.zip") as made:
        assert {info.date_time for info in made.infolist()} == {tool.WHEN}
    assert archive.knows(SMALL)
    assert not archive.knows(SMALL.replace("1", "2"))


def test_a_gpu_cannot_have_machine_code_from_the_archive(cache, tmp_path, monkeypatch):
    packed([Request(SMALL, "k.cu", "sm_90")], tmp_path, monkeypatch)
    with pytest.raises(CourseError, match=r"needs NVRTC.*for code that a GPU can run: run `pip install"):
        machine_code(nvrtc._from_archive(Request(SMALL, "k.cu", "sm_90")))


# -- where it comes from ------------------------------------------------------------------------------------------------
class Quiet(http.server.SimpleHTTPRequestHandler):
    asked = 0

    def do_GET(self):
        type(self).asked += 1
        super().do_GET()

    def log_message(self, *_):
        pass


@pytest.fixture
def released(tmp_path, monkeypatch):
    """Serve a small archive on this machine, as a release does; return its folder."""
    site = tmp_path / "site"
    site.mkdir()
    with zipfile.ZipFile(site / "precompiled.zip", "w") as made:
        made.writestr("index.json", archive.packed({"nvrtc": [13, 5], "architectures": [90], "options": [], "groups": {}}))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Quiet(*a, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said = {"url": f"http://127.0.0.1:{server.server_port}/precompiled.zip",
            "sha256": hashlib.sha256((site / "precompiled.zip").read_bytes()).hexdigest()}
    (tmp_path / "precompiled.json").write_text(json.dumps(said))
    monkeypatch.setattr(archive, "RELEASED", tmp_path / "precompiled.json")
    monkeypatch.setattr(archive, "BUNDLED", tmp_path / "none.zip")
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COURSE_PRECOMPILED", raising=False)
    Quiet.asked = 0
    yield site
    server.shutdown()
    server.server_close()


def test_a_release_is_fetched_once(released):
    assert archive.index()["nvrtc"] == [13, 5]
    assert archive.find(("x", "sm_90")) is None
    assert Quiet.asked == 1
    assert [path.name for path in archive.archive_file().parent.iterdir()] == [archive.archive_file().name], "nothing else is left there"


def test_another_file_than_the_released_one_is_refused_and_not_left(released, tmp_path):
    (released / "precompiled.zip").write_bytes(b"something else")
    with pytest.raises(CourseError, match="could not be downloaded.*put it into "):
        archive.index()
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def test_without_a_network_one_sentence_says_what_to_do(released, tmp_path, monkeypatch):
    said = json.loads(archive.RELEASED.read_text()) | {"url": "http://127.0.0.1:9/precompiled.zip"}
    archive.RELEASED.write_text(json.dumps(said))
    with pytest.raises(CourseError, match="could not be downloaded from http://127.0.0.1:9/.*try again with a network"):
        archive.index()


@pytest.mark.parametrize(("content", "words"), [(None, "there is no such file"), (b"no zip", "is damaged .*download it again")])
def test_a_named_file_that_cannot_be_read_is_named(content, words, tmp_path, monkeypatch):
    named = tmp_path / "mine.zip"
    monkeypatch.setenv("COURSE_PRECOMPILED", str(named))
    if content:
        named.write_bytes(content)
    with pytest.raises(CourseError, match=words) as caught:
        archive.index()
    assert str(named) in str(caught.value)


# -- without NVRTC ------------------------------------------------------------------------------------------------------
def without(tmp_path, made, *arguments, **more):
    return without_nvrtc.python(tmp_path, *arguments, COURSE_PRECOMPILED=str(made), COURSE_CACHE=str(tmp_path / "cache"), **more)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_without_nvrtc_kernels_run_and_tell_the_same(small, tmp_path):
    alone = json.loads(without(tmp_path, small, str(Path(what_it_says.__file__)), json.dumps(what_it_says.QUICK), timeout=800))
    with_it = json.loads(json.dumps(what_it_says.everything(what_it_says.QUICK)))
    assert alone.pop("nvrtc") is False
    assert nvrtc.nvrtc_is_there()
    assert alone.keys() == with_it.keys()
    for part, said in with_it.items():
        assert alone[part] == said, part


EDITED = """
from course_lib import gpu, kernels
from course_lib.errors import CourseError
from course_lib.run import run
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


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_an_edited_kernel_is_refused_with_what_to_do(small, tmp_path):
    edited, other, architecture, option = without(tmp_path, small, "-c", EDITED).splitlines()
    assert "this text is none of them: it was edited" in edited
    assert "run `pip install cuda-bindings nvidia-cuda-nvrtc`" in edited
    assert "but not for sm_90 -DBK=32 -DBM=7 -DBN=32: take values that the kernel's sliders offer" in other
    assert "makes no code for sm_13" in architecture
    assert "but not for sm_90 -use_fast_math" in option


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_every_padding_of_lesson_06_is_there(small, monkeypatch):
    """The positions of a lesson's own sliders, which the catalog need not offer."""
    monkeypatch.setenv("COURSE_PRECOMPILED", str(small))
    kernel = ALL["transpose"]
    for tile in (8, 16, 32):
        for pad in range(9):
            options = tuple(nvrtc.define_options(kernel.defines(TILE=tile, PAD=pad)))
            assert archive.find(Request(kernel.source, kernel.file_name, "sm_90", options).key), (tile, pad)


@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_no_path_of_a_machine_is_in_it(small):
    places = re.compile(r"/(?:home|tmp|root|work|Users|usr|opt)/|site-packages|[A-Z]:\\\\")
    with zipfile.ZipFile(small) as made:
        for name in made.namelist():
            text = json.dumps(archive._unpacked(made.read(name)), ensure_ascii=False)
            assert not (found := places.search(text)), (name, text[found.start() - 80:found.end() + 80])


def nbval(notebook, tmp_path, made):
    """Run a lesson as `make notebooks` does, every output compared, without NVRTC."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--nbval", "--nbval-current-env", "--nbval-sanitize-with",
               ROOT / "tests/nbval_sanitize.cfg", "--nbval-cell-timeout", "300", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, notebook]
    environment = without_nvrtc.environment(tmp_path, COURSE_PRECOMPILED=str(made), COURSE_CACHE=str(tmp_path / "cache"))
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.exhaustive
@pytest.mark.timeout(1500)
def test_a_lesson_runs_without_nvrtc(small, tmp_path):
    nbval(ROOT / LESSON, tmp_path, small)


@pytest.mark.exhaustive
@pytest.mark.timeout(7200)
def test_every_lesson_and_kernel_runs_with_the_whole_archive(tmp_path_factory, tmp_path):
    whole = build(tmp_path_factory.mktemp("whole"))
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        nbval(notebook, tmp_path, whole)
    chosen = json.dumps({name: {} for name in ALL})
    alone = json.loads(without(tmp_path, whole, str(Path(what_it_says.__file__)), chosen, timeout=2000))
    with_it = json.loads(json.dumps(what_it_says.everything(json.loads(chosen))))
    assert {part: alone[part] for part in with_it} == with_it


# -- many kernels at once ------------------------------------------------------------------------------------------------
@pytest.mark.exhaustive
@pytest.mark.slow
def test_kernels_disassembled_together_read_as_alone(cache):
    for name in ("sgemm_2d_tile", "sgemm_wmma", "mxv_sh", "dgemm_outputs", "micro_fma"):
        kernel = ALL[name]
        for values in kernel.positions()[::40]:
            compile_cuda(kernel.source, name=kernel.file_name, defines=kernel.defines(**values))
    cubins = [cubin for _, _, cubin in stored_compilations()]
    assert len(cubins) > 10
    for cubin, texts in zip(cubins, code_texts(cubins, "sm_90"), strict=True):
        assert {name: read_back(text) for name, text in texts.items()} == disassemble_now(cubin)
