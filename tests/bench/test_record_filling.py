"""The recording of how C fills: what it would launch compiles, and every kernel of the race is in its plan. It needs a GPU to run."""

from course_lib import data, kernels
from course_lib.explorables.race import NAMES
from course_lib.toolchain import compile_cuda, resources
from tools.record import filling


def test_the_watcher_compiles_and_one_block_watches_all():
    used = resources(compile_cuda(filling.TEXT, name="watcher.cu", arch="sm_90"))
    assert set(used) == {"stamp", "watch"}
    assert filling.SIDE**2 <= 1024
    assert filling.N % filling.SIDE == 0


def test_the_plan_is_every_kernel_of_the_race_with_the_parameters_of_its_recorded_time():
    plan = data.load("ladder").find(N=filling.N)
    assert [record.kernel for record in plan] == list(NAMES)
    for record in plan[:-1]:
        kernel = kernels.get(record.kernel)
        assert kernel.grid(filling.N, filling.N, **record.parameters)
