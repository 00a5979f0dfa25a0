"""Write this folder's PTX anew: `pip install triton==3.*`, then `python make.py`; no GPU is needed."""

from importlib.metadata import version
from pathlib import Path

import triton
from programs import KERNELS
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

# Sizes are multiples of 16 too, so that accesses can be wide and copies asynchronous.
ALIGNED = ("saxpy", "relu_bf16", "layernorm", "matmul_f16", "matmul_tf32", "attention")
TARGET = GPUTarget("cuda", 80, 32)


def main():
    for name, (function, types, constants, options) in KERNELS.items():
        given = dict(zip(function.arg_names, types))
        attributes = {(i,): [["tt.divisibility", 16]] for i, t in enumerate(types) if t.startswith("*") or name in ALIGNED}
        source = ASTSource(function, {**given, **dict.fromkeys(constants, "constexpr")}, constants, attributes)
        made = triton.compile(source, target=TARGET, options=options)
        about = made.metadata
        head = (f"// triton {version('triton')}: {function.__name__}({', '.join(types)}; {constants}), sm_80\n"
                f"// entry {about.name}, {32 * about.num_warps} threads, {about.shared} bytes of dynamic shared memory, "
                f"scratch {about.global_scratch_size}\n")
        text = made.asm["ptx"].replace(str(Path(__file__).parent), "").rstrip("\0\n ")
        Path(__file__).with_name(f"{name}.ptx").write_text(f"{head}{text}\n")
        print(head, end="")


main()
