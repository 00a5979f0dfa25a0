"""How blocks fill the multiprocessors wave by wave, and how full the last wave is."""

import math
from dataclasses import dataclass

from course_lib.model.inputs import whole

MOST = 2**40


@dataclass(frozen=True)
class Waves:
    """The waves of a launch.

    Attributes
    ----------
    blocks
        Of the launch.
    sms
        Multiprocessors of the device.
    resident
        Blocks that one of them holds at a time.
    """

    blocks: int
    sms: int
    resident: int

    @property
    def count(self) -> int:
        """Return how often the multiprocessors are filled, the last time perhaps in part."""
        return math.ceil(self.blocks / (self.sms * self.resident))

    @property
    def last_fill(self) -> float:
        """Return the share of the places for blocks that the last wave fills: above 0, at most 1."""
        places = self.sms * self.resident
        return (self.blocks - (self.count - 1) * places) / places

    @property
    def busy(self) -> float:
        """Return the share of all multiprocessors' time that has a block, when the busiest one works without pause: at most 1."""
        return self.blocks / (self.sms * math.ceil(self.blocks / self.sms))


def waves(blocks: int, sms: int, resident: int = 1) -> Waves:
    """Return the `Waves` of a launch; all blocks are taken to last equally long.

    Raises
    ------
    InputError, a ValueError
        On a value that is not a whole number from 1.

    Source: counting. A block stays on its multiprocessor to its end, and the next one waits for its place: CUDA C++ Programming Guide
    (13.0, 2025), "Hardware Implementation". `lower_bound` charges the busiest multiprocessor, which is the same loss.

    A product of 2049 × 2049 in tiles of 128 × 128 on an H200, two blocks on a multiprocessor: the second wave has 25 blocks.

    >>> found = waves(17 * 17, 132, 2)
    >>> found.count, round(found.last_fill, 2), round(found.busy, 2)
    (2, 0.09, 0.73)
    """
    checked = [whole(name, value, 1, MOST, "a launch and a device have from")
               for name, value in (("blocks", blocks), ("sms", sms), ("resident", resident))]
    return Waves(*checked)
