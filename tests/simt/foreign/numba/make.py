"""Write this folder's PTX anew: `pip install numba-cuda[cu13]`, then `python make.py`; no GPU is needed."""

from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

from cuda.bindings import nvjitlink
from numba import cuda
from numba.core import sigutils
from numba.cuda import dispatcher
from programs import KERNELS, LINKED

HERE = Path(__file__).parent
dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(8, 0))  # device functions ask for it


def write(name, how, text):
    """Keep a text under a header that says where it comes from."""
    entry = text.split(".entry ")[1].split("(")[0].strip()
    head = f"// numba-cuda {version('numba-cuda')}: {how}, cc 8.0\n// entry {entry}\n"
    (HERE / f"{name}.ptx").write_text(f"{head}{text.rstrip(chr(0))}\n".replace(f"{HERE}/", ""))
    print(head, end="")


def linked(function, types, options):
    """Return PTX with the functions in it that Numba keeps in CUDA C++: both go through NVVM's code for linking."""
    codes, _ = cuda.compile_all(function, types, cc=(8, 0), device=False, output="ltoir", abi="numba", **options)
    link = nvjitlink.create(3, ["-arch=sm_80", "-lto", "-ptx"])
    for number, code in enumerate(codes):
        code = getattr(code, "code", code)
        nvjitlink.add_data(link, nvjitlink.InputType.LTOIR, code, len(code), str(number))
    nvjitlink.complete(link)
    text = bytearray(nvjitlink.get_linked_ptx_size(link))
    nvjitlink.get_linked_ptx(link, text)
    return text.decode()


def main():
    for name, (function, signature, options) in KERNELS.items():
        types, _ = sigutils.normalize_signature(signature)
        if name in LINKED:                  # before the other: Numba keeps what it lowered with line numbers, which cannot be linked
            write(f"{name}_linked", f"compile_all({signature}, {options}), nvJitLink", linked(function, types, options))
        text, _ = cuda.compile_ptx(function, types, cc=(8, 0), lineinfo="debug" not in options, **options)
        write(name, f"compile_ptx({signature}, {options})", text)


main()
