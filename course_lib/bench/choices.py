"""Make the table that `run.choose` asks, from what `bench.tried` measured, and judge it by products that it was not made from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from course_lib.arch import DEFAULT_DEVICE, UNITS, Device
from course_lib.data.readings import Readings
from course_lib.model.busiest_work import cost_terms
from course_lib.model.stream_k import sharing
from course_lib.run.choice import cost_names, estimates

Row: TypeAlias = Mapping[str, Any]
OPERANDS = tuple({"TRANSA": a, "TRANSB": b, "WIDE": wide} for a in (0, 1) for b in (0, 1) for wide in (1, 2))
DIGITS = 4
GUESSED = 0.01         # weight of the distance of a cost from its guess; that of each measured time is 1
USUAL = 0.7            # of the arithmetic peak: a guess


def choices_of(tried: Readings, on: Device = DEFAULT_DEVICE) -> Readings:
    """Return the table: the costs of each tile, fitted to the times of the tuned products, and the fastest choice for each of these.

    Parameters
    ----------
    tried
        What `bench.tried.try_all` gave.
    on
        The device that it was measured on.

    Notes
    -----
    Costs are seconds, none is negative, and the squares of the relative errors are as small as such costs allow
    (`scipy.optimize.nnls`). Among them count, with little weight, the relative distances from a guess: what few times tell nothing about
    then stays near it. Products that were held out take no part.
    """
    tuned = tried.find(kind="tuned")
    rows: list[dict[str, Any]] = []
    for tile in tried.find(kind="tile"):
        products = [row for row in tuned if row["dtype"] == tile["dtype"]]
        rows.append({**tile, "costs": _costs(tile, products, on)})
    for row in tuned:
        best, blocks, seconds = min(row["times"], key=lambda entry: entry[2])
        rows.append({"kind": "product", **{name: row[name] for name in ("kernel", "dtype", "M", "N", "K", "TRANSA", "TRANSB")},
                     "WIDE": row["wide"], "tile": best, "blocks": blocks, "seconds": seconds})
    return replace(tried, rows=tuple(rows))


def _costs(tile: Row, products: Sequence[Row], on: Device) -> dict[str, float]:
    """Return the cost of each term for one tile, in seconds."""
    from scipy.optimize import nnls

    names = list(dict.fromkeys(name for fixed in OPERANDS for name in cost_names(fixed).values()))
    lines = []
    for row in products:
        for number, blocks, time in row["times"]:
            if number == tile["tile"]:
                lines.append(_line(row, tile["parameters"], blocks, names, on) / time)
    guess = np.array([_guessed(tile, name, on) for name in names])
    rows = np.array([*lines, *np.diag(math.sqrt(GUESSED) / guess)])
    found, _ = nnls(rows, np.array([1.0] * len(lines) + [math.sqrt(GUESSED)] * len(names)))
    return {name: float(f"{cost:.{DIGITS}g}") for name, cost in zip(names, found.tolist(), strict=True)}


def _guessed(tile: Row, name: str, on: Device) -> float:
    """Return what a cost is about, in seconds, before anything is measured: a step takes what its multiply-adds take at a usual speed."""
    if not name.startswith("busy"):
        return {"launch": 2e-6, "alone": 1e-7, "pieces": 1e-6, "joined": 1e-6}[name.split()[0]]
    p = tile["parameters"]
    return p["BM"] * p["BN"] * p["BK"] / (UNITS[on.cc][0] * on.clock_mhz * 1e6) / USUAL


def _line(row: Row, p: Mapping[str, int], blocks: int, names: Sequence[str], on: Device) -> NDArray[np.float64]:
    """Return how many of each cost a measurement had."""
    terms = cost_terms(sharing(row["M"], row["N"], row["K"], (p["BM"], p["BN"], p["BK"]), blocks), p["RESIDENT"], on.sms)
    called = cost_names({"TRANSA": row["TRANSA"], "TRANSB": row["TRANSB"], "WIDE": row["wide"]})
    line = np.zeros(len(names))
    for name, count in terms.items():
        line[names.index(called[name])] = count
    return line


def judge(tried: Readings, table: Readings, on: Device = DEFAULT_DEVICE) -> list[dict[str, Any]]:
    """Return, for each product that was held out, what the table chooses and how that compares with the best that was tried.

    Returns
    -------
    list
        The product's fields; "chosen" and "best", each [tile, blocks, seconds]; "ratio", best over chosen: 1 means that nothing was
        faster; "to_library", cuBLAS's time over that of the chosen.
    """
    found = []
    for row in tried.find(kind="held out"):
        chosen = chosen_entry(row, table, on)
        best = min(row["times"], key=lambda entry: entry[2])
        found.append({**{name: row[name] for name in ("dtype", "M", "N", "K", "TRANSA", "TRANSB", "wide")}, "chosen": chosen,
                      "best": best, "ratio": best[2] / chosen[2], "to_library": row["library"] / chosen[2]})
    return found


def chosen_entry(row: Row, table: Readings, on: Device = DEFAULT_DEVICE) -> list[Any]:
    """Return [tile, blocks, seconds] of what the estimate chooses for a product that was tried, with the time that it then took."""
    fixed = {"WIDE": row["wide"], "TRANSA": row["TRANSA"], "TRANSB": row["TRANSB"]}
    options = estimates((row["M"], row["N"], row["K"]), row["dtype"], fixed, table, on)
    _, parameters = min(options, key=lambda option: option[0])
    tiles = [tile["parameters"] for tile in table.find(kind="tile", dtype=row["dtype"])]
    number = tiles.index({name: parameters[name] for name in tiles[0]})
    return next(entry for entry in row["times"] if entry[:2] == [number, parameters["blocks"]])
