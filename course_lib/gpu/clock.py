"""The clock and the power of the GPU while it works, as nvidia-smi reads them."""

import subprocess
from collections.abc import Callable
from typing import Any


def clock_under(call: Callable[[Any], object], launches: int) -> dict[str, float]:
    """Return clock (MHz) and power (W) that nvidia-smi reads while these launches run; nothing where it cannot be asked."""
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        for _ in range(launches):
            call(stream)
    asked = ["nvidia-smi", "--query-gpu=clocks.sm,power.draw", "--format=csv,noheader,nounits"]
    try:
        text = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10).stdout.splitlines()[0]
        busy = not stream.done
        clock, power = (float(word) for word in text.split(","))
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return {}
    finally:
        stream.synchronize()
    return {"clock_mhz": clock, "power_w": power} if busy else {}
