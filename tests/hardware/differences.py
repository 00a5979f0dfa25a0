"""Where the simulator is not the hardware, kernel by kernel, and why; tests/hardware/test_catalog.py holds the list to be complete.

`COUNTS`: kernel -> (reason, {counter: (H200, simulator)}). `ULPS`: kernel -> (reason, units in the last place that the furthest
number is off). `NANS`: kernel -> reason; its numbers are the same, but not the bits of every NaN.
"""

APART = ("lanes leave a loop or return one after another; what they run then, they run apart on the hardware and together here, "
         "because the points where ptxas lets lanes meet (BSSY, BSYNC) are in no PTX")
CALLS = "lanes call different functions, and come back from them one after another on the hardware, together here"
COUNTS = {
    "branches": (APART, {"sectors ld": (181, 179)}),
    "crc32": (APART, {"requests ld": (127, 99), "sectors ld": (995, 943), "shared ld": (123, 95), "wavefronts ld": (208, 169)}),
    "early_return": (APART, {"requests st": (51, 11), "sectors st": (75, 41)}),
    "recursion": (APART, {"requests st": (18, 4), "sectors st": (48, 11)}),
    "spmv_csr": (APART, {"requests ld": (380, 344), "sectors ld": (3174, 3126)}),
    "switch_through": (APART, {"requests ld": (28, 24), "sectors ld": (115, 103)}),
    "call_table": (CALLS, {"requests st": (24, 8), "sectors st": (90, 32)}),
    "call_virtual": (CALLS, {"requests st": (8, 4), "sectors st": (32, 16)}),
    "generic_pointers": (
        "one instruction reaches several memories: the hardware counts generic loads of shared memory by a counter of their own, "
        "and constants and local arrays reached that way among the global sectors (20 to 23 requests, it changes from run to run)",
        {"requests ld": (20, 24), "sectors ld": (164, 96), "shared ld": (24, 40)}),
    "prints": ("printf is library code on the hardware, which fills a buffer in global memory by loads and stores of its own",
               {"requests ld": (112, 2), "requests st": (188, 1), "sectors ld": (115, 5), "sectors st": (191, 4)}),
    "async_zero_fill": ("copies of 16 bytes with some lanes off, or filled up by zeros, take more wavefronts than the rule for stores says",
                        {"wavefronts of copies": (60, 51)}),
}
APPROXIMATE = "the hardware looks approximate instructions (ex2, lg2, sin, rcp, rsqrt, ...) up in a table, ours are rounded correctly"
ULPS = {
    "math_fast": (APPROXIMATE, 212),
    "math_float": (APPROXIMATE + "; the library's functions start from them", 2),
    "math_double": (APPROXIMATE + "; rsqrt starts from rsqrt.approx.ftz.f64", 1),
}
PAYLOAD = "a NaN that arithmetic makes or passes on has the hardware's own bits there (0x7fffffff in single precision), the CPU's here"
NANS = {"float_ops": PAYLOAD, "double_ops": PAYLOAD, "conversions": PAYLOAD}
