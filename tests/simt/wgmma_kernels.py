"""CUDA C around `wgmma`: operands come laid out from arrays, D's registers go to and from arrays as each thread holds them."""

HELPERS = """
typedef unsigned long long u64;
__device__ __forceinline__ u64 descriptor(const void* at, unsigned leading, unsigned stride, u64 mode) {
    const u64 address = (unsigned)__cvta_generic_to_shared(at);
    return (address & 0x3ffff) >> 4 | (u64)(leading >> 4) << 16 | (u64)(stride >> 4) << 32 | mode << 62;
}
#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(left) asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(left) : "memory")
#define PROXY asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
"""


def operation(form, registers, letter, literals, from_registers=False):
    """Return a function `multiply(d, a, b, accumulate)` of one product; `a`: a descriptor, or four registers."""
    names = ", ".join(f"%{i}" for i in range(registers))
    n = registers
    given = "{" + ", ".join(f"%{n + i}" for i in range(4)) + "}" if from_registers else f"%{n}"
    n += 4 if from_registers else 1
    outputs = ", ".join(f'"+{letter}"(d[{i}])' for i in range(registers))
    inputs = ", ".join(f'"r"(a[{i}])' for i in range(4)) if from_registers else '"l"(a)'
    kind, a = {"f": "float", "r": "unsigned"}[letter], "const unsigned (&a)[4]" if from_registers else "u64 a"
    text = "".join(f", {v}" for v in literals)
    return f"""
__device__ __forceinline__ void multiply({kind} (&d)[{registers}], {a}, u64 b, int accumulate) {{
    asm volatile("{{ .reg .pred p; setp.ne.b32 p, %{n + 1}, 0; {form} {{{names}}}, {given}, %{n}, p{text}; }}"
                 : {outputs} : {inputs}, "l"(b), "r"(accumulate));
}}
"""


PRODUCT = """
extern "C" __global__ void __launch_bounds__(128) k(const uint4* A, const uint4* B, const KIND* C, KIND* D, int accumulate) {
    __shared__ __align__(1024) unsigned char a[A_BYTES + 128 * SHIFT], b[B_BYTES + 128 * SHIFT];
    for (int i = threadIdx.x; i < A_BYTES / 16; i += 128) ((uint4*)a)[i + 8 * SHIFT] = A[i];
    for (int i = threadIdx.x; i < B_BYTES / 16; i += 128) ((uint4*)b)[i + 8 * SHIFT] = B[i];
    KIND d[REGISTERS];
    for (int i = 0; i < REGISTERS; ++i) d[i] = C[threadIdx.x * REGISTERS + i];
    PROXY;
    __syncthreads();
    FENCE;
    for (int step = 0; step < STEPS; ++step)
        multiply(d, FACTOR, descriptor(b + 128 * SHIFT + step * B_STEP, B_LEADING, B_STRIDE, B_MODE) | (u64)SHIFT << 49,
                 accumulate | (step > 0));
    COMMIT;
    WAIT(0);
    for (int i = 0; i < REGISTERS; ++i) D[threadIdx.x * REGISTERS + i] = d[i];
}
"""
IN_SHARED = "descriptor(a + 128 * SHIFT + step * A_STEP, A_LEADING, A_STRIDE, A_MODE) | (u64)SHIFT << 49"
IN_REGISTERS = "((const unsigned (*)[4])A)[threadIdx.x]"


def product_kernel(form, registers, letter, literals, from_registers=False):
    """Return the text of a kernel that multiplies once for each step along K."""
    text = PRODUCT.replace("KIND", {"f": "float", "r": "unsigned"}[letter])
    factor = IN_REGISTERS if from_registers else IN_SHARED
    return HELPERS + operation(form, registers, letter, literals, from_registers) + text.replace("FACTOR", factor)
