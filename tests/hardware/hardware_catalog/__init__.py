"""The kernels that were run on a real GPU: `CASES` by name. Importing it needs NumPy alone."""

from hardware_catalog import arithmetic, blocks, bulk, clusters, control, copies, diverging, floating, products, warps  # noqa: F401
from hardware_catalog.cases import CASES, KERNELS, Case, bits_of, wrong

__all__ = ["CASES", "KERNELS", "Case", "bits_of", "wrong"]
