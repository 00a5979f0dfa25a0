"""Lesson 02: what it promises, and every number that its prose says."""

import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import my_course
import nbformat
import pytest
from cpu_tools import needs_c
from nbclient import NotebookClient

from course_lib import data
from course_lib.data.documents import LEE_CPU
from course_lib.errors import CourseError
from course_lib.lessons import cpu
from course_lib.lessons.cpu import here, loops, play, recorded
from course_lib.magic import from_cell
from course_lib.model import serial_share
from course_lib.model.cache_lines import CacheShape
from course_lib.run import CpuPeak, count_lines, matches, run_cpu
from course_lib.widgets.compute import inputs
from course_lib.widgets.cpu_threads import recorded_gains

ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "02_cpu.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))
READ_GB_S = 109


@pytest.fixture(scope="module")
def mine():
    """Return the worked loops of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


@pytest.fixture(scope="module")
def careless():
    return from_cell(CELLS["careless"])[1]


def said(*sentences):
    """Assert that the prose has all of these."""
    for sentence in sentences:
        assert sentence in PROSE, sentence


def test_the_worked_loops_are_right_on_every_input(mine):
    verdict = cpu.check(mine)
    assert verdict.passed
    assert repr(verdict).count("✓") == 4


def test_the_count_is_that_of_the_instrumented_program_and_of_the_formula(mine):
    lines = cpu.count(mine, N=128, cache=4096)
    assert lines == loops.count_blocks(16)
    assert lines.fetched == {"A": 8192, "B": 8192, "C": 1024}
    assert lines.per_multiply_add == cpu.lines_per_multiply_add(16, 128) == 1 / 128 + 1 / 2048
    assert round(lines.per_multiply_add, 4) == 0.0083
    said("8 × 8 × 8 = 512 products", "512 × 16 = 8,192", "With b = 16 and N = 128 it is 1/128 + 1/2048 = 0.0083")


@needs_c
def test_a_c_compiler_counts_and_computes_the_same(mine):
    A, B, _ = inputs(128, 128, 128)
    counted = count_lines(mine, A, B, cache=CacheShape(4096))
    assert counted.fetched == cpu.count(mine).fetched
    assert matches(run_cpu(mine, A, B, timed=False).C, A, B)


def test_ikj_fetches_sixteen_times_as_many_lines_of_b(mine):
    rows = cpu.beside_ikj(cpu.count(mine)).rows
    assert [row[3] for row in rows] == ["0.125", "16", "1", "7.65", ""]
    plain = loops.count_order("ikj")
    assert plain.fetched["B"] == 128 * 1024 == 131_072
    assert loops.count_blocks(16).fetched["A"] - plain.fetched["A"] == 7168
    assert plain.fetched["B"] - 8192 == 122_880
    said("131,072 in all", "You pay 7,168 lines more for A, and save 122,880 of B", "fetched 7.65 times fewer lines than ikj")


def test_what_the_controls_show():
    counted = {(b, kib): play.counted(b, 1024 * kib)[1].per_multiply_add for b in play.BLOCKS for kib in (4, 8, 16)}
    best = {kib: min(play.BLOCKS, key=lambda b: counted[b, kib]) for kib in (4, 16)}
    assert best == {4: 16, 16: 32}
    assert 7.5 < counted[32, 4] / counted[16, 4] < 8.5, "eight times as many"
    plain = loops.count_order("ikj").per_multiply_add
    assert counted[32, 4] > plain
    assert 10 < plain / counted[32, 8] < 11, "ten times fewer"
    assert 3 * 4 * 32 * 32 == 12 * 1024 > 8 * 1024, "and yet three blocks do not fit"
    assert loops.count_blocks(32, cache=8192).fetched["C"] == 4 * 1024, "C anew for each k0"
    assert counted[4, 4] > 2 * float(cpu.lines_per_multiply_add(4, 128))


def test_the_table_of_blocks_is_the_counts_and_the_formula():
    rows = cpu.block_sizes().rows
    assert [row[2] for row in rows] == ["0.0786", "0.0239", "0.0083", "0.0664", "0.0645", "0.0635"]
    assert [row[3] for row in rows] == ["0.0317", "0.0161", "0.0083", "0.0044", "0.0024", ""]
    assert [row[1] for row in rows] == ["64", "256", "1,024", "4,096", "16,384", "65,536"]


def test_a_picture_of_the_controls_says_its_numbers():
    ax, alt = play.picture(play.counted(16, 4096))
    assert [round(bar.get_width(), 4) for bar in ax.patches] == [0.0635, 0.0083, 0.0083]
    assert alt.endswith("without blocks 0.0635, 16 × 16 0.0083, if blocks fit 0.0083.")
    assert max(loops.count_order("ikj", cache=1024 * kib).per_multiply_add for kib in (1, 2)) < ax.get_xlim()[1], "every position fits"
    assert play.facts(play.counted(16, 4096))["lines per multiply-add"] == "0.0083"


def test_the_controls_move():
    box = cpu.block_sliders()
    box.boxes["b"].value = 32
    assert box.engine.settle(30)
    assert "b = 32, cache = 4 KiB" in box.status.value
    assert "0.0664" in box.table.value
    box.close()


def test_the_mistake_shows_only_with_more_than_one_block(careless):
    found = repr(cpu.check(careless))
    assert "0 of 4 inputs right" in found
    assert "The sums begin at k = 16" in found
    small = loops.spec_of(loops.Case("small", 16, 16, 16), 4096)
    trial = small.operation.trial(small.gate_case({}))
    loops.run_loops(careless, trial, small, loops.Here())
    assert small.operation.judge(trial) is None, "16 × 16 is right"
    assert cpu.check(careless.replace("C(i, j) = sum", "C(i, j) += sum")).passed, "one character repairs it"


def test_without_blocks_a_line_of_b_serves_one_row():
    said("482 ms on one core", "The library behind NumPy needs 144 ms", "A matrix of 2048 × 2048 floats has 16 MiB")
    assert round(1e3 * recorded.row("gemm_ikj", 2048)["best_s"]) == 482
    assert round(1e3 * recorded.row("blas", 2048)["best_s"]) == 144
    assert 4 * 2048**2 == 16 * 2**20


def test_the_caches_are_those_of_the_recorded_core():
    assert [(r["kib"], r["ways"]) for r in recorded.recording().find(what="cache")] == [(48, 12), (1024, 16), (32768, 16)]
    said("48 KiB, 1 MiB, and 32 MiB", "24 KiB, 384 KiB, 6 MiB or 96 MiB", "48 KiB with 12 lines per set")
    assert list(recorded.peak().bandwidth) == [24, 384, 6144, 98304]
    assert round(recorded.peak().bandwidth[6144]) == READ_GB_S


def test_the_time_does_not_follow_the_lines():
    ms = {key: cpu.recorded_ms(*key) for key in ((16, 16, 16), (256, 16, 16), (256, 2048, 16))}
    assert list(ms.values()) == [2029, 1748, 276]
    assert 4 < ms[16, 16, 16] / 482 < 4.5, "four times slower"
    lines = float(cpu.lines_per_multiply_add(16, 2048))
    gigabytes = 64 * lines * 2048**3 / 1e9
    assert (round(lines, 4), round(gigabytes, 1), round(1e3 * gigabytes / recorded.peak().bandwidth[6144])) == (0.0078, 4.3, 40)
    said("0.0078 lines", "4.3 GB in all", "109 GB/s from its third cache", "there in 40 ms, and the loops take 2029",
         "from 1748 to 276 ms", "1.74 times as fast as ikj")
    table = cpu.block_times()
    assert [row[3] for row in table.rows] == ["482", "2029", "1077", "741", "534", "401", "391", "1748", "756", "445", "276"]
    assert table.rows[-1][4] == "1.74"
    assert "AMD EPYC, 2026-11-23" in table.caption


def test_vectors_make_ikj_three_times_as_fast():
    us = {(r["kernel"][-3:], r["vectors"]): 1e6 * r["best_s"] for r in recorded.recording().find(what="vectors", N=48)}
    assert (f"{us['ikj', False]:.1f}", f"{us['ikj', True]:.1f}", f"{us['ijk', True]:.1f}") == ("32.0", "10.7", "32.2")
    assert 3 * 4 * 48**2 < 48 * 1024, "the first cache"
    said("ikj takes 32.0 µs instead of 10.7, and ijk takes 38.4 instead of 32.2", "three times as fast")
    assert f"{us['ijk', False]:.1f}" == "38.4"
    assert us["ikj", False] / us["ikj", True] == pytest.approx(3, rel=0.02)


def test_a_block_of_b_wants_one_set_of_the_first_cache():
    first = CacheShape(48 * 1024, ways=12)
    assert (first.sets, first.sets * first.line) == (64, 4096)
    assert {row * 4 * 2048 // first.line % first.sets for row in range(16)} == {0}
    assert len({row * 4 * 2064 // first.line % first.sets for row in range(16)}) == 16, "rows of 2064 elements spread over the sets"
    said("64 *sets* of 12 lines", "4 KiB apart share one", "rows of our matrices are 8 KiB apart", "Rows of 2064 elements")


def test_the_scoreboard_is_the_recording():
    rows = cpu.scoreboard().rows
    assert [row[1] for row in rows] == ["72,730", "482", "276", "404", "154", "144"]
    assert [row[3] for row in rows] == ["0.2%", "29.8%", "52.0%", "35.6%", "93.4%", "100.0%"]
    peak = recorded.peak()
    library = recorded.gflops(recorded.row("blas", 2048))
    assert (round(peak.gflops), round(peak.by_vector[32]), peak.vector) == (249, 125, 64)
    assert round(100 * library / peak.by_vector[32]) == 95
    assert 2 < peak.gflops / library < 2.2, "only twice the library's speed"
    assert round(72.73 / recorded.row("blas", 2048)["best_s"]) == 506
    assert "Haswell" in recorded.recording().find(what="library")[0]["text"]
    said("registers without blocks take 404 ms", "we reach 154 ms, and 93.4 %", "We measured 249 GFLOP/s", "gives 125 GFLOP/s",
         "95 % of that", "from 72.7 seconds to 0.144", "506 times faster", "come to 93 % of the library")


def test_an_h200_multiplies_the_same_matrices():
    found, = data.load("ladder").find("cuBLAS", 2048)
    assert found.device == "NVIDIA H200"
    said(f"multiplies the same matrices in {1e3 * found.median_s:.2f} ms")


def test_no_recording_lies_above_a_roof_that_it_is_printed_beside():
    """Every recorded speed of a CPU: below its own machine's roofs, or printed beside none."""
    peak, roofed = recorded.peak(), recorded.recording()
    programs = roofed.find(what="program")
    assert len(programs) == 22
    assert all(recorded.gflops(r) < peak.gflops for r in programs)
    assert 3 * 4 * 256**2 == 768 * 1024 < 1024 * 1024, "the second cache"
    assert list(peak.bandwidth.values()) == sorted(peak.bandwidth.values(), reverse=True)
    for name, (intensity, gflops) in recorded.points().items():
        size = 24 if name == "blas" else 384
        assert gflops < peak.bound(intensity, size), f"{name} above the roof of {size} KiB"
    for name in data.names():
        found = [r for r in data.load(name).records if r.backend == "cpu"]
        assert not found or {r.device for r in found} != {roofed.device}, f"{name}.json: hold it to the roof of the same CPU"


def test_widths_of_vectors_are_a_factor_of_two_apart():
    """What the peak of a core is made of; a peak that was measured while the core was busy would show here."""
    by_vector = recorded.peak().by_vector
    assert by_vector[32] / by_vector[16] == pytest.approx(2, rel=0.01)
    assert by_vector[64] / by_vector[32] == pytest.approx(2, rel=0.01)


@needs_c
@pytest.mark.slow
def test_the_recorded_lines_are_the_programs():
    A, B, _ = inputs(256, 256, 256)
    for row in recorded.recording().find(what="program", N=256):
        if "lines" in row:
            assert count_lines(row["kernel"], A, B, cache=CacheShape(48 * 1024, ways=12)).total == row["lines"]


def test_the_roofline_draws_what_was_recorded():
    alt = cpu.roofline().alt
    assert alt.startswith("Roofline: 249 GFLOP/s at most")
    assert all(name in alt for name in ("gemm_ijk", "gemm_ikj", "gemm_blocked", "blas"))
    intensity, gflops = recorded.points()["gemm_ijk"]
    assert gflops < recorded.peak().bound(intensity, 384) / 2, "far below its roof"


def peak_of(gflops):
    return CpuPeak("float32", 1, gflops, 32, {24: 100.0}, "made up")


def results(*speeds):
    return [SimpleNamespace(kernel=SimpleNamespace(name=name), gflops=speed) for name, speed in speeds]


@needs_c
def test_a_program_above_the_peak_has_the_peak_measured_again():
    peaks = iter([58.0, 60.0, 90.0])
    found, _ = here.under_a_roof(64, measure_peak=lambda: peak_of(next(peaks)), measure=lambda *_, **__: results(("blas", 78.9)))
    assert found.gflops == 90


@needs_c
def test_a_peak_that_stays_too_low_is_refused(capsys, monkeypatch):
    with pytest.raises(CourseError, match="blas: 79 GFLOP/s, and the peak was measured as 58. Nothing is faster than a peak"):
        here.under_a_roof(64, measure_peak=lambda: peak_of(58.0), measure=lambda *_, **__: results(("gemm_ikj", 20.0), ("blas", 78.9)))


@pytest.mark.parametrize("show", [cpu.measured, cpu.measured_roofline, cpu.thread_sliders])
def test_without_a_compiler_the_lesson_says_so(show, monkeypatch, capsys):
    for module in (here, cpu.thread_sliders.__globals__):
        target = module if isinstance(module, dict) else vars(module)
        monkeypatch.setitem(target, "no_compiler", lambda: "there is no C compiler")
    assert show() is None
    assert "there is no C compiler" in capsys.readouterr().out


@needs_c
def test_this_machine_is_measured(monkeypatch):
    monkeypatch.setattr(here, "PROGRAMS", ("gemm_ikj", "blas"))
    table = here.measured(N=64)
    assert table is None or [row[0] for row in table.rows][-1] == "blas"


def test_amdahls_shares():
    gains = recorded_gains(data.load("threads"))
    shares = {count: serial_share(gains["gemm_packed"][count], count) for count in (2, 8)}
    assert [round(share, 3) for share in shares.values()] == [0.017, 0.190]
    said("0.017 with two threads, and 0.190 with eight")
    assert serial_share(gains["gemm_pthreads"][2], 2) < 0
    assert "2.22, s = -0.101" in cpu.serial_shares().rows[0]
    assert "gemm_packed 2.0 with 2" in cpu.gains().alt


def test_a_race_loses_additions_and_one_thread_does_not():
    race = from_cell(CELLS["racing"])[1]
    try:
        assert cpu.lost_additions(race, threads=1, runs=2) == [0, 0]
    except CourseError as error:
        pytest.skip(str(error))


def test_the_slides_gains():
    rows = cpu.slides().rows
    assert [row[1] for row in rows] == ["1.5", "3.2", "3.1", "4.3", "3.9"]
    assert [row[2] for row in rows] == ["0.7", "1.3", "2.2", "6.1", "6.4"]
    assert LEE_CPU.column("AVX")[256] > LEE_CPU.column("CPU")[256], "at 256 vectors lose"
    said("gain about 4 from N = 1024 on", "gain up to 6.4 of 8 possible")
    found = {(r.kernel, r.N): r for r in data.load("lee_cpu").records}
    assert round(1e3 * found["gemm_pthreads", 256].median_s) == 4
    assert round(1e3 * found["gemm_openmp", 256].high_s) == round(1e3 * found["gemm_openmp", 512].high_s) == 8


@pytest.mark.slow
def test_run_all_reaches_the_end_of_a_readers_blank_copy(tmp_path):
    copied, _ = my_course.reader_copy(LESSON.read_bytes(), "notebooks/02_cpu.ipynb")
    copy = nbformat.reads(copied.decode(), as_version=4)
    client = NotebookClient(copy, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(LESSON.parent)}})
    client.execute(env=os.environ | {"COURSE_BACKEND": "sim", "WARP_BY_WARP_HOME": str(tmp_path)})
    told = {cell.id: str(cell.get("outputs")) for cell in copy.cells}
    for cell in ("mine", "check", "reveal", "beside"):
        assert "blocked is not written yet" in told[cell], cell
    assert "8192" not in told["reveal"]
    assert "The sums begin at k = 16" in told["wrong"]
