"""Compiling ahead: the answers lie on the disk before anybody asks, near positions first, and nothing stands in the reader's way."""

from pathlib import Path

import pytest

from course_lib import kernels
from course_lib.run import ahead as offers
from course_lib.run import compile_offered, offer
from course_lib.toolchain import ahead, background, compile_cuda, nvrtc, sass
from course_lib.toolchain.request import Request
from course_lib.toolchain.sass import _disassemble

SOURCE = 'extern "C" __global__ void f(int* out) { out[threadIdx.x] = threadIdx.x * NUMBER; }'
WAIT_S = 120.0


@pytest.fixture
def queue(monkeypatch, tmp_path):
    """Return a queue of its own, whose process has an empty cache."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(background, "NICE", 0)             # a test does not wait for everybody else
    made = ahead.CompileQueue()
    monkeypatch.setattr(ahead, "_queues", [made])
    forget()
    yield made
    made.close()
    forget()


def forget():
    for remembered in (nvrtc._compile, nvrtc._from_nvrtc, _disassemble):
        remembered.cache_clear()


def requests(*numbers):
    return [Request(SOURCE, "k.cu", "sm_90", (f"-DNUMBER={number}",)) for number in numbers]


def never(*_, **__):
    raise AssertionError("this was to be done already")


def test_what_was_compiled_ahead_is_neither_compiled_nor_disassembled_again(queue, monkeypatch):
    ahead.compile_ahead(requests(1, 2, 3))
    assert queue.settle(WAIT_S)
    monkeypatch.setattr(nvrtc, "_compile_now", never)
    monkeypatch.setitem(sass.__globals__, "run_on_cubin", never)
    for number in (1, 2, 3):
        assert sass(compile_cuda(SOURCE, defines={"NUMBER": number}))
    with pytest.raises(AssertionError, match="done already"):
        compile_cuda(SOURCE, defines={"NUMBER": 4})


def test_the_latest_wish_is_done_first_and_each_text_once(monkeypatch):
    orders = []
    queue = ahead.CompileQueue()
    monkeypatch.setattr(queue, "_thread", "somebody works already")
    queue.put(requests(*range(10)))
    queue.put(requests(20, 3, 21))
    monkeypatch.setattr(queue._helper, "do", lambda order: orders.append([options for *_, options in order["requests"]]))
    queue._work()
    assert [options for order in orders for (options,) in order] == [f"-DNUMBER={n}" for n in (20, 21, *range(10))]
    assert max(map(len, orders)) == ahead.BATCH


def test_a_text_that_is_refused_stops_no_other(queue):
    ahead.compile_all([Request("wrong", "k.cu", "sm_90"), *requests(7)])
    assert queue._helper.do({"requests": [["wrong", "k.cu", "sm_90", []]]}) is True
    forget()
    assert compile_cuda(SOURCE, defines={"NUMBER": 7}).cubin


def test_without_nvrtc_no_process_is_started(queue, monkeypatch):
    monkeypatch.setattr(nvrtc, "nvrtc_is_there", lambda: False)
    ahead.compile_ahead(requests(1))
    assert queue._helper._process is None


# -- what sliders offer --------------------------------------------------------------------------------------------------
def test_sliders_offer_every_position_that_can_run_the_near_ones_first():
    offered = offers.Offer(("sgemm_padded", "sgemm_coalesced"), {"TILE": (8, 16, 32), "PAD": (0, 1)}, {"TILE": 16, "PAD": 0})
    options = [request.options for request in offered.requests()]
    assert options[0] == ("-DTILE=16", "-DPAD=0")
    assert set(options[1:4]) == {("-DTILE=8", "-DPAD=0"), ("-DTILE=32", "-DPAD=0"), ("-DTILE=16", "-DPAD=1")}
    assert len(set(options)) == 9, "six of the first kernel, and three of the second, which has no PAD"


def test_more_positions_than_can_be_compiled_are_refused(monkeypatch):
    monkeypatch.setattr(offers, "MOST", 5)
    with pytest.raises(offers.CourseError, match="with 6 positions: offer at most 5"):
        list(offers.Offer(("sgemm_padded",), {"TILE": (8, 16, 32), "PAD": (0, 1)}, {"TILE": 16, "PAD": 0}).requests())


def test_all_that_widgets_offer_can_be_compiled_at_once(queue, monkeypatch):
    monkeypatch.setattr(offers, "_offered", [])
    asked = list(offer(("sgemm_padded",), {"PAD": (0, 1)}, {"TILE": 16, "PAD": 0}).requests())
    compile_offered()
    monkeypatch.setattr(nvrtc, "_compile_now", never)
    forget()
    assert all(nvrtc.compile_here(request).cubin for request in asked)


# -- the whole catalog, beside JupyterLab ----------------------------------------------------------------------------------
def test_the_catalog_is_compiled_in_the_order_of_the_lessons_until_its_caller_ends(monkeypatch):
    orders, parents = [], iter([7, 7, 7, 1])
    monkeypatch.setattr(offers.os, "getppid", lambda: next(parents))
    monkeypatch.setattr(offers.ahead, "compile_all", lambda requests: orders.append(list(requests)))
    offers.compile_catalog()
    assert len(orders) == 2, "the caller had ended when the third was due"
    names = [request.name for request in offers.catalog_requests()]
    assert [request.name for order in orders for request in order] == names[:2 * ahead.BATCH]
    lessons = [kernels.ALL[Path(name).stem].lesson for name in names if Path(name).stem in kernels.ALL]
    assert lessons == sorted(lessons, key=lambda lesson: lesson or "~")
    assert {kernel.path.name for kernel in kernels.ALL.values()} == set(names)
