"""The kernels for tensor cores: TF32 by `wmma` and by `mma`, bfloat16, and floats split into three bfloat16."""

from collections.abc import Callable, Iterator, Mapping

from course_lib.kernels.kernel import FOLDER, Kernel, ceil_div
from course_lib.kernels.parameters import MAX_STATIC_SHARED, MAX_SUMS_OF_BLOCK, MAX_SUMS_OF_THREAD, Parameter, Rule
from course_lib.kernels.rules import WHY_SHARED, divides_rule, even_loads_rule, sums_rule, warps_rule

AMPERE = (8, 0)        # the first compute capability whose tensor cores take TF32 and bfloat16; PTX ISA, "mma", target notes
WHY_SHAPE = "a tensor core multiplies matrices of fixed sizes, and the warp's tile is put together from whole ones"
WHY_PIECES = (
    "pieces of 16 bytes are exchanged within 128 bytes, so that eight rows of a column lie in different banks; "
    "for that a line of all banks must be whole rows, or a row whole lines"
)


def _tiles(BM, BN, BK, WM, WN):
    """Return the five parameters with these defaults."""
    return (
        Parameter("BM", "rows of C a block computes", BM, choices=(64, 128)),
        Parameter("BN", "columns of C a block computes", BN, choices=(64, 128)),
        Parameter("BK", "columns of A a block loads at a time", BK, choices=(16, 32)),
        Parameter("WM", "rows of C a warp computes", WM, choices=(32, 64)),
        Parameter("WN", "columns of C a warp computes", WN, choices=(32, 64)),
    )


def multiples_rule(**units: int) -> Rule:
    """Return the rule that these parameters are multiples of the sides of what an instruction multiplies.

    >>> multiples_rule(WM=16, WN=8).problem({"WM": 24, "WN": 8})
    'WM = 24 is no multiple of 16: WM can be 16 or 32'
    """

    def says(p):
        name, unit = next((n, unit) for n, unit in units.items() if p[n] % unit)
        below = p[name] // unit * unit
        return f"{name} = {p[name]} is no multiple of {unit}: {name} can be {below or unit} or {below + unit}"

    return Rule(" and ".join(f"{n} % {unit} == 0" for n, unit in units.items()), WHY_SHAPE,
                lambda p: all(p[n] % unit == 0 for n, unit in units.items()), says)


def pieces_rule(*names: str) -> Rule:
    """Return the rule on rows of bfloat16 whose pieces are exchanged.

    >>> pieces_rule("BK", "BN").problem({"BK": 48, "BN": 64})
    'BK = 48 is not 16, 32 or a multiple of 64: BK can be 32 or 64'
    """

    def fits(value):
        return value in (16, 32) or value % 64 == 0

    def says(p):
        name = next(n for n in names if not fits(p[n]))
        below, above = (16, 32) if p[name] < 32 else (32, 64) if p[name] < 64 else (p[name] // 64 * 64, p[name] // 64 * 64 + 64)
        return f"{name} = {p[name]} is not 16, 32 or a multiple of 64: {name} can be {below} or {above}"

    return Rule(" and ".join(f"({n} == 16 or {n} == 32 or {n} % 64 == 0)" for n in names), WHY_PIECES,
                lambda p: all(fits(p[n]) for n in names), says)


def shared_rule(text: str, size: Callable[[Mapping[str, int]], int], depth_rule: Rule) -> Rule:
    """Return the rule that all of `size(parameters)` bytes, which `text` computes, fit in static shared memory.

    `depth_rule`: what else BK must obey, so that no other value is proposed.
    """

    def says(p):
        smaller = ({**p, "BK": BK} for BK in range(p["BK"], 0, -1))
        largest = next((q["BK"] for q in smaller if size(q) <= MAX_STATIC_SHARED and depth_rule.holds(q)), 0)
        right = f"BK can be up to {largest}" if largest else "take a smaller BM or BN"
        return (f"{text} = {size(p)} bytes, but at most {MAX_STATIC_SHARED} (48 KiB) of shared memory are allowed: {right}")

    return Rule(f"{text} <= {MAX_STATIC_SHARED}", WHY_SHARED, lambda p: size(p) <= MAX_STATIC_SHARED, says)


def _warps(p):
    return max(p["BM"] // p["WM"], 1) * max(p["BN"] // p["WN"], 1)


def _kernel(name, idea, inputs, tiles, rules, shared):
    """Return a kernel whose warps have tiles of WM × WN; `shared`: the bytes of shared memory in words, and as a function."""
    parameters, (text, size) = _tiles(*tiles), shared
    return Kernel(
        name, FOLDER / f"{name}.cu", name, idea=idea, lesson="16_tensor_cores", parameters=parameters,
        rules=(divides_rule("BM", "WM"), divides_rule("BN", "WN"), *rules, warps_rule(),
               sums_rule(("WM", "WN"), 32 * MAX_SUMS_OF_THREAD, "a warp"), sums_rule(("BM", "BN"), MAX_SUMS_OF_BLOCK, "a block"),
               shared_rule(text, size, next(rule for rule in rules if "BK" in rule.text))),
        passes=tuple(p.name for p in parameters), block_of=lambda p: (32 * _warps(p), 1, 1),
        grid_of=lambda M, N, p: (ceil_div(N, p["BN"]), ceil_div(M, p["BM"]), 1), shared_of=size, inputs=inputs, needs=AMPERE)


def kernels() -> Iterator[Kernel]:
    """Yield the kernels, from the simplest to the most exact."""
    yield _kernel(
        "sgemm_wmma", "tensor cores by the compiler's names: a warp multiplies 16 × 8 by 8 × 16 in TF32", "tf32", (64, 64, 32, 32, 32),
        (multiples_rule(WM=16, WN=16, BK=8), even_loads_rule()),
        ("4 * (BM*(BK+4) + BK*(BN+8) + 384*warps)",
         lambda p: 4 * (p["BM"] * (p["BK"] + 4) + p["BK"] * (p["BN"] + 8) + 384 * _warps(p))))
    yield _kernel(
        "sgemm_mma", "the machine's own instruction for tensor cores: every lane knows which elements it holds", "tf32",
        (128, 128, 32, 64, 32), (multiples_rule(WM=16, WN=8, BK=8, BN=16), even_loads_rule()),
        ("4 * (BM*(BK+4) + BK*(BN+8))", lambda p: 4 * (p["BM"] * (p["BK"] + 4) + p["BK"] * (p["BN"] + 8))))
    halves = (multiples_rule(WM=16, WN=16), pieces_rule("BK", "BN"), even_loads_rule())
    yield _kernel(
        "sgemm_bf16", "A and B rounded to bfloat16 on their way to shared memory, read there by ldmatrix", "bf16", (128, 128, 32, 64, 32),
        halves, ("2 * BK * (BM + BN)", lambda p: 2 * p["BK"] * (p["BM"] + p["BN"])))
    yield _kernel(
        "sgemm_split", "float32's accuracy on tensor cores: every float is three bfloat16, and six of nine products matter", "bf16x3",
        (128, 128, 16, 64, 32), halves, ("6 * BK * (BM + BN)", lambda p: 6 * p["BK"] * (p["BM"] + p["BN"])))
