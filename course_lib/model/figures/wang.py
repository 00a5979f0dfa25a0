"""The figures of Wang and Jin's report, one GPU of a Tesla K80, float64."""

from collections.abc import Iterator

from course_lib.arch import device
from course_lib.data import documents
from course_lib.model.figures import ABOUT, CUT, ROUTE, Figure
from course_lib.model.roofline import elements_per_second, operations_per_element, peak
from course_lib.model.tiles import outputs_per_thread, tile_bytes, waste

K80 = device("Tesla K80")


def _row(place, what, printed, exact, function, **more):
    return Figure("W", place, what, printed, exact, f"model.{function}", **more)


def rows() -> Iterator[Figure]:
    """Yield the Figures."""
    yield from _shape()
    yield from _speed_ups()
    yield from _roofline()


def _shape():
    yield _row("Q1.a", "outputs per thread, 64 x 64 tile, 16 x 16 threads", "16", outputs_per_thread(64, 64, 16, 16),
               "tiles.outputs_per_thread")
    yield _row("Q1.b", "outputs per thread, 32 x 32 tile, 32 x 8 threads", "4", outputs_per_thread(32, 32, 32, 8),
               "tiles.outputs_per_thread")
    yield _row("Algorithm 1", "elements of a[64][16]", "1024", tile_bytes(64, 0, 16, 1), "tiles.tile_bytes",
               remark="printed as the array's sizes")
    yield _row("Algorithm 1", "elements of c[0:15]", "16", outputs_per_thread(64, 64, 16, 16), "tiles.outputs_per_thread")
    for n in (256, 512, 768, 1024, 1536, 2048):
        yield _row("Q4.c", f"work beyond N = {n} that the 64 x 64 tiles do", "0%", waste(n, 64), "tiles.waste",
                   remark="\"in these Ns, we do not need to do extra calculations\"")


def _speed_ups():
    best, naive = documents.WANG_3.column("best"), documents.WANG_3.column("naive")
    yield _row("Q3.a", "speed-up over naive at N = 256", "4", best[256] / naive[256], "lee.speed_ups")
    for n in (512, 1024, 2048):
        yield _row("Q3.a", f"speed-up over naive at N = {n}, \"around 8\"", "8", best[n] / naive[n], "lee.speed_ups")
    ours, blas = documents.WANG_4.column("16 x 8"), documents.WANG_4.column("BLAS")
    yield _row("Q4.b", "N = 256 against N = 1024, 16 x 8, \"about 50%\"", "50%", ours[256] / ours[1024], "lee.speed_ups",
               how=ABOUT, remark="51.8 % with 16 x 8 threads, 60.4 % with 16 x 16")
    yield _row("Q4.b", "the same for BLAS, \"only 10%\"", "10%", blas[256] / blas[1024], "lee.speed_ups",
               how=ABOUT, remark="7.9 %")
    yield _row("Q1.b", "gain of 32 x 32 tiles over naive at N = 1024, GFLOP/s, \"near 200\"", "200", 270 - naive[1024],
               "lee.speed_ups", how=ABOUT, remark="270 less 90.2")


def _roofline():
    top = peak(K80, double=True)
    yield _row("Q5.a", "10^9 doubles a second at 240 GB/s", "30", elements_per_second(240), "elements_per_second")
    yield _row("Q5.a", "peak GFLOP/s: 13 SMX, 64 units, 2 operations, 823.5 MHz", "1370", top, "peak")
    yield _row("Q5.a", "q at the knee, operations a double", "45.6", operations_per_element(top, 240), "operations_per_element", how=CUT,
               remark="1370 / 30 = 45.67, the last digit dropped")
    yield _row("Q5.b", "q at 693 GFLOP/s", "23.1", operations_per_element(693, 240), "operations_per_element")
    yield _row("Q5.b", "10^9 doubles a second at 154 GB/s", "19", elements_per_second(154), "elements_per_second")
    yield _row("Q5.b", "q at the knee with 154 GB/s", "72.1", operations_per_element(top, 154), "operations_per_element", how=ROUTE,
               route=1370 / 19, remark="154 / 8 = 19.25 was rounded to 19")
    yield _row("Q5.b", "q at 693 GFLOP/s with 154 GB/s", "36.5", operations_per_element(693, 154), "operations_per_element", how=ROUTE,
               route=693 / 19, remark="154 / 8 = 19.25 was rounded to 19")
