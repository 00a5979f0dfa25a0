"""What is recorded of a producer that is there and one that is not."""

import numpy as np
import pytest

from course_lib.bench.fingerprint import fingerprint
from course_lib.data import readings
from course_lib.kernels import get
from course_lib.run import run
from tools.record import roles


@pytest.mark.slow
def test_without_its_producer_the_kernel_does_the_same():
    rng = np.random.default_rng(18)
    A, B = rng.standard_normal((200, 200), np.float32), rng.standard_normal((200, 264), np.float32)
    both = get("sbgemm_tma"), roles.without_producer()
    with_it, without = (run(kernel, A, B, backend="sim", BN=256, STAGES=3, blocks=2) for kernel in both)
    assert np.array_equal(with_it.C, without.C)
    assert with_it.counters["smsp__sass_inst_executed_op_tma_ld.sum"] > 0
    differ = {name for name, count in with_it.counters.items() if without.counters[name] != count}
    assert differ == {"smsp__inst_executed.sum", "smsp__sass_branch_targets_threads_divergent.sum", "instructions_mbarrier"}
    assert roles.without_producer().block(**get("sbgemm_tma").check()) == (256, 1, 1)


@pytest.mark.slow
def test_the_variants_are_right():
    rng = np.random.default_rng(19)
    A, B = rng.standard_normal((130, 200), np.float32), rng.standard_normal((200, 264), np.float32)
    plain = run("sbgemm_tma", A, B, backend="sim", BN=256, STAGES=3, blocks=2).C
    for _, stages, kernel in roles.variants():
        assert np.array_equal(run(kernel, A, B, backend="sim", BN=256, STAGES=stages, blocks=2).C, plain)


def test_every_row_is_right_and_of_the_text_that_is_here():
    found = readings("roles")
    told = [(row["N"], row["kernel"], row["parameters"].get("STAGES"), "without_producer" in row, row.get("variant")) for row in found.rows]
    first = [("cuBLAS", None, False, None), ("sbgemm_stages", 3, False, None)]
    at_each = {n: [*first, *(("sbgemm_tma", count, without, None) for count in counts for without in (False, True))]
               for n, counts in roles.SIZES.items()}
    at_each[4096] += [("sbgemm_tma", 3, True, "later"), ("sbgemm_tma", 4, False, "at once")]
    assert told == [(n, *row) for n, rows in at_each.items() for row in rows]
    assert not any(row["wrong"] for row in found.rows)
    code = fingerprint(roles.NO_PRODUCER.read_text(encoding="utf-8"))
    assert all(row.get("without_producer", code) == code for row in found.rows)


def test_what_matters_is_how_early_copies_are_ordered():
    speed = {(row["N"], row["parameters"].get("STAGES"), "without_producer" in row, row.get("variant", "")): row["tflops"]
             for row in readings("roles").rows}
    for n, stages in ((1024, 4), (2048, 4), (4096, 4), (4096, 3), (8192, 4)):
        assert 0.99 < speed[n, stages, True, ""] / speed[n, stages, False, ""] < 1.06
    assert 0.94 < speed[4096, 2, True, ""] / speed[4096, 2, False, ""] < 0.97
    assert speed[4096, 3, False, ""] > 1.5 * speed[4096, 2, False, ""]
    assert 0.99 < speed[4096, 3, True, "later"] / speed[4096, 2, True, ""] < 1.01
    assert 0.98 < speed[4096, 4, False, "at once"] / speed[4096, 4, False, ""] < 1
