"""What is recorded of products of short numbers."""

from course_lib.bench.fingerprint import fingerprint_of
from course_lib.data import readings
from course_lib.kernels import get
from tools.record import short


def test_every_contestant_covers_c():
    for one in short.contestants():
        if one.setting is None and one.kernel != "cuBLAS":
            kernel = short.kernel_of(one.kernel)
            values = kernel.check(**one.parameters, **({"blocks": 132} if kernel.boxes else {}))
            across, down, _ = kernel.grid(short.N, short.N, **values)
            assert kernel.boxes or across * values["BN"] == down * values["BM"] == short.N


def test_what_a_reader_writes_is_what_the_lesson_has():
    assert "for (int k = 0; k < K; k += 8)" in short.kernel_of("warp_mma").source
    assert "TM * ty + i" in short.kernel_of("column").source


def test_the_recording_is_of_these_kernels_and_all_are_right():
    found = readings("short")
    assert {name: fingerprint_of(get(name)) for name in found.sources} == found.sources
    told = [(row["given"], row["kernel"], row["wrong"]) for row in found.rows]
    assert told == [(one.given, one.kernel, 0) for one in short.contestants()]
