"""Try every tile and number of blocks for products of many shapes: the readings from which a dispatcher's table is made and judged."""

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from course_lib import gpu, toolchain
from course_lib.bench.compiling import compile_texts
from course_lib.bench.fingerprint import fingerprint_of
from course_lib.bench.race import CONTESTANTS, Arrays, Heat, candidates, trial, trials
from course_lib.bench.shapes import held_out, tuned
from course_lib.data.readings import Readings
from course_lib.gpu.library import library_version
from course_lib.kernels import get

DIGITS = 4         # of a time: its spread is larger
SHAPE = ("WIDE", "TRANSA", "TRANSB", "blocks")     # parameters that a product decides, not a tile


def wanted(seed: int | None = None, count: int | None = None, dtypes: Sequence[str] = tuple(CONTESTANTS)) -> list[tuple[str, Heat]]:
    """Return ("tuned" or "held out", product) for all that are tried.

    >>> [sum(kind == asked for kind, _ in wanted()) for asked in ("tuned", "held out")]
    [64, 24]
    """
    how = {name: value for name, value in (("seed", seed), ("count", count)) if value is not None}
    return [("tuned", heat) for heat in tuned(dtypes)] + [("held out", heat) for heat in held_out(**how, dtypes=dtypes)]


def tile_of(parameters: dict[str, int]) -> dict[str, int]:
    """Return what a tile is: its sizes, stages, and the blocks of a multiprocessor.

    >>> tile_of({"BM": 32, "WIDE": 4, "blocks": 7})
    {'BM': 32}
    """
    return {name: value for name, value in parameters.items() if name not in SHAPE}


def try_product(kind: str, heat: Heat, sms: int, tiles: list[dict[str, int]]) -> dict[str, Any]:
    """Return the row of a product.

    Parameters
    ----------
    kind
        "tuned" or "held out".
    tiles
        Of its kernel; a row names a tile by its place among them.

    Returns
    -------
    dict
        The product, "wide", "times" ([tile, blocks, seconds] of every candidate), seconds "library" of cuBLAS, and "wrong", the wrong
        elements of the fastest candidate's answer.
    """
    arrays = Arrays(heat)
    found = trials(arrays, sms)
    best, _ = min(found, key=lambda pair: pair[1])
    return {"kind": kind, "kernel": CONTESTANTS[heat.dtype][0], **{n: v for n, v in asdict(heat).items() if n != "beta"},
            "wide": best["WIDE"], "library": _short(trial(arrays.library())), "wrong": arrays.wrong(arrays.ours(best)),
            "times": [[tiles.index(tile_of(p)), p["blocks"], _short(s)] for p, s in found]}


def _short(seconds: float) -> float:
    return float(f"{seconds:.{DIGITS}g}")


def try_all(products: Iterable[tuple[str, Heat]], say: Callable[[str], object] = print) -> Readings:
    """Try all products on the GPU; say a line for each.

    Returns
    -------
    Readings
        Rows of the tiles ("kind" is "tile"), then one for each product.
    """
    from tqdm import tqdm

    products, status, sms = list(products), gpu.probe(), gpu.live_device().sms
    texts = ((CONTESTANTS[heat.dtype][0], parameters) for _, heat in products for parameters in candidates(heat, sms))
    say(f"{compile_texts(texts, str(status.arch))} texts are compiled")
    dtypes = list(dict.fromkeys(heat.dtype for _, heat in products))
    rows: list[dict[str, Any]] = [{"kind": "tile", "kernel": CONTESTANTS[dtype][0], "dtype": dtype, "tile": i, "parameters": tile}
                                  for dtype in dtypes for i, tile in enumerate(CONTESTANTS[dtype][2])]
    for kind, heat in tqdm(products, unit=" products", leave=False):
        rows.append(try_product(kind, heat, sms, list(CONTESTANTS[heat.dtype][2])))
        say(line(rows[-1]))
    nvrtc = ".".join(map(str, toolchain.nvrtc_version()))
    made_by = f"python -m course_lib.bench shapes; cuBLAS {library_version()}, NVRTC {nvrtc}"
    sources = {row["kernel"]: fingerprint_of(get(row["kernel"])) for row in rows}
    return Readings(str(status.name), str(status.driver), datetime.date.today().isoformat(), made_by, tuple(rows), sources)


def line(row: dict[str, Any]) -> str:
    """Write a product on one line."""
    tile, blocks, seconds = min(row["times"], key=lambda entry: entry[2])
    operation = "".join("T" if row[name] else "N" for name in ("TRANSA", "TRANSB"))
    wrong = f"  WRONG: {row['wrong']} elements" if row["wrong"] else ""
    return (f"{row['kind']:8} {row['dtype']} {row['M']} × {row['N']} × {row['K']} {operation}: {1e6 * seconds:.1f} µs, cuBLAS "
            f"{1e6 * row['library']:.1f}; tile {tile} of {len({t for t, *_ in row['times']})}, {blocks} blocks{wrong}")
