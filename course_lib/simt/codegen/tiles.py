"""Blocks of a warp's matrices, as LLVM code that `runtime/products.cuh` calls.

A register of A holds 8 rows of 4 elements, lane 4 * row + column, or of 8 halves, two per lane; one of B holds 8 columns of 4 or 8; two of
C or D hold the even and the odd columns of 8 rows (isa/fragments.py). So the registers of all lanes, as they lie in memory, are small
matrices already.

In double precision `double_tile` multiplies such blocks as they are. A row of D is one vector: it begins as C's, and takes the four
products in the order of k, each with one rounding. Other numbers are first copied into matrices of 32-bit elements, with `stride` elements
from row to row.
"""

from collections.abc import Sequence

ROWS, DEPTH = 8, 4


def listed(numbers: Sequence[int]) -> str:
    """Return the constant of a shuffle."""
    return f"<{len(numbers)} x i32> <{', '.join(f'i32 {n}' for n in numbers)}>"


def double_tile() -> str:
    """Return the function `double_tile(a, b, c0, c1, d0, d1)`: D = A * B + C, all given as addresses of registers; D may be C."""
    lines = ["define void @double_tile(i64 %a.at, i64 %b.at, i64 %c0.at, i64 %c1.at, i64 %d0.at, i64 %d1.at) nounwind {", "entry:"]
    lines += [f"  %{name} = inttoptr i64 %{name}.at to ptr" for name in ("a", "b", "c0", "c1", "d0", "d1")]
    lines.append("  %columns = load <32 x double>, ptr %b, align 8")
    for k in range(DEPTH):
        lines.append(f"  %b.{k} = shufflevector <32 x double> %columns, <32 x double> poison, {listed([DEPTH * n + k for n in range(8)])}")
    for pair in range(ROWS // 2):
        lines += rows(pair)
    return "\n".join([*lines, "  ret void", "}"])


def rows(pair: int) -> list[str]:
    """Return the lines for two neighbouring rows of D."""
    lines, at = [], 8 * pair
    for half in range(2):
        lines += [f"  %c{half}.at.{pair} = getelementptr double, ptr %c{half}, i32 {at}",
                  f"  %c{half}.{pair} = load <8 x double>, ptr %c{half}.at.{pair}, align 8"]
    for row in range(2):
        name = f"{2 * pair + row}"
        merged = [n for column in range(4) for n in (4 * row + column, 8 + 4 * row + column)]
        lines.append(f"  %sum.{name}.0 = shufflevector <8 x double> %c0.{pair}, <8 x double> %c1.{pair}, {listed(merged)}")
        for k in range(DEPTH):
            lines += [f"  %a.at.{name}.{k} = getelementptr double, ptr %a, i32 {DEPTH * int(name) + k}",
                      f"  %a.{name}.{k} = load double, ptr %a.at.{name}.{k}, align 8",
                      f"  %head.{name}.{k} = insertelement <8 x double> poison, double %a.{name}.{k}, i32 0",
                      f"  %all.{name}.{k} = shufflevector <8 x double> %head.{name}.{k}, <8 x double> poison, <8 x i32> zeroinitializer",
                      f"  %sum.{name}.{k + 1} = call <8 x double> @llvm.fma.v8f64(<8 x double> %all.{name}.{k}, <8 x double> %b.{k}, "
                      f"<8 x double> %sum.{name}.{k})"]
    first, second = (f"%sum.{2 * pair + row}.{DEPTH}" for row in range(2))
    for half in range(2):
        lines += [f"  %d{half}.{pair} = shufflevector <8 x double> {first}, <8 x double> {second}, {listed(list(range(half, 16, 2)))}",
                  f"  %d{half}.at.{pair} = getelementptr double, ptr %d{half}, i32 {at}",
                  f"  store <8 x double> %d{half}.{pair}, ptr %d{half}.at.{pair}, align 8"]
    return lines


def functions() -> dict[str, str]:
    """Return the functions by name, for `scalar.lower_module`."""
    eight, four = range(8), range(4)
    return {
        "double_tile": double_tile(),
        "halves_by_rows": reader("halves_by_rows", "<64 x i16>", [[8 * r + c for c in eight] for r in eight]),
        "halves_by_columns": reader("halves_by_columns", "<64 x i16>", [[8 * c + r for c in eight] for r in eight]),
        "words_by_rows": reader("words_by_rows", "<32 x i32>", [[4 * r + c for c in four] for r in eight]),
        "words_by_columns": reader("words_by_columns", "<32 x i32>", [[4 * c + r for c in eight] for r in four]),
        "pairs_by_rows": reader("pairs_by_rows", "<32 x i32>", [[4 * r + c // 2 + 32 * (c % 2) for c in eight] for r in eight], True),
        "store_halves": WRITER.replace("NAME", "store_halves").replace("SECOND", "").replace("BODY", "\n".join(map(stored_halves, eight))),
        "store_pairs": WRITER.replace("NAME", "store_pairs").replace("SECOND", "i64 %more.at, ").replace(
            "BODY", "  %more = inttoptr i64 %more.at to ptr\n" + "\n".join(map(stored_pairs, eight))),
    }


def reader(name: str, whole: str, masks: Sequence[Sequence[int]], second: bool = False) -> str:
    """Return the function `name(from, [more,] to, stride)`: row r of the matrix gets the elements masks[r] of the register (or of both)."""
    lines = [f"define void @{name}(i64 %from.at, {'i64 %more.at, ' * second}i64 %to.at, i32 %stride) nounwind {{", "entry:",
             "  %from = inttoptr i64 %from.at to ptr", "  %to = inttoptr i64 %to.at to ptr", f"  %v = load {whole}, ptr %from, align 4"]
    if second:
        lines += ["  %more = inttoptr i64 %more.at to ptr", f"  %u = load {whole}, ptr %more, align 4"]
    for r, mask in enumerate(masks):
        row, wide = f"%row.{r}", f"<{len(mask)} x i32>"
        lines += [f"  {row} = shufflevector {whole} %v, {whole} {'%u' if second else 'poison'}, {listed(mask)}",
                  f"  %by.{r} = mul i32 %stride, {r}", f"  %at.{r} = getelementptr i32, ptr %to, i32 %by.{r}"]
        if "i16" in whole:
            lines.append(f"  {row}.wide = zext <{len(mask)} x i16> {row} to {wide}")
            row += ".wide"
        lines.append(f"  store {wide} {row}, ptr %at.{r}, align 4")
    return "\n".join([*lines, "  ret void", "}"])


WRITER = """
define void @NAME(i64 %to.at, SECONDi64 %from.at, i32 %stride) nounwind {
entry:
  %to = inttoptr i64 %to.at to ptr
  %from = inttoptr i64 %from.at to ptr
BODY
  ret void
}"""
ROW = """  %by.R = mul i32 %stride, R
  %at.R = getelementptr i32, ptr %from, i32 %by.R
  %row.R = load <8 x i32>, ptr %at.R, align 4
"""


def stored_halves(r: int) -> str:
    """Return the lines that store a row of halves into a register."""
    return (ROW + "  %short.R = trunc <8 x i32> %row.R to <8 x i16>\n  %there.R = getelementptr <8 x i16>, ptr %to, i32 R\n"
            "  store <8 x i16> %short.R, ptr %there.R, align 4").replace("R", str(r))


def stored_pairs(r: int) -> str:
    """Return the lines that store the even and the odd elements of a row into two registers."""
    lines = ROW
    for half, name in enumerate(("to", "more")):
        lines += (f"  %part{half}.R = shufflevector <8 x i32> %row.R, <8 x i32> poison, {listed(range(half, 8, 2))}\n"
                  f"  %there{half}.R = getelementptr <4 x i32>, ptr %{name}, i32 R\n"
                  f"  store <4 x i32> %part{half}.R, ptr %there{half}.R, align 4\n")
    return lines.replace("R", str(r))
