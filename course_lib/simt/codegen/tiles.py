"""One 8 x 8 tile of a product of matrices in double precision, as LLVM code that `runtime/products.cuh` calls.

A register of A holds 8 rows of 4 elements, lane 4 * row + column; one of B 8 columns of 4; two of C or D hold the even and the odd columns of
8 rows (isa/fragments.py). So the registers of all lanes, as they lie in memory, are small matrices already. A row of D is one vector: it
begins as C's, and takes the four products in the order of k, each with one rounding.
"""

ROWS, DEPTH = 8, 4


def listed(numbers: list[int]) -> str:
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
    return {"double_tile": double_tile()}
