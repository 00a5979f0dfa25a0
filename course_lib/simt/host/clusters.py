"""Thread block clusters of a launch: how large they are, which launches are refused, and the blocks of a cluster running together.

A cluster takes turns on one thread, as the blocks of `together.py` do; several clusters run side by side. Its warps run in reference code:
uniform code (codegen/uniform/) knows no other block's shared memory.
"""

import ctypes
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from course_lib import arch
from course_lib.simt.errors import BarrierDeadlock, ClusterMisuse, LaunchError, OutOfBounds, SimtError
from course_lib.simt.host.fault_places import Facts, place, variable_at
from course_lib.simt.host.limits import Extent, Progress, Triple, triple
from course_lib.simt.host.running import Running
from course_lib.simt.host.together import AllSteps
from course_lib.simt.host.workers import Sharing, Worker
from course_lib.simt.passes.pipeline import Program
from course_lib.simt.ptx.ir import Instruction
from course_lib.simt.runtime import abi
from course_lib.simt.runtime.abi import ClusterMisuse as Why
from course_lib.simt.runtime.abi import Fault

FIRST = 90           # the first architecture with clusters
PORTABLE = 8         # blocks of a cluster that every such GPU takes; an H100 takes 16 of a kernel that has the permission
FAULTS = {Fault.NO_PEER, Fault.PEER_ENDED, Fault.CLUSTER_MISUSE}


def blocks(size: Triple) -> int:
    """Return how many blocks a cluster has."""
    return size[0] * size[1] * size[2]


def dimensions(program: Program, name: str, grid: Triple, together: bool, asked: Extent | None, nonportable: bool) -> tuple[Triple, bool]:
    """Return the blocks of a cluster along x, y, z, and whether somebody asks for them: the launch, or the kernel (`__cluster_dims__`).

    Raises
    ------
    LaunchError
        The two differ, the cluster is too large, the grid no multiple of it, or the architecture has none.
    """
    told = program.directives
    if "blocksareclusters" in told:
        raise LaunchError(f"{name} counts its grid in clusters (__block_size__), which the simulator does not know.")
    own = triple(told["reqnctapercluster"], "cluster") if told.get("reqnctapercluster") else None
    wanted = None if asked is None else triple(asked, "cluster")
    if own and wanted and own != wanted:
        raise LaunchError(f"{name} is compiled for clusters of {words(own)} blocks (__cluster_dims__), and the launch asks for "
                          f"{words(wanted)}. Leave cluster away, or ask for the same.", cluster=wanted)
    if "explicitcluster" in told and not (own or wanted):
        raise LaunchError(f"{name} must be launched in clusters (.explicitcluster): give their size, as in cluster=2.")
    found: Triple = own or wanted or (1, 1, 1)
    count = blocks(found)
    if together and count > 1:
        raise LaunchError(f"{name} waits for its whole grid, or runs its last block first, and its blocks lie in clusters: the simulator "
                          "knows one of the two at a time.")
    if own or wanted:
        most = min(told.get("maxclusterrank", (abi.MOST_BLOCKS,))[0], abi.MOST_BLOCKS if nonportable else PORTABLE)
        if 0 < arch.target_number(program.target) < FIRST:
            raise LaunchError(f"{program.target} has no clusters: they are there from sm_{FIRST} on.", target=program.target)
        if count > most:
            more = "" if nonportable else f"; nonportable_cluster=True permits {abi.MOST_BLOCKS}, as an H100 does"
            raise LaunchError(f"A cluster of {words(found)} = {count} blocks is more than {most}{more}.", blocks=count, limit=most)
        for axis, all_blocks, of_cluster in zip("xyz", grid, found):
            if all_blocks % of_cluster:
                raise LaunchError(f"The grid has {all_blocks} blocks along {axis}, which is no multiple of the cluster's {of_cluster}.",
                                  blocks=all_blocks, cluster=found)
    return found, bool(own or wanted)


def words(size: Triple) -> str:
    """Return a size as messages write it."""
    return "×".join(map(str, size))


@dataclasses.dataclass
class Group:
    """The workers of one cluster after the other; `failed` is the one that met a fault."""

    record: Any
    workers: Sequence[Worker]
    failed: Worker | None = None


def make(workers: Sequence[Worker], pin: Callable[[Any], int]) -> Group:
    """Return the group of workers that run a cluster: the one of rank 0 first."""
    record = abi.Cluster(blocks=len(workers))
    record.worker[:len(workers)] = [worker.address for worker in workers]
    for worker in workers:
        worker.record.cluster = pin(record)
    return Group(record, workers)


def run(launched: Running, size: int, total: int, progress: Progress | None) -> list[tuple[int, Any]]:
    """Run all clusters, each with `size` workers; return (block, record of its worker) of each that met a fault."""
    workers = launched.workers
    groups = [make(workers[i:i + size], launched.pin) for i in range(0, len(workers), size)]
    leaders = {group.workers[0].address: group for group in groups}

    def start(record: int, first: int, last: int) -> int:
        group = leaders[record]
        answer = launched.kernel.runtime.run_clusters(ctypes.addressof(group.record), first, last)
        group.failed = group.workers[answer - 1] if answer else None
        return int(answer != 0)

    first = [dataclasses.replace(g.workers[0], steps=AllSteps(g.workers)) for g in groups]
    failed = Sharing(start, first, total, launched.stop, progress).run()
    found = [(number, leaders[ctypes.addressof(record)].failed) for number, record in failed]
    return [(number, worker.record) for number, worker in found if worker is not None]


# -- what its errors say -------------------------------------------------------------------------------------------------------
def explain(fault: int, run: Running, worker: Any, ins: Instruction, facts: Facts) -> SimtError:
    """Return the exception of an access to no block of the cluster, to one that has ended, or of a misuse of the cluster's barrier."""
    facts["operation"] = name = ins.name.replace("__", "::")
    if fault == Fault.CLUSTER_MISUSE:
        return misuse(Why(worker.fault_address), run, worker, name, facts)
    address, blocks = worker.fault_address & 0xFFFFFFFF, run.launch.cluster_blocks
    facts |= {"address": address, "rank": address >> abi.RANK_SHIFT}
    if fault == Fault.NO_PEER:
        return OutOfBounds(f"{place(facts)}: {name} names shared memory of the block with rank {facts['rank']}, and the cluster has "
                           f"{blocks} block{'s' if blocks > 1 else ''}: 0 … {blocks - 1}. Check the rank that the address was mapped to, "
                           "and that the kernel is launched in clusters.", **facts)
    other = peer(run, worker, facts["rank"])
    facts["other_block"] = tuple(abi.Warp.from_address(other.warps).block)
    variable, offset = variable_at(run, (address & (1 << abi.RANK_SHIFT) - 1) - run.program.shared_begin)
    return ClusterMisuse(f"{place(facts)}: {name} reaches byte {offset} of {variable or 'the shared memory'} of block "
                         f"{facts['other_block']}, which has ended, and its shared memory with it. Let all blocks of the cluster meet "
                         "(barrier.cluster, cluster.sync()) behind the last access to another's memory.", **facts)


def outside(run: Running, named: bool, ins: Instruction, facts: Facts) -> OutOfBounds | None:
    """Return the error of an access outside another block's shared memory, or of one by another's address to the own; else None.

    `named`: the instruction names `.shared`, which is the block's own.
    """
    name, address, size = ins.name.replace("__", "::"), facts["address"], run.shared_bytes
    if address & abi.IN_CLUSTER:
        facts["address"] = address & 0xFFFFFFFF
        rank, at = facts["address"] >> abi.RANK_SHIFT, (address & (1 << abi.RANK_SHIFT) - 1) - run.program.shared_begin
        return OutOfBounds(f"{place(facts)}: {name} reaches byte {at} of the {size} bytes of shared memory of the block with rank {rank} "
                           "in its cluster: that is outside. Check the index against the array's size.", array="shared",
                           bounds=(0, size), **facts)
    own = block_rank(run, facts["block"])
    rank = (address + run.program.shared_begin + (own << abi.RANK_SHIFT) & 0xFFFFFFFF) >> abi.RANK_SHIFT
    if not named or rank == own or rank >= run.launch.cluster_blocks:
        return None
    return OutOfBounds(f"{place(facts)}: the address of {name} lies in the shared memory of the block with rank {rank}. Only accesses to "
                       ".shared::cluster and through generic pointers reach another block's.", array="shared", bounds=(0, size), **facts)


def block_rank(run: Running, block: Triple) -> int:
    """Return a block's rank in its cluster."""
    x, y, z = (at % size for at, size in zip(block, run.launch.cluster, strict=True))
    return int(x + run.launch.cluster[0] * (y + run.launch.cluster[1] * z))


def peer(run: Running, worker: Any, rank: int) -> Any:
    """Return the abi.Worker of a block of the same cluster."""
    return abi.Worker.from_address(abi.Cluster.from_address(worker.cluster).worker[rank])


def misuse(why: Why, run: Running, worker: Any, name: str, facts: Facts) -> SimtError:
    """Return the error of a thread that uses the cluster's barrier wrongly, or waits there in vain."""
    if why == Why.STUCK_CLUSTER:
        return BarrierDeadlock(f"{place(facts)} waits for all threads of its cluster, and some never come: no thread of the cluster can go "
                               f"on.{waiting(run, worker)} Every thread must come to barrier.cluster.arrive (cluster.sync()) as often as "
                               "the others, or end.", **facts)
    return ClusterMisuse(f"{place(facts)}: {name} " + {
        Why.ARRIVED_TWICE: "comes to the cluster's barrier a second time: barrier.cluster.wait must stand between two arrivals.",
        Why.NOT_ARRIVED: "waits for the cluster without having come: barrier.cluster.arrive must stand before it.",
        Why.PART_OF_A_WARP: "is executed by a part of its warp, and .aligned promises that all threads of the warp execute it together.",
    }[why], **facts)


def waiting(run: Running, worker: Any) -> str:
    """Say where the warps of all blocks of a cluster wait that have not ended, but for the failing one."""
    lines: dict[tuple[Triple, int], int] = {}
    ended = []
    for rank in range(run.launch.cluster_blocks):
        other = peer(run, worker, rank) if worker.cluster else worker
        of_block = [abi.Warp.from_address(run.warp_address(other, i)) for i in range(-(-run.threads // abi.LANES))]
        block = tuple(of_block[0].block)
        if other.ended:
            ended.append(block)
        for index, warp in enumerate(of_block):
            here = ctypes.addressof(other) == ctypes.addressof(worker) and index == worker.fault_warp
            if here or warp.state == abi.ENUMS["State"]["DONE"]:
                continue
            number = warp.wait_number if warp.stalled else warp.barrier
            key = (block, run.program.instructions[number].line)
            lines[key] = lines.get(key, 0) + 1
    found = [f"{count} warp{'s' if count > 1 else ''} of block {block} in line {line}" for (block, line), count in lines.items()]
    found += [f"block {block} has ended" for block in ended]
    return f" The others: {', '.join(found)}." if found else ""
