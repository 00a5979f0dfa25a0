"""Blocks of a cluster: they run together, reach each other's shared memory, and meet at the cluster's barrier."""

from collections.abc import Sequence, Set
from typing import Any

import numpy as np

from course_lib.simt.model.counts import LANES, Counts
from course_lib.simt.model.machine import AXES, Memory, Warp, launch_memory, special, write_back
from course_lib.simt.model.program import Code, Runnable
from course_lib.simt.model.types import Undefined
from course_lib.simt.ptx.ir import Instruction, Kind

Triple = tuple[int, int, int]
RANK = 24            # an address of shared memory has the rank of its block from this bit on


def run(program: Runnable, grid: Triple, block: Triple, args: Sequence[Any], cluster: Triple) -> dict[str, int]:
    """Run a launch in clusters; as `machine.run`, but that readings and writes of another block's memory are no wavefronts."""
    memory, counts = launch_memory(program, args), Counts()
    for corner in np.ndindex(*(g // c for g, c in zip(reversed(grid), reversed(cluster), strict=True))):
        places = []
        for inside in np.ndindex(*reversed(cluster)):      # the rank counts along x first
            z, y, x = (at * c + i for at, c, i in zip(corner, reversed(cluster), inside, strict=True))
            places.append((x, y, z))
        run_cluster(program, memory, counts, places, grid, block, cluster)
    write_back(memory, args)
    return counts.numbers


class BlockMemory(Memory):
    """The memory that one block of a cluster sees; `peers` are those of all, by rank."""

    def __init__(self, memory: Memory, program: Runnable, rank: int, peers: list["BlockMemory"]) -> None:
        super().__init__(memory.arrays, memory.constants, memory.pictures)
        self.shared, self.rank, self.begin, self.peers = bytearray(program.shared_bytes), rank, program.shared_begin, peers

    def at(self, space: str, address: int, nbytes: int) -> tuple[bytearray, int]:
        if space == "shared__cluster":
            rank, offset = divmod(address, 1 << RANK)
            if rank >= len(self.peers):
                raise Undefined(f"shared memory of rank {rank} of {len(self.peers)}")
            return Memory.at(self.peers[rank], "shared", offset - self.begin, nbytes)
        own = self.rank << RANK if space == "shared" and address >> RANK == self.rank else 0
        return super().at(space, address - own, nbytes)


class ClusterWarp(Warp):
    """A warp that may wait for its cluster. An arrival does nothing here: whoever waits has come before."""

    for_cluster = False

    def run_code(self, block: Code, lanes: Set[int]) -> None:
        super().run_code(block, lanes)
        last = block.instructions[-1]
        if last.opcode[:3] == ("barrier", "cluster", "arrive"):
            self.go(block.successors[0], self.at_barrier.pop(block.successors[0], set()))
        if last.kind is Kind.BARRIER and self.at_barrier:
            self.for_cluster = "cluster" in last.opcode

    def execute(self, ins: Instruction, number: int, lanes: Set[int]) -> None:
        if ins.opcode[:3] != ("barrier", "cluster", "arrive"):
            super().execute(ins, number, lanes)


def registers(place: Triple, grid: Triple, cluster: Triple) -> dict[str, int]:
    """Return name -> value of the special registers that say where a block is in its cluster."""
    inside = [at % c for at, c in zip(place, cluster, strict=True)]
    rank = inside[0] + cluster[0] * (inside[1] + cluster[1] * inside[2])
    found = {"%cluster_ctarank": rank, "%cluster_nctarank": cluster[0] * cluster[1] * cluster[2], "%window.32": rank << RANK,
             "%window.64": rank << RANK, "%is_explicit_cluster": 1}
    for axis, at, g, c in zip(AXES, place, grid, cluster, strict=True):
        found |= {f"%cluster_ctaid.{axis}": at % c, f"%cluster_nctaid.{axis}": c}
        found |= {f"%clusterid.{axis}": at // c, f"%nclusterid.{axis}": g // c}
    return found


def run_cluster(program: Runnable, memory: Memory, counts: Counts, places: Sequence[Triple], grid: Triple, block: Triple,
                cluster: Triple) -> None:
    """Run the blocks of one cluster from barrier to barrier."""
    peers: list[BlockMemory] = []
    blocks: list[list[ClusterWarp]] = []
    threads = [(x, y, z) for z, y, x in np.ndindex(*reversed(block))]
    for rank, place in enumerate(places):
        peers.append(BlockMemory(memory, program, rank, peers))
        of_block = registers(place, grid, cluster)
        blocks.append([ClusterWarp(program, peers[rank], counts, [special(thread, place, grid, block, lane) | of_block for lane, thread in
                                                                  enumerate(threads[first:first + LANES])])
                       for first in range(0, len(threads), LANES)])
    while any(warp.waiting for warps in blocks for warp in warps):
        for warps in blocks:
            for warp in warps:
                warp.run()
        alive = [[warp for warp in warps if warp.at_barrier] for warps in blocks]
        everywhere = all(warp.for_cluster for warps in alive for warp in warps)
        opening = [warps for warps in alive if everywhere or not any(warp.for_cluster for warp in warps)]
        if any(alive) and not any(opening):
            raise Undefined("warps wait for their cluster, and some do not come")
        for warps in opening:
            for warp in warps:
                warp.pass_barrier()
