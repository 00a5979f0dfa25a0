"""Record what a producer brings, and what stages bring.

cuBLAS, sbgemm_stages, sbgemm_tma and the same kernel without its producer (sbgemm_no_producer.cu) take turns; matrices of bfloat16, float32
sums.

Writes roles.json into the output folder: at N = 4096 with 2, 3 and 4 stages, at other sizes with 4; for each kernel the median and the
quartiles of the rounds, and the clock meanwhile. `without_producer`: the fingerprint of sbgemm_no_producer.cu, in its rows.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.kernels import Kernel, get
from tools.options import out_option
from tools.record.short import Contestant, measured
from tools.recordings import usable_gpu, write_recording

NO_PRODUCER = Path(__file__).with_name("sbgemm_no_producer.cu")
SIZES = {4096: (4, 3, 2), 1024: (4,), 2048: (4,), 8192: (4,)}          # N, and the numbers of stages


def without_producer() -> Kernel:
    """Return sbgemm_tma without its producer: a thread of the first warpgroup orders the copies."""
    name = NO_PRODUCER.stem
    return replace(get("sbgemm_tma"), name=name, path=NO_PRODUCER, entry=name, block_of=lambda p: (256, 1, 1))


def contestants(stages: tuple[int, ...]) -> Iterator[Contestant]:
    """Yield what is measured at one size."""
    yield Contestant("bf16", "cuBLAS")
    yield Contestant("bf16", "sbgemm_stages")
    for count in stages:
        parameters = {"BN": 256, "STAGES": count}
        yield Contestant("bf16", "sbgemm_tma", parameters)
        yield Contestant("bf16", NO_PRODUCER.stem, parameters, text=without_producer())


@click.command()
@out_option("roles")
def command(out: Path) -> None:
    """Record every kernel at every size."""
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    rows = [row for n, stages in SIZES.items() for row in measured(contestants(stages), status.arch, sms, n)]
    code = fingerprint(NO_PRODUCER.read_text(encoding="utf-8"))
    for row in rows:
        if row["kernel"] == NO_PRODUCER.stem:
            row |= {"kernel": "sbgemm_tma", "without_producer": code}
        print(row["N"], row["kernel"], row["parameters"].get("STAGES"), "without producer" if "without_producer" in row else "",
              f"{row['tflops']} TFLOP/s, {row['mhz']} MHz, {row['wrong']} wrong")
    write_recording(out, "roles", rows, {name: fingerprint_of(get(name)) for name in ("sbgemm_stages", "sbgemm_tma")}, "record roles",
                    status.name, status.driver)
