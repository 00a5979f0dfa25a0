"""Tile sizes of the kernels before `sgemm_stream_k` and `dgemm_stream_k` that were fastest somewhere, for a sweep over many sizes."""

TUNED_SIZES = (256, 257, 329, 511, 512, 513, 631, 768, 843, 960, 1023, 1024, 1025, 1374, 1536, 1720, 1845, 2047, 2048, 2049, 4096, 8192)


def _warp(BM, BN, BK, WM, WN, TM, TN):
    return {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "TM": TM, "TN": TN}


def _thread(BM, BN, BK, TM, TN):
    return {"BM": BM, "BN": BN, "BK": BK, "TM": TM, "TN": TN}


def _outputs(TA, TB, TW, bx, by):
    return {"TA": TA, "TB": TB, "TW": TW, "bx": bx, "by": by}


# The fastest at one of the sizes 256, 512, 768, 1024, 1374, 2048, 4096 among 118 combinations that were tried on an H200, those that
# came close at two or more of them, and the best of each other rung.
TUNED = {
    "sgemm_warp_tile": (
        _warp(32, 64, 16, 16, 32, 4, 4), _warp(64, 32, 16, 16, 32, 4, 4), _warp(32, 32, 32, 16, 32, 4, 4), _warp(64, 64, 16, 16, 32, 4, 4),
        _warp(64, 64, 16, 32, 64, 8, 8), _warp(64, 128, 16, 32, 64, 8, 8), _warp(128, 64, 16, 64, 32, 8, 8),
        _warp(128, 128, 8, 32, 64, 8, 8), _warp(128, 128, 8, 64, 32, 8, 8)),
    "sgemm_double_buffered": (
        _warp(32, 64, 16, 16, 32, 4, 4), _warp(64, 64, 16, 16, 32, 4, 4), _warp(128, 128, 16, 32, 64, 8, 8)),
    "sgemm_2d_tile": (_thread(32, 32, 32, 2, 2), _thread(64, 64, 16, 4, 4), _thread(128, 128, 8, 8, 8)),
    "sgemm_vectorized": (_thread(64, 64, 32, 4, 4), _thread(128, 128, 16, 8, 8)),
    "dgemm_outputs": (
        _outputs(16, 32, 32, 16, 8), _outputs(32, 16, 32, 16, 8), _outputs(32, 32, 32, 16, 16), _outputs(32, 32, 16, 16, 8),
        _outputs(32, 32, 32, 16, 8), _outputs(32, 64, 16, 16, 8), _outputs(64, 64, 16, 16, 16), _outputs(64, 64, 8, 16, 8),
        _outputs(64, 64, 8, 8, 16), _outputs(128, 64, 16, 16, 16)),
    "dgemm_readonly": (_outputs(64, 64, 8, 8, 16), _outputs(128, 64, 16, 16, 16)),
    "dgemm_rank1": (_outputs(64, 64, 8, 16, 8),),
}
