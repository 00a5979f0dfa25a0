"""What the course's five documents measured, as printed, each table with its place and GPU. Nothing here was run by us."""

from dataclasses import dataclass
from typing import Any

TITLES = {
    "L": "Jeong-Gun Lee, slides on matrix multiplication in CUDA, GTX 690",
    "W": "Zhengyang Wang and Fan Jin, report for CSE 260, one GPU of a Tesla K80, float64",
    "N": "Wong Ngai Sum, report for COMP3231, 2018, SGEMM in Caffe; names no GPU",
    "C": "Lung-Sheng Chien, Hand-Tuned SGEMM on GT200 GPU, 2010, Tesla C1060, GTX 285, GTX 295",
    "K": "David Koppelman, homework on vtx-xform-size, Quadro M2200",
}


@dataclass(frozen=True)
class PrintedTable:
    """One printed table: where it stands, on which GPU it was measured, names and units of its columns, its rows."""

    document: str
    place: str
    device: str
    columns: tuple[str | int, ...]
    rows: tuple[tuple[Any, ...], ...]

    def column(self, name: str | int) -> dict[Any, Any]:
        """Return the first column -> the named one, without its gaps.

        >>> CHIEN_4.column("CUBLAS")[4096]
        344.15
        """
        at = self.columns.index(name)
        return {row[0]: row[at] for row in self.rows if row[at] is not None}


# Tables 2 and 3: cycles of one multiply-add that needs the last one's result, fastest and slowest thread.
CHIEN_2 = PrintedTable("C", "Table 2", "Tesla C1060", ("threads", "minimum", "maximum", "total"), (
    (1, 34.6, 34.6, "34.6"), (64, 34.6, 34.6, "34.6"), (128, 34.7, 34.8, "34.6"), (192, 38.6, 39.3, "36"),
    (224, 42.4, 43.2, "42"), (256, 46.6, 49.5, "48"), (288, 54.0, 54.7, "54"), (320, 60.2, 60.6, "60"),
    (384, 72.1, 72.7, "72"), (512, 96.1, 96.9, "96")))
CHIEN_3 = PrintedTable("C", "Table 3", "Tesla C1060", ("threads", "minimum", "per warp, minimum", "maximum", "per warp, maximum"), (
    (1, 31.5, None, 31.5, None), (64, 31.5, None, 31.5, None), (128, 31.4, None, 31.5, None),
    (192, 31.5, None, 31.7, None), (224, 34.9, None, 35.5, None), (256, 33.9, "4.2", 37.0, "4.6"),
    (320, 38.8, "3.9", 42.6, "4.3"), (384, 24.4, "2.03", 50.5, "4.21"), (512, 29.7, "1.86", 66.6, "4.16")))
CHIEN_4 = PrintedTable("C", "Table 4", "Tesla C1060", ("N", "CUBLAS", "Volkov", "R"), (          # GFLOP/s
    (256, 198.92, 207.67, "0.9563"), (512, 222.59, 226.90, "0.9810"), (1024, 281.39, 274.60, "1.0248"),
    (2048, 331.03, 324.94, "1.0187"), (4096, 344.15, 342.65, "1.0044")))
CHIEN_5 = PrintedTable("C", "Table 5", "Tesla C1060", ("instruction", "latency", "cycles a warp"), (
    ("MOV reg, [gmem]", 530, 4), ("MOV [smem], reg", 36, 4), ("ADD, SUB", 24, 4),
    ("MAD dest, src1, src2, src3", 31.5, 4), ("MAD dest, [smem], src2, src3", 34.6, 6)))
CHIEN_6 = PrintedTable("C", "Table 6", "Tesla C1060", ("N", 512, 384, 320, 256, 192), (          # GFLOP/s by active threads an SM
    (256, 207.668, 207.959, 207.446, 207.325, 208.214), (512, 226.895, 257.561, 265.977, 240.991, 263.005),
    (1024, 274.597, 295.442, 304.576, 307.883, 301.340), (2048, 324.941, 336.311, 338.103, 336.047, 321.100),
    (4096, 342.651, 343.713, 343.595, 341.188, 325.226)))
CHIEN_7 = PrintedTable("C", "Table 7", "Tesla C1060", ("N", "volkov", 512, 384, 320, 256, 192), (      # volkov_variant
    (256, 207.668, 157.290, 157.469, 157.246, 158.149, 157.359), (512, 226.895, 206.597, 235.508, 250.517, 206.906, 214.208),
    (1024, 274.597, 273.237, 290.352, 288.885, 272.905, 226.370), (2048, 324.941, 326.253, 333.650, 325.749, 302.861, 238.335),
    (4096, 342.651, 353.234, 350.770, 340.168, 308.491, 240.456)))
CHIEN_11 = PrintedTable("C", "Table 11", "Tesla C1060", ("N", "volkov", "method 1", 320, 256, 192), (  # method1_variant
    (256, 207.668, 145.308, 118.354, 118.392, 118.477), (512, 226.895, 290.171, 346.754, 225.800, 224.832),
    (1024, 274.597, 325.223, 361.492, 333.976, 287.793), (2048, 324.941, 348.155, 420.841, 379.480, 305.243),
    (4096, 342.651, 352.914, 430.517, 382.770, 307.271)))

WANG_1 = PrintedTable("W", "Table 1", "Tesla K80", ("kernel", 512), (                            # GFLOP/s, float64
    ("naive", 91.7), ("16 x 16", 226.5), ("32 x 32", 257.4), ("32 x 8, 4 outputs", 361.7)))
WANG_2 = PrintedTable("W", "Table 2", "Tesla K80", ("N", "peak", "block"), (
    (256, 382.9, (16, 16)), (512, 719.1, (16, 8)), (1024, 693.0, (16, 8)), (2048, 717.2, (16, 8))))
WANG_3 = PrintedTable("W", "Table 3", "Tesla K80", ("N", "best", "naive"), (
    (256, 382.9, 88.5), (512, 719.1, 91.7), (1024, 693.0, 90.2), (2048, 717.2, 87.7)))
WANG_4 = PrintedTable("W", "Table 4", "Tesla K80", ("N", "BLAS", "16 x 8", "16 x 16"), (
    (256, 5.84, 357.3, 386.7), (257, None, 304.4, 328.2), (329, None, 420.8, 401.9), (511, None, 646.5, 506.8),
    (512, 17.4, 717.4, 612.7), (513, None, 463.1, 411.2), (631, None, 581.5, 559.8), (768, 45.3, 693.4, 625.8),
    (843, None, 542.6, 513.4), (960, None, 709.4, 626.9), (1023, 73.7, 623.6, 577.6), (1024, 73.6, 689.4, 640.3),
    (1025, 73.5, 573.3, 512.0), (1374, None, 608.9, 550.6), (1536, None, 704.0, 634.1), (1720, None, 664.5, 592.6),
    (1845, None, 630.8, 563.0), (2047, 171, 643.6, 577.1), (2048, 182, 717.7, 640.7), (2049, 175, 616.2, 546.9)))

LEE_CPU = PrintedTable("L", "Performance Comparison", "CPU, not named", ("N", "CPU", "pthread", "AVX", "OpenMP"), (   # no unit printed
    (256, 0.06, 0.04, 0.09, 0.04), (512, 0.64, 0.20, 0.48, 0.21), (1024, 7.17, 2.33, 3.25, 2.38),
    (2048, 156.19, 36.59, 25.50, 38.05), (4096, 1311.08, 333.69, 206.35, 349.36)))
LEE_GPU = PrintedTable("L", "Performance Comparison", "GTX 690",
                  ("N", "CPU", "Initial", "Tiling", "Coalescing", "Bank Conflict", "Loop Unrolling"), (
    (256, 0.06, 0.13, 0.11, 0.11, 0.11, 0.11), (512, 0.64, 0.13, 0.11, 0.11, 0.11, 0.11),
    (1024, 7.17, 0.19, 0.15, 0.15, 0.14, 0.12), (2048, 156.19, 0.45, 0.41, 0.43, 0.38, 0.26),
    (4096, 1311.08, 3.60, 3.50, 3.60, 3.30, 2.20)))

KOPPELMAN_RESOURCES = PrintedTable("K", "CUDA Kernel Resource Usage", "Quadro M2200",
                              ("kernel", "shared", "const", "local", "registers", "max threads"), (
    ("mxv_g_only", 0, 1088, 0, 32, 1024), ("mxv_i_lbuf", 0, 1088, 0, 32, 1024), ("mxv_o_lbuf", 0, 1088, 0, 32, 1024),
    ("mxv_o_per_thd", 0, 1088, 0, 31, 1024), ("mxv_vec_ld", 0, 1088, 64, 40, 1024), ("mxv_vls", 16384, 1088, 0, 48, 1024),
    ("mxv_sh", 36864, 1088, 0, 32, 1024), ("mxv_sh_ochunk", 4096, 1088, 0, 54, 1024)))
KOPPELMAN_LAUNCH = PrintedTable("K", "launch table", "Quadro M2200", ("kernel", "us", "GF", "GB/s", "I/F", "utilisation"), (
    ("mxv_g_only", 6118, "43.873", "21.937", "1.21", "12.5%"), ("mxv_i_lbuf", 6836, "39.266", "19.633", "1.22", "12.5%"),
    ("mxv_o_lbuf", 6905, "38.873", "19.437", "1.22", "12.5%"), ("mxv_o_per_thd", 4602, "58.331", "29.166", "3.44", "12.5%"),
    ("mxv_vec_ld", 4144, "64.776", "32.388", "1.22", "50.0%"), ("mxv_vls", 2606, "103.017", "51.509", "1.50", "100.0%"),
    ("mxv_sh", 4084, "65.733", "32.867", "4.14", "100.0%"), ("mxv_sh_ochunk", 2598, "103.337", "51.669", "2.00", "100.0%")))
KOPPELMAN_SWEEP = PrintedTable("K", "warp sweep of mxv_o_per_thd", "Quadro M2200", ("warps", "active", "us", "GF", "GB/s"), (
    (4, 4, 24269, "11", "6"), (8, 8, 13178, "20", "10"), (12, 12, 8574, "31", "16"), (16, 16, 6741, "40", "20"),
    (20, 20, 6059, "44", "22"), (24, 24, 5198, "52", "26"), (28, 28, 4935, "54", "27"), (32, 32, 4439, "60", "30")))
KOPPELMAN_COUNTED = PrintedTable("K", "p mode, mxv_o_per_thd", "Quadro M2200",       # rates in GB/s; 12.5 % of each load is used
                            ("warps", "active", "us", "GF", "L2 read", "L2 write", "DRAM read", "DRAM write", "GB/s"), (
    (4, 4, 24520, "11", 23.7, "2.7", 4.6, "2.7", "5"), (8, 8, 12458, "22", 45.0, "5.4", 7.3, "5.4", "11"),
    (12, 12, 8820, "30", 62.9, "7.6", 9.6, "7.6", "15"), (16, 16, 8167, "33", 67.4, "8.2", 9.8, "8.2", "16"),
    (20, 20, 6189, "43", 88.7, "10.8", 12.8, "10.8", "22"), (24, 24, 6336, "42", 86.4, "10.6", 12.3, "10.6", "21"),
    (28, 28, 5065, "53", 107.8, "13.2", 15.1, "13.2", "26"), (32, 32, 5364, "50", 101.8, "12.5", 14.1, "12.5", "25")))

WONG_RATES = PrintedTable("N", "A", "not named", ("version", "iterations a second"), (
    ("separate multiplication and addition", 14.5), ("fused", 15.0), ("cuBLAS", 45.0)))
