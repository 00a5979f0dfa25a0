"""Inside a notebook's kernel: note what is asked of the compiler, which kernel files are read, and where sliders can go.

`shelf_lessons.py` runs `start` before the first cell. Each note is a line of JSON.
"""

import json
import threading

from course_lib.kernels.kernel import Kernel
from course_lib.toolchain import nvrtc
from course_lib.widgets import sliders

_lock = threading.Lock()


def start(path):
    """Write notes to `path` from now on."""
    ask, text, live = nvrtc.answer, Kernel.source.fget, sliders.Live

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

    nvrtc.answer, Kernel.source, sliders.Live = answer, property(source), live_noted
