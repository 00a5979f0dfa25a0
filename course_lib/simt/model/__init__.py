"""The meaning of a kernel in plain Python: slow, short, and the definition that both code generators are held to.

    result = model.run(program, grid, block, args)

`machine.py` runs warps and counts, `clusters.py` the blocks of a cluster; `arithmetic.py` says what an instruction computes,
`softfloat.py` rounds.
"""

from course_lib.simt.model.machine import Undefined, run

__all__ = ["Undefined", "run"]
