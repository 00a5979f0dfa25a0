"""The choosers over a traced run and over a compiled kernel: what each choice offers and shows."""

import pytest

from course_lib.errors import CourseError
from course_lib.plots import requests, touched_sectors
from course_lib.run import run
from course_lib.widgets import accesses, compute, static
from course_lib.widgets.accesses import access_sites, traced


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def padded():
    return traced("sgemm_padded", 32, {"TILE": 16, "PAD": 0})


@pytest.fixture
def box(padded):
    made = accesses(padded, banks=(32, 16))
    yield made
    made.close()


def choose(box, line, array, wait_s):
    box.line.value = line
    box.access.value = next(place for _, place in box.access.options if place.array == array)
    assert box.engine.settle(wait_s)


def test_every_access_of_the_source_is_offered(padded, box):
    found = access_sites(padded)
    assert [(p.line, p.store, p.array) for p in found] == [
        (28, False, "A"), (28, True, "As"), (29, False, "B"), (29, True, "Bs"), (33, False, "As"), (33, False, "Bs"), (39, True, "C")]
    assert sum(len(r) for who in found.values() for r in who.values()) == sum(t.space in ("global", "shared") for t in padded.trace)
    assert [n for _, n in box.line.options] == [28, 29, 33, 39]
    assert "acc += As[ty][k] * Bs[tx][k];" in box.line.options[2][0]
    assert len(box.block.options) == 4
    assert len(box.warp.options) == 8


def test_who_sees_the_choices_has_the_neighbours_drawn_and_nothing_compiled(box, wait_s, monkeypatch):
    monkeypatch.setattr(static, "compile_ahead", lambda offered: pytest.fail(f"compiles {offered}"))
    box._view_count = 1                                    # as a front end does when it shows the widget
    assert box.engine.settle(wait_s)


@pytest.mark.slow
def test_global_memory_gets_sectors_and_shared_memory_banks(box, wait_s):
    assert "touch 4 sectors of 32 bytes" in box.image.value
    choose(box, 33, "Bs", wait_s)
    assert "8 wavefronts" in box.image.value
    assert "8 wavefronts" in box.status.value
    box.banks.value = 16
    assert box.engine.settle(wait_s)
    assert "16 + 16 wavefronts, half-warp by half-warp" in box.image.value
    choose(box, 39, "C", wait_s)
    assert "store of 4 bytes a lane, line 39" in box.image.value


def test_block_warp_and_request_choose_the_record(padded, box, wait_s):
    choose(box, 28, "A", wait_s)
    box.block.value, box.warp.value, box.index.value = (0, 1, 0), 3, 2
    assert box.engine.settle(wait_s)
    expected = requests(padded, array="A", block=(0, 1, 0), warp=3)[1]
    assert box.record() is expected
    assert "block (0, 1, 0), warp 3, request 2 of 2" in box.status.value
    assert f"touch {len(touched_sectors(expected))} sectors" in box.status.value
    box.line.value = 39
    assert box.engine.settle(wait_s)
    assert box.block.value == (0, 1, 0)
    assert "request 1 of 1" in box.status.value
    assert box.index.layout.visibility == "hidden"


def test_it_begins_where_it_is_told(padded):
    box = accesses(padded, line=33, array="Bs")
    assert (box.line.value, box.access.value.array) == (33, "Bs")
    assert "<img" in box._repr_mimebundle_()["text/html"]
    assert "load of Bs" in box._repr_mimebundle_()["text/plain"]
    box.close()
    with pytest.raises(CourseError, match="no traced access fits line = 33, array = 'C'"):
        accesses(padded, line=33, array="C")


def test_a_run_without_a_trace_is_refused():
    A, B, _ = compute.inputs(16, 16, 16)
    with pytest.raises(CourseError, match="no traced access"):
        accesses(run("sgemm_naive", A, B))


def test_every_control_has_a_name(box):
    for control in (box.line, box.access, box.block, box.warp, box.index):
        assert control.description
        assert control.tooltip
