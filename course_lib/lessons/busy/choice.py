"""What `choose` chose for products that its costs were not fitted to, in recorded times."""

from course_lib import data
from course_lib.bench.choices import judge
from course_lib.plots import Table


def chosen_for_others() -> Table:
    """Return a table of the float32 products that were held out: the choice's time, and how it compares with the best and with cuBLAS."""
    tried = data.readings("tried")
    rows = []
    for row in judge(tried, data.readings("choices")):
        if row["dtype"] == "float32":
            factors = ("A", "Aᵀ")[row["TRANSA"]] + " " + ("B", "Bᵀ")[row["TRANSB"]]
            size = " × ".join(str(row[name]) for name in ("M", "N", "K"))
            rows.append((size, factors, f"{1e6 * row['chosen'][2]:.1f}", f"{row['ratio']:.0%}", f"{row['to_library']:.0%}"))
    return Table(("M × N × K", "product", "chosen, µs", "speed, % of the best tried", "% of cuBLAS"), rows,
                 f"float32, products that took no part in the fit, all times {tried.label}")
