"""Record what a producer brings, and what stages bring.

cuBLAS, sbgemm_stages, sbgemm_tma and the same kernel without its producer (sbgemm_no_producer.cu) take turns; matrices of bfloat16, float32
sums.

Writes roles.json into the output folder: at N = 4096 with 2, 3 and 4 stages, at other sizes with 4; for each kernel the median and the
quartiles of the rounds, and the clock of more launches afterwards. `without_producer`: the fingerprint of sbgemm_no_producer.cu, in its
rows. Two variants change one thing: "later" orders each copy one step later than three stages allow, "at once" waits for its products
before it begins the next, and releases their stage.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from course_lib.bench.fingerprint import fingerprint, fingerprint_of
from course_lib.kernels import Kernel, get
from tools import ROOT, ToolError
from tools.options import out_option
from tools.record.short import Contestant, measured
from tools.recordings import usable_gpu, write_recording

NO_PRODUCER = Path(__file__).with_name("sbgemm_no_producer.cu")
SIZES = {4096: (4, 3, 2), 1024: (4,), 2048: (4,), 8192: (4,)}          # N, and the numbers of stages


AT_ONCE = (("products_wait<1>();            // those of the step before have ended", "products_wait<0>();"),
           ("if (t == 0 && k > 0) barrier_arrive(used + 8 * before);", "if (t == 0) barrier_arrive(used + 8 * stage);"),
           ("            if (t == 0) barrier_arrive(used + 8 * ((stage + STAGES - 1) % STAGES));\n", ""))


def without_producer() -> Kernel:
    """Return sbgemm_tma without its producer: a thread of the first warpgroup orders the copies."""
    name = NO_PRODUCER.stem
    return replace(get("sbgemm_tma"), name=name, path=NO_PRODUCER, entry=name, block_of=lambda p: (256, 1, 1))


def changed(kernel: Kernel, name: str, *changes: tuple[str, str]) -> Kernel:
    """Return a kernel with words of its text exchanged; the text lies in build/roles."""
    text = kernel.path.read_text(encoding="utf-8")
    for old, new in changes:
        if text.count(old) != 1:
            raise ToolError(f"{kernel.path.name} has {text.count(old)} of: {old}")
        text = text.replace(old, new)
    path = ROOT / "build" / "roles" / f"{name}.cu"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return replace(kernel, name=name, path=path)


def variants() -> Iterator[tuple[str, int, Kernel]]:
    """Yield name, stages and text of what differs in one thing."""
    yield "later", 3, changed(without_producer(), "later", ("#define AHEAD (STAGES - 1)", "#define AHEAD (STAGES - 2)"))
    yield "at once", 4, changed(get("sbgemm_tma"), "at once", *AT_ONCE)


def contestants(n: int) -> Iterator[Contestant]:
    """Yield what is measured at one size."""
    yield Contestant("bf16", "cuBLAS")
    yield Contestant("bf16", "sbgemm_stages")
    for count in SIZES[n]:
        parameters = {"BN": 256, "STAGES": count}
        yield Contestant("bf16", "sbgemm_tma", parameters)
        yield Contestant("bf16", NO_PRODUCER.stem, parameters, text=without_producer())
    if n == 4096:
        for name, count, kernel in variants():
            yield Contestant("bf16", name, {"BN": 256, "STAGES": count}, text=kernel)


@click.command()
@out_option("roles")
def command(out: Path) -> None:
    """Record every kernel at every size."""
    from course_lib import gpu
    status, sms = usable_gpu(), gpu.live_device().sms
    rows = [row for n in SIZES for row in measured(contestants(n), status.arch, sms, n)]
    code = fingerprint(NO_PRODUCER.read_text(encoding="utf-8"))
    for row in rows:
        name = row["kernel"]
        if name in ("later", "at once"):
            row |= {"kernel": "sbgemm_tma", "variant": name}
        if name in ("later", NO_PRODUCER.stem):
            row |= {"kernel": "sbgemm_tma", "without_producer": code}
        print(row["N"], name, row["parameters"].get("STAGES"),
              f"{row['tflops']} TFLOP/s, {row['mhz']} MHz, {row['wrong']} wrong")
    write_recording(out, "roles", rows, {name: fingerprint_of(get(name)) for name in ("sbgemm_stages", "sbgemm_tma")}, "record roles",
                    status.name, status.driver)
