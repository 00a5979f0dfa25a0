"""Where the simulator is not the hardware, kernel by kernel, and why; tests/hardware/test_catalog.py holds the list to be complete.

`COUNTS`: kernel -> (reason, {counter: (H200, simulator)}). `ULPS`: kernel -> (reason, units in the last place).
"""

CONVERGE = ("lanes that leave a loop or an early branch one after another run what follows apart on the hardware, where ptxas set no "
            "point to wait for each other; the simulator lets them meet")
COUNTS = {}
ULPS = {}
