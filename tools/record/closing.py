"""Record the steps of lesson 15 beside cuBLAS, in one process.

Takes less than a minute. closing.json then holds, for every kernel of lesson 15 and 22 sizes, its time and its share of cuBLAS's speed,
and the machine code of a loop of products in both orders.
"""

from pathlib import Path

import click

from tools.options import out_option
from tools.recordings import usable_gpu, write_recording


@click.command()
@out_option("closing")
def command(out: Path) -> None:
    """Measure all kernels at all sizes and write the file."""
    from course_lib.bench import closing
    from course_lib.bench.fingerprint import fingerprint_of
    from course_lib.gpu.library import library_version
    from course_lib.toolchain import nvrtc_version

    status = usable_gpu()
    rows = closing.record()
    sources = {name: fingerprint_of(kernel) for name, kernel in closing.steps().items()}
    made = f"record closing; cuBLAS {library_version()}, NVRTC {'.'.join(map(str, nvrtc_version()))}"
    write_recording(out, "closing", rows, sources, made, status.name, status.driver)
