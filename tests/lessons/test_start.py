"""Lesson 00: what it promises, and every number that its prose says."""

import json
import os
import re
import threading
from pathlib import Path

import nbformat
import numpy as np
import pytest
from differences import APART, CALLS, COUNTS
from matplotlib.colors import to_hex
from nbclient import NotebookClient

from course_lib import cp, data, simt
from course_lib.arch import device
from course_lib.errors import CourseError
from course_lib.explorables.race import LIBRARY, NAMES, RIVALS, SIDE, N, states
from course_lib.gpu import GpuStatus
from course_lib.lessons import start
from course_lib.lessons.start.climb import recorded_product
from course_lib.lessons.start.pictures import describe_second, draw_second, draw_threads
from course_lib.magic import from_cell
from course_lib.plots.style import BLUE, GREEN, VERMILION
from course_lib.run import run
from course_lib.widgets.prediction import compare
from tools import my_course

LESSON = Path(__file__).resolve().parents[2] / "notebooks" / "00_start_here.ipynb"
CELLS = json.loads(LESSON.read_text(encoding="utf-8"))["cells"]
PROSE = " ".join(" ".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown").split())
NOTES, README = ((LESSON.parents[1] / page).read_text(encoding="utf-8") for page in ("docs/lecturing/00_start_here.md", "README.md"))
CODE = {cell["id"]: "".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"}
QUESTIONS = Path(start.__file__).with_name("questions_00.toml").read_text(encoding="utf-8")
FFMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
MS = {kernel: 1e3 * recorded_product(kernel).median_s for kernel in NAMES}


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture
def twice():
    """The kernel that the reader writes."""
    return from_cell(CODE["kernel"])[1]


def test_the_kernel_doubles_and_is_counted_as_the_prose_says(twice):
    x = cp.asarray(np.arange(8, dtype=np.float32))
    cp.RawKernel(twice, "twice")((1,), (8,), (x,))
    assert x.get().tolist() == [2 * n for n in range(8)]
    table = start.counted(cp.last_launch())
    moved = [("pieces of 32 bytes loaded", 1), ("bytes in the pieces loaded", 32),
             ("pieces of 32 bytes stored", 1), ("bytes in the pieces stored", 32)]
    assert [tuple(row) for row in table.rows] == [("threads", 8), *moved]
    assert "simulated" in table.caption
    assert "Eight numbers of four bytes fill exactly one piece, which was loaded once and stored once." in PROSE
    cp.RawKernel(twice, "twice")((1,), (4,), (x,))
    assert [tuple(row) for row in start.counted(cp.last_launch()).rows] == [("threads", 4), *moved]
    assert "Its first row says 4, because four threads ran. The others do not change: there is still one piece of 32 bytes loaded, " \
        "and one stored." in PROSE
    cp.RawKernel(twice, "twice")((1,), (9,), (cp.asarray(np.arange(16, dtype=np.float32)),))
    assert [row[1] for row in start.counted(cp.last_launch()).rows] == [9, 2, 64, 2, 64]
    assert "Launch 4 threads: the rows of bytes still say 32." in NOTES
    assert "With 9 threads (and a longer array) it says 64." in NOTES


def test_the_simulator_is_made_ready_and_says_so_when_it_takes_long(capsys):
    start.prepare_simulator()
    assert capsys.readouterr().out.splitlines()[-1] == "The simulator is ready."
    ended = threading.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("course_lib.simt.host.ahead.library.runtime", lambda: ended.wait(30))
        simt.prepare_runtime(ended.set, patience_s=0.01)
    assert ended.is_set(), "it was said before the work was done"
    assert "start.prepare()" in CODE["probe"]


@pytest.mark.parametrize(("usable", "driver", "said"), [
    (False, False, "No GPU was found, and this lesson needs none."),
    (False, True, "It is all that this lesson needs. A GPU is not used here: CuPy is missing."),
    (True, True, "It is all that this lesson needs. A GPU works here, too: CuPy is missing.")])
def test_who_has_a_driver_is_told_why_the_gpu_is_not_used(monkeypatch, capsys, usable, driver, said):
    monkeypatch.setattr(start.labels.gpu, "probe", lambda: GpuStatus(usable, "CuPy is missing"))
    monkeypatch.setattr(start.labels, "_has_driver", lambda: driver)
    start.prepare()
    assert capsys.readouterr().out.splitlines() == ["The simulator is ready.", said]


def test_sixteen_threads_are_refused_and_the_repair_helps(twice):
    x = cp.asarray(np.arange(8, dtype=np.float32))
    with pytest.raises(CourseError, match=r"line \d: thread \(8, 0, 0\) of block \(0, 0, 0\) reads x\[8\], but x has 8 elements"):
        cp.RawKernel(twice, "twice")((1,), (16,), (x,))
    assert "Thread 8 asked for `x[8]`" in PROSE
    assert "The message calls it thread (8, 0, 0)" in PROSE
    repaired = twice.replace("x[threadIdx.x] = 2", "if (threadIdx.x < 8) x[threadIdx.x] = 2")
    kernel = cp.RawKernel(repaired, "twice")
    kernel((1,), (8,), (x,))
    assert CODE["mistake"].splitlines() == ["kernel((1,), (16,), (x,))", "x.get()"]
    kernel((1,), (16,), (x,))
    assert x.get().tolist() == [4 * n for n in range(8)]
    assert "doubled twice, once by each launch: 0, 4, 8, and so on" in PROSE


def test_a_second_block_doubles_the_same_numbers(twice):
    x = cp.asarray(np.arange(8, dtype=np.float32))
    cp.RawKernel(twice, "twice")((2,), (8,), (x,))
    assert x.get().tolist() == [4 * n for n in range(8)], "on the simulator, one block after the other; on a GPU nobody knows"
    assert "Both double the same eight numbers, because `threadIdx.x` begins at 0 in each." in NOTES


def test_the_line_that_is_told_is_the_one_that_is_missing():
    line = "x[threadIdx.x] = 2 * x[threadIdx.x];"
    assert f"`{line}`" in PROSE
    assert line in CODE["kernel"]


def test_the_climb_is_the_recording():
    rows = start.climb().rows
    assert [row[0] for row in rows] == list(NAMES.values())
    for kernel, (_, lesson, ms, share) in zip(NAMES, rows, strict=True):
        assert ms == f"{MS[kernel]:.1f}"
        assert share == f"{100 * MS[LIBRARY] / MS[kernel]:.0f}"
        assert bool(lesson) is (kernel != LIBRARY)
    tiles = {name: data.load("ladder").find(kernel, N)[0].parameters for kernel, name in NAMES.items()}
    for name in ("1D tile", "2D tile"):
        assert f"*{name}*" in PROSE
        assert "with {BM} × {BN}".format(**tiles[name]) in PROSE
    for record in data.load("ladder").records:
        assert record.gflops == pytest.approx(2e-9 * record.N**3 / record.median_s, rel=1e-3)


def test_the_library_does_the_same_arithmetic_and_one_multiply_add_more_per_element():
    (row,) = data.readings("library").find(N=N)
    assert row["multiply_adds"] == N**3 + N**2
    assert (row["additions"], row["multiplications"]) == (0, 0)
    assert f"For cuBLAS it was NVIDIA's *profiler*, a program that counts what a kernel does on a real GPU. It counted at N = {N}." in PROSE
    assert "each of the 13 kernels does N · N · N multiplications and as many additions to form the sums of products" in PROSE


def test_the_twelve_kernels_do_the_same_arithmetic_and_the_prose_says_how_far_apart_they_are():
    for side in (128, 256):                # one block of the largest tiles, and four
        A, B = np.random.default_rng(0).standard_normal((2, side, side), dtype=np.float32)
        done = {kernel: run(kernel, A, B, backend="sim").counters for kernel in RIVALS}
        assert {counters[FFMA] for counters in done.values()} == {side**3 + side**2}, "the product, and alpha times each sum"
        assert {counters[FFMA.replace("ffma", other)] for counters in done.values() for other in ("fadd", "fmul")} == {0}
    assert len(RIVALS) == 12
    assert "At N = 128 and 256 it counted exactly N · N · N of each for the product, and one more of each per element of C." in PROSE
    slow, fast = max(map(MS.get, RIVALS)), min(map(MS.get, RIVALS))
    assert (MS["sgemm_swapped"], MS["sgemm_warp_tile"]) == (slow, fast)
    assert f"*swapped* takes {slow:.1f} ms for one product, and *warp tile* takes {fast:.1f} ms." in PROSE
    assert f"So *swapped* takes {slow / fast:.0f} times as long" in PROSE
    assert f"can take {slow:.1f} ms or {fast:.1f} ms" in PROSE


def test_the_counts_beside_the_profiler_are_those_of_the_documentation():
    page = (LESSON.parents[1] / "docs" / "simulator-hardware.md").read_text(encoding="utf-8")
    assert "| 1331 counters | Nsight Compute's readings | 1306 |" in page
    assert len(COUNTS) == 11
    assert "for 121 small kernels on an H200. For 110 of them all counts are equal." in PROSE
    assert "In the other eleven some counts differ. One of these prints text, for example, and in eight some threads take" in PROSE
    assert "prints" in COUNTS
    assert sum(reason in (APART, CALLS) for reason, _ in COUNTS.values()) == 8
    assert "Of 121 kernels that we compared with the profiler of an H200, eleven have counts that differ" in QUESTIONS


def test_a_picture_shows_each_thread_and_where_it_points():
    words = [text.get_text() for text in draw_threads(16).texts]
    assert words.count("?") == 8
    assert [word for word in words if word.startswith("x[")] == [f"x[{i}]" for i in range(8)]
    assert [int(word) for word in words if word.isdigit()] == list(range(16))
    assert "?" not in [text.get_text() for text in draw_threads(8).texts]


def test_a_picture_shows_the_products_of_one_second():
    ax = draw_second(0.64)
    words = [text.get_text() for text in ax.texts]
    assert "each small square is one product" in ax.get_title("left")
    assert [word.splitlines()[0] for word in words[2::3]] == ["calculated from one product,"] * 3
    assert words[1::3] == ["1.6 per second", *(f"{int(1000 / MS[kernel])} per second" for kernel in ("sgemm_naive", LIBRARY))]
    areas = {}
    for patch in ax.patches:
        colour = to_hex(patch.get_facecolor(), keep_alpha=True)
        areas[colour] = areas.get(colour, 0) + patch.get_width() * patch.get_height()
    drawn = [areas[to_hex(colour, keep_alpha=True)] for colour in (GREEN, VERMILION, BLUE)]
    assert drawn == pytest.approx([1 / 0.64, 1000 / MS["sgemm_naive"], 1000 / MS[LIBRARY]])
    assert "1.6 by NumPy on this computer, 39 by the naive kernel and 371 by cuBLAS" in describe_second(0.64)
    with pytest.raises(CourseError, match="run the cell that measures it again"):
        start.one_second(0)


def test_the_prose_says_what_was_recorded():
    assert f"cuBLAS finishes {int(1000 / MS[LIBRARY])} products and the naive kernel {int(1000 / MS['sgemm_naive'])}" in PROSE
    apart = f"{MS['sgemm_naive'] / MS[LIBRARY]:.1f}"
    assert f"The naive kernel takes {apart} times as long as cuBLAS." in PROSE
    closest = min(RIVALS, key=MS.get)
    assert f"reaches {100 * MS[LIBRARY] / MS[closest]:.0f} % of the library's speed in this recording. It is in lesson 15" in PROSE
    assert NAMES[closest] == "warp tile"
    slower = {NAMES[kernel]: MS[kernel] / MS["sgemm_naive"] for kernel in RIVALS if MS[kernel] > MS["sgemm_naive"]}
    assert set(slower) == {"swapped", "coalesced"}
    assert f"`swapped` takes {slower['swapped']:.1f} times as long as the naive kernel, and" in PROSE
    assert f"`coalesced` takes {slower['coalesced']:.1f} times as long (yes, in spite of its name: lesson 05 says why)." in PROSE


def test_the_notes_and_the_front_page_say_what_was_recorded():
    naive, library, slow, fast = MS["sgemm_naive"], MS[LIBRARY], MS["sgemm_swapped"], MS["sgemm_warp_tile"]
    in_one_second = {NAMES[kernel]: int(1000 / ms) for kernel, ms in MS.items()}
    share = {NAMES[kernel]: f"{100 * library / ms:.0f}" for kernel, ms in MS.items()}
    assert f"{naive:.1f} / {library:.2f} is {naive / library:.1f}." in NOTES
    assert f"({in_one_second['cuBLAS']} / {in_one_second['naive']} gives {in_one_second['cuBLAS'] / in_one_second['naive']:.1f}," in NOTES
    assert f"*warp tile*, {in_one_second['warp tile']} of {in_one_second['cuBLAS']}, is at {share['warp tile']} %" in NOTES
    assert f"*double buffered*, {in_one_second['double buffered']}, at {share['double buffered']} %" in NOTES
    assert f"{MS['sgemm_coalesced']:.1f} ms and {MS['sgemm_uncoalesced']:.1f} ms" in NOTES
    assert f"Same matrices, same GPU: {naive:.1f} ms or {library:.1f} ms." in README
    assert f"can take {slow:.1f} ms or {fast:.1f} ms" in NOTES
    assert f"Two kernels after {naive:.1f} ms" in README
    assert "has finished nine](docs/img/race.png)" in README
    assert int(naive / library) == 9


def test_the_prose_and_the_notes_say_how_the_order_was_recorded():
    order, gpu = data.readings("filling"), device("H200")
    fills = {row["kernel"]: np.sort(row["filled_us"]) / row["watched_us"] for row in order.rows}
    assert order.device == f"NVIDIA {gpu.name}"
    assert f"Each small cell of a square stands for {N // SIDE} × {N // SIDE} elements of C, and fills" in PROSE
    assert len(fills[LIBRARY]) == SIDE**2
    assert f"(H200, {order.date}; a block of threads on one multiprocessor read {SIDE} × {SIDE} elements of C" in NOTES
    longer = max(row["watched_us"] / row["alone_us"] - 1 for row in order.rows)
    assert f"took at most {100 * longer:.1f} % longer beside it" in NOTES
    begins = {lane["name"]: lane["begins"] for lane in states()["lanes"]}
    assert {name for name, side in begins.items() if side == "left"} == {"swapped", "cuBLAS"}
    assert "Eleven kernels do. Choose *swapped*" in NOTES
    assert list(begins.values()).count("top") == 11
    steps = np.flatnonzero(np.diff(fills[LIBRARY]) > 0.1) + 1
    assert len(steps) + 1 == 4
    assert "So does cuBLAS, in four steps." in NOTES
    assert f"None of its {SIDE**2} elements got a number in the first {int(100 * fills[LIBRARY][0])} % of the time" in NOTES
    assert sum(part < 0.28 for part in fills[LIBRARY]) == steps[0]
    assert f"Before 28 % have passed, {steps[0]} of them have one." in NOTES
    assert fills[LIBRARY][steps[0] - 1] - fills[LIBRARY][0] < 0.01


def test_no_recording_is_faster_than_the_modelled_limit():
    assert 1e3 * start.least_s() < min(MS.values())
    gpu = device("H200")
    assert gpu.peak_gflops == pytest.approx(132 * 128 * 2 * 1.98)
    assert f"can do at most {gpu.peak_gflops:,.0f} billion of these per second" in PROSE
    assert f"{gpu.peak_gflops:,.0f} billion operations per second" in PROSE
    assert f"an H200 has {gpu.sms} [multiprocessors](glossary.md#multiprocessor) (*SMs*) with {gpu.cores_per_sm} *cores* each" in PROSE
    assert f"{gpu.clock_mhz / 1000:.2f} billion times per second" in PROSE
    assert f"at least {1e3 * start.least_s():.2f} ms" in PROSE
    assert f"{gpu.bandwidth_gb_s:,.0f} GB/s · 2 / 8 = {gpu.bandwidth_gb_s * 2 / 8:,.0f} billion" in PROSE
    assert f"The naive kernel reaches about {round(recorded_product('sgemm_naive').gflops, -2):,.0f} billion." in PROSE


def test_the_readers_own_time_stands_beside_the_recorded_ones():
    table = start.beside(1.5)
    assert [row[0] for row in table.rows] == ["1,500.0", "25.4", "2.69", "2.05"]
    assert [row[2].partition(" ")[0] for row in table.rows] == ["measured", "recorded", "recorded", "modelled"]
    assert (start.faster(1.5, LIBRARY), start.faster(1.5, "sgemm_naive")) == (557, 59.1)
    assert "557 times as fast" in compare(None, start.faster(1.5, LIBRARY), "times as fast"), "tests/nbval_sanitize.cfg hides this number"
    with pytest.raises(CourseError, match="run the cell that measures it again"):
        start.beside(0)


def test_the_reader_takes_the_smallest_of_three_times():
    assert "range(3)" in CODE["measure"]
    assert "seconds = min(times)" in CODE["measure"]
    assert "The cell makes three products and takes the smallest time" in PROSE


def test_the_readers_times_are_told_with_the_cpu(capsys):
    start.tell([0.7, 0.75, 0.8])
    first, = capsys.readouterr().out.splitlines()
    assert first.startswith("One product with NumPy: 0.7 s, 0.75 s, 0.8 s, measured on ")
    assert re.search(r", \d+ logical cores?\.$", first)
    start.tell([0.7, 0.75, 0.9])
    assert "differ by more than 20 %" in capsys.readouterr().out.splitlines()[1]


def test_the_matrices_of_the_reader_are_those_of_the_race():
    assert CODE["measure"].count(f"({N}, {N}), dtype=np.float32") == 2
    assert f"with {N} rows and columns each" in PROSE


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    made, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/00_start_here.ipynb")
    copy = nbformat.reads(made.decode(), as_version=4)
    for cell in copy.cells:                # it is to fail, and stops "Run All" in JupyterLab, too
        cell.metadata.pop("tags", None)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    said = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("kernel", "launch", "counted", "mistake"):
        assert "twice is not written yet" in said[cell], cell
    assert "ms per product" in said["climb"]
