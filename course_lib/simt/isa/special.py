"""Special registers: their names and widths, and what they hold in each lane of a warp."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from course_lib import arch
from course_lib.simt.runtime import abi

AXES = "xyz"
LIMITS = arch.DEFAULT_DEVICE.limits
RESERVED = LIMITS.shared_reserved  # bytes of shared memory that the system keeps for itself in every block (CC 8.0 and later)
# Where it begins and where what the system uses of it ends, its size, and two places in it, as an H100 reports them. Tiles of more than
# a warp (cooperative groups) exchange their values at the second.
RESERVED_SMEM = {f"%reserved_smem_offset_{name}": value
                 for name, value in (("begin", 0), ("end", 288), ("cap", RESERVED), ("0", 0), ("1", 0))}
GRID_WORKSPACE = ("%envreg1", "%envreg2")  # upper and lower half of the address where the blocks of a cooperative launch meet
CLUSTERS = ("cluster_ctaid", "cluster_nctaid", "clusterid", "nclusterid")
# Registers that the language has not: a block's rank in its cluster, where an address of shared memory has it (`abi.RANK_SHIFT`).
WINDOW_32, WINDOW_64 = "%window.32", "%window.64"
# What differs from block to block, in the order of `special_value` of the runtime.
CHANGING = (*(f"%{name}.{a}" for name in ("ctaid", "clusterid", "cluster_ctaid") for a in AXES), "%cluster_ctarank", WINDOW_32, WINDOW_64)
SPECIAL = ("%ctaid.x", "%ctaid.y", "%ctaid.z", "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z",
           "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_lt",
           "%lanemask_le", "%lanemask_gt", "%lanemask_ge", "%warpsize",
           "%smid", "%nsmid", "%gridid", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size",
           "%cluster_ctarank", "%cluster_nctarank", *(f"%{name}.{a}" for name in CLUSTERS for a in AXES), WINDOW_32, WINDOW_64,
           "%is_explicit_cluster",
           "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", *GRID_WORKSPACE, *RESERVED_SMEM)
CLOCKS = {"%clock": (4, 0), "%clock_hi": (4, 32), "%clock64": (8, 0), "%globaltimer": (8, 0),
          "%globaltimer_lo": (4, 0), "%globaltimer_hi": (4, 32)}  # bytes, first bit of the counter
WIDE = ("%gridid", "%clock64", "%globaltimer", WINDOW_64)
REFUSED = re.compile(r"%(envreg(?!1$|2$)\d+|pm\d+(_64)?|current_graph_exec)")
# "PTX ISA", Special Registers, Target ISA Notes: the first architecture with them
SINCE = ((re.compile(r"%reserved_smem_offset_\w+"), 80),
         (re.compile(r"%(aggr_smem_size|is_explicit_cluster|n?clusterid\.\w|cluster_\w+(\.\w)?)"), 90))
REASONS = {"%envreg": ": the driver sets it"}


def kind(name: str) -> str:
    """Return the LLVM type of a special register."""
    return "i64" if name in WIDE else "i1" if name == "%is_explicit_cluster" else "i32"


def values(warp: int, block: tuple[int, int, int], grid: tuple[int, int, int],
           cluster: tuple[int, int, int] = (1, 1, 1)) -> dict[str, Any]:
    """Return name -> value or (32,) array of the special registers of a warp; ghost lanes repeat lane 0.

    `%smid` is 0 of 1: blocks run one after another on one multiprocessor, as far as a kernel can tell.
    """
    lane = np.arange(abi.LANES, dtype=np.uint32)
    threads = block[0] * block[1] * block[2]
    linear = warp * abi.LANES + lane
    linear = np.where(linear < threads, linear, warp * abi.LANES)
    one = np.uint32(1)
    found = {"%laneid": lane, "%warpid": warp, "%nwarpid": -(-threads // abi.LANES), "%warpsize": abi.LANES,
             "%tid.x": linear % block[0], "%tid.y": linear // block[0] % block[1], "%tid.z": linear // (block[0] * block[1]),
             "%lanemask_eq": one << lane, "%lanemask_lt": (one << lane) - one,
             "%envreg1": abi.WORKSPACE >> 32, "%envreg2": abi.WORKSPACE & 0xFFFFFFFF,
             **RESERVED_SMEM, "%smid": 0, "%nsmid": 1, "%gridid": 1, WINDOW_32: 0, WINDOW_64: 0,
             "%cluster_nctarank": cluster[0] * cluster[1] * cluster[2]}
    found["%lanemask_le"] = found["%lanemask_eq"] | found["%lanemask_lt"]
    found["%lanemask_gt"] = ~found["%lanemask_le"]
    found["%lanemask_ge"] = ~found["%lanemask_lt"]
    for i, axis in enumerate(AXES):
        found[f"%ntid.{axis}"], found[f"%nctaid.{axis}"] = block[i], grid[i]
        found[f"%cluster_nctaid.{axis}"], found[f"%nclusterid.{axis}"] = cluster[i], grid[i] // cluster[i]
    return found


def since(name: str) -> int:
    """Return the number of the first architecture that has a special register; 0: every one.

    >>> since("%reserved_smem_offset_cap"), since("%cluster_ctaid.x"), since("%tid.x")
    (80, 90, 0)
    """
    return next((first for names, first in SINCE if names.fullmatch(name)), 0)


def sizes(target: str, static_bytes: int, dynamic_bytes: int) -> dict[str, int]:
    """Return the special registers about shared memory, for a block with these bytes of it."""
    total, unit = static_bytes + dynamic_bytes, arch.SHARED.get(arch.target_number(target), arch.SHARED[90]).unit
    return {"%dynamic_smem_size": dynamic_bytes, "%total_smem_size": -(-total // unit) * unit, "%aggr_smem_size": total + RESERVED}


def shared_begin(target: str) -> int:
    """Return the address at which a kernel's own shared memory begins: what lies before it is the system's.

    Measured on an H200: the address of an array with an alignment of 16 KiB is 1,024.

    >>> [shared_begin(target) for target in ("sm_75", "sm_80", "sm_90a", "sm_120")]
    [0, 1024, 1024, 1024]
    """
    return RESERVED if arch.target_number(target) >= 80 else 0


def reserved(names: Iterable[str]) -> int:
    """Return the bytes of the system's shared memory that a kernel can reach; `names` are the registers that it uses.

    Only a kernel that asks where these bytes lie has them.
    """
    return 0 if set(RESERVED_SMEM).isdisjoint(names) else RESERVED
