"""Inside a notebook's kernel: note what is asked of the compiler, which kernel files are read, and where sliders can go.

`shelf_lessons.py` runs `start` before the first cell. Each note is a line of JSON.
"""

import importlib
import json
import threading

from course_lib import kernels
from course_lib.kernels.kernel import Kernel
from course_lib.toolchain import nvrtc
from course_lib.widgets import sliders

bench = importlib.import_module("course_lib.widgets.bank_bench")     # the room has a function of that name
_lock = threading.Lock()


def start(path):
    """Write notes to `path` from now on."""
    ask, text, live, banks = nvrtc.answer, Kernel.source.fget, sliders.Live, bench.BankBench

    def note(**what):
        with _lock, open(path, "a", encoding="utf-8") as notes:
            notes.write(json.dumps(what) + "\n")

    def answer(request):
        note(source=request.source, name=request.name, arch=request.arch, options=request.options)
        return ask(request)

    def source(kernel):
        note(file=kernel.path.name)
        return text(kernel)

    def live_noted(names, choices, *rest):
        note(kernels=names, choices=choices)
        return live(names, choices, *rest)

    def banks_noted(names, pads, tiles, *rest):
        for name in names:
            padded = any(p.name == "PAD" for p in kernels.get(name).parameters)
            note(kernels=[name], choices={"TILE": tiles} | ({"PAD": pads} if padded else {}))
        return banks(names, pads, tiles, *rest)

    nvrtc.answer, Kernel.source, sliders.Live, bench.BankBench = answer, property(source), live_noted, banks_noted
