"""What the hardware counts for one access of a warp: sectors of global memory, wavefronts of shared memory."""

from collections.abc import Mapping

LANES, SECTOR, BANKS = 32, 32, 32


class Counts:
    """The counters of a launch."""

    def __init__(self) -> None:
        names = [f"{what} {how}" for what in ("requests", "sectors", "wavefronts", "conflicts") for how in ("ld", "st")]
        self.numbers: dict[str, int] = dict.fromkeys(["executed", "threads", *names], 0)

    def instruction(self, lanes: int) -> None:
        self.numbers["executed"] += 1
        self.numbers["threads"] += lanes

    def access(self, space: str, store: bool, addresses: Mapping[int, int], nbytes: int) -> None:
        """Count one access of a warp; `addresses`: lane -> address."""
        how = "st" if store else "ld"
        if space == "global":
            self.numbers[f"requests {how}"] += 1
            self.numbers[f"sectors {how}"] += sectors(addresses, nbytes)
        if space == "shared":
            waves, phases = wavefronts(addresses, nbytes, store)
            self.numbers[f"wavefronts {how}"] += waves
            self.numbers[f"conflicts {how}"] += waves - phases


def sectors(addresses: Mapping[int, int], nbytes: int) -> int:
    """Return how many sectors an access touches.

    >>> sectors({lane: 4 * lane for lane in range(32)}, 4), sectors({lane: 32 * lane for lane in range(32)}, 4)
    (4, 32)
    """
    return len({(address + byte) // SECTOR for address in addresses.values() for byte in (0, nbytes - 1)})


def wavefronts(addresses: Mapping[int, int], nbytes: int, store: bool) -> tuple[int, int]:
    """Return (wavefronts, phases): 4 bytes per lane are served in one phase, 8 in two, 16 in four.

    A phase takes as many wavefronts as the busiest bank has different words. Two phases of a load become one when neighbours
    (l, l ^ 1), or else all (l, l ^ 2), want the same.

    >>> [wavefronts({lane: 4 * step * lane for lane in range(32)}, 4, False) for step in (1, 2, 32, 33)]
    [(1, 1), (2, 1), (32, 1), (1, 1)]
    """
    lanes_at_once = {8: 16, 16: 8}.get(nbytes, LANES)

    def same(distance: int) -> bool:
        return all(addresses.get(lane ^ distance, address) == address for lane, address in addresses.items())

    if not store and nbytes > 4 and (same(1) or same(2)):
        lanes_at_once *= 2
    waves = phases = 0
    for first in range(0, LANES, lanes_at_once):
        words = {(address + byte) // 4 for lane, address in addresses.items() if first <= lane < first + lanes_at_once
                 for byte in range(0, nbytes, 4)}
        banks = [word % BANKS for word in words]
        waves += max((banks.count(bank) for bank in set(banks)), default=0)
        phases += bool(words)
    return waves, phases
