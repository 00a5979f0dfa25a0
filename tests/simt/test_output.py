"""What kernels print: C's formats against the C library's own snprintf, the order of the text, and its limit."""

import ctypes
import random
import struct

import numpy as np
import pytest
from launching import INT, fault, launch

from course_lib import simt
from course_lib.simt.host import output

LIBC = ctypes.CDLL(None)
INTEGERS = [0, 1, -1, 7, 255, -128, 127, 32767, -32768, 65535, 2**31 - 1, -2**31, 2**32 - 1]
LONGS = [*INTEGERS, 2**63 - 1, -2**63, 2**64 - 1, 0x123456789ABCDEF]
REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-5, 123456.789, 1e10, 1e300, -1e-300, 5e-324, 2.5, 3.5, 0.5, 99999.95, float("inf"), float("-inf"),
         float("nan")]


def c_text(form, *args):
    """Format with the C library."""
    given = [ctypes.c_double(a) if isinstance(a, float) else ctypes.c_char_p(a) if isinstance(a, bytes)
             else ctypes.c_int64(a - (1 << 64) if a >= 1 << 63 else a) for a in args]
    buffer = ctypes.create_string_buffer(4096)
    LIBC.snprintf(buffer, 4096, form.encode(), *given)
    return buffer.value.decode("latin-1")


def packed(*args):
    """Pack as CUDA does: int in 4 bytes, everything else in 8, each aligned to its size; (value, bytes) pairs."""
    data = b""
    for value, nbytes in args:
        data += b"\0" * (-len(data) % nbytes)
        data += struct.pack("<d", value) if isinstance(value, float) else (value & ((1 << 8 * nbytes) - 1)).to_bytes(nbytes, "little")
    return data


FLAGS = ["", "-", "+", " ", "0", "#", "+0", "-#", " 0", "#0", "-+"]


@pytest.mark.sampled(test=2)
@pytest.mark.parametrize("letter", "diouxX")
def test_integers_as_the_c_library_prints_them(letter):
    for flags in FLAGS:
        for width in ("", "1", "12", "20"):
            for precision in ("", ".0", ".", ".5", ".15"):
                for size, nbytes in (("", 4), ("hh", 4), ("h", 4), ("l", 8), ("ll", 8), ("z", 8)):
                    form = f"<%{flags}{width}{precision}{size}{letter}>"
                    for value in LONGS if nbytes == 8 else INTEGERS:
                        assert output.render(form.encode(), packed((value, nbytes)))[0] == c_text(form, value), form


@pytest.mark.parametrize("letter", "fFeEgGaA")
def test_reals_as_the_c_library_prints_them(letter):
    for flags in FLAGS:
        for width in ("", "9", "25"):
            for precision in ("", ".0", ".", ".1", ".3", ".10", ".14"):
                form = f"<%{flags}{width}{precision}{letter}>"
                for value in REALS:
                    expected = c_text(form, value)
                    if value != value:
                        expected = expected.replace("-nan", "nan").replace("-NAN", "NAN")
                    assert output.render(form.encode(), packed((value, 8)))[0] == expected, (form, value)


def test_characters_strings_stars_and_many_arguments():
    strings = {64: b"hello", 128: b""}
    assert output.render(b"%-8s|%8s|%.2s|%c|%5c|%-5c|%s", packed((64, 8), (64, 8), (64, 8), (65, 4), (66, 4), (67, 4), (128, 8)),
                         strings.get)[0] == "hello   |   hello|he|A|    B|C    |"
    stars = packed((5, 4), (42, 4), (-6, 4), (7, 4), (2, 4), (3.14159, 8), (12, 4), (3, 4), (1e5, 8))
    assert output.render(b"%*d|%-*d|%.*f|%*.*e", stars)[0] == c_text("%*d|%-*d|%.*f|%*.*e", 5, 42, -6, 7, 2, 3.14159, 12, 3, 1e5)
    assert output.render(b"%d %% %s %q 100%", packed((3, 4), (999, 8)), strings.get)[0] == "3 % (null) %q 100%"
    assert output.render(b"%p", packed((0x1234, 8)))[0] == "0x1234"
    form, values = b" %d" * 32, packed(*((i, 4) for i in range(32)))
    assert output.render(form, values) == ("".join(f" {i}" for i in range(32)), 32)
    assert output.render(form + b" %d", values) == ("".join(f" {i}" for i in range(32)) + " %d", 32)
    assert output.render(b"%d %lld", b"\1") == ("1 0", 2)  # memory that ends early


def test_random_lists_of_arguments_keep_their_alignment():
    chance = random.Random(5)
    for _ in range(200):
        kinds = [chance.choice(["d", "lld", "f", "hhx", "c", "5.1e"]) for _ in range(chance.randint(1, 10))]
        args = [chance.choice(REALS[:14]) if k[-1] in "fe" else chance.randint(33, 126) if k == "c" else chance.choice(INTEGERS)
                for k in kinds]
        sizes = [8 if k in ("lld", "f", "5.1e") else 4 for k in kinds]
        form = " ".join("%" + k for k in kinds)
        found = "".join(output.render(form.encode(), packed(*zip(args, sizes)))[0])
        assert found == " ".join(c_text("%" + k, a) for k, a in zip(kinds, args))


# -- in kernels ---------------------------------------------------------------------------------------------------------
def test_all_at_once_in_a_kernel():
    source = r"""extern "C" __global__ void f(int* out) {
        __shared__ char word[8];
        char own[4] = {'o', 'w', (char)('0' + threadIdx.x), 0};
        if (threadIdx.x == 0) { word[0] = 's'; word[1] = 'h'; word[2] = 0; }
        __syncthreads();
        out[threadIdx.x] = printf("%d %u %x %lld %5.2f %c %s %s %s %hhd %%\n",
                                  -5, 7u, 255, -1ll << 40, 2.345f, 'z', "const", word, own, 300);
    }"""
    out = np.zeros(3, INT)
    report = launch(source, [out], block=3)
    assert report.output == "".join(f"-5 7 ff {-1 << 40}  2.35 z const sh ow{i} 44 %\n" for i in range(3))
    assert out.tolist() == [10] * 3


@pytest.mark.parametrize("workers", [1, 3])
def test_text_comes_in_the_order_of_blocks(workers):
    source = r"""extern "C" __global__ void f(int n) {
        for (int k = 0; k < n; ++k) if ((threadIdx.x + k) % 3 == 0) printf("%d.%d.%d ", blockIdx.x, k, threadIdx.x);
    }"""
    found = launch(source, [INT(2)], grid=40, block=40, workers=workers).output
    expected = [f"{b}.{k}.{t}" for b in range(40) for w in (0, 32) for k in range(2) for t in range(w, min(w + 32, 40)) if (t + k) % 3 == 0]
    assert found.split() == expected


@pytest.mark.parametrize("workers", [1, 2])
def test_the_buffer_ends_at_one_mebibyte(workers):
    source = r"""extern "C" __global__ void f() { printf("%0200d\n", blockIdx.x * 32 + threadIdx.x); }"""
    text = launch(source, [], grid=200, workers=workers).output
    assert len(text) < (1 << 20) + 200
    assert text.endswith(output.DROPPED)
    assert text[:201 * 5000] == "".join(f"{i:0200d}\n" for i in range(5000))


def test_no_text_without_printf_and_text_before_a_fault():
    assert launch('extern "C" __global__ void f(int* o) { o[0] = 1; }', [np.zeros(1, INT)]).output == ""
    source = 'extern "C" __global__ void f(int* o) { printf("at %d\\n", o[0]); o[threadIdx.x] = 1; }'
    error = fault(simt.OutOfBounds, source, [np.zeros(1, INT)])
    assert error.output == "at 0\n" * 32


def test_assertions():
    source = """extern "C" __global__ void check(const int* in) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        assert(in[i] >= 0 && "not negative");
    }"""
    data = np.arange(96, dtype=INT)
    launch(source, [data], grid=2, block=48, name="check")
    data[77] = -1
    error = fault(simt.AssertionFailed, source, [data], grid=2, block=48, name="check")
    assert (error.line, error.block, error.thread, error.kernel) == (3, (1, 0, 0), (29, 0, 0), "check")
    assert error.assertion == 'in[i] >= 0 && "not negative"'
    assert error.file == "kernel.cu"
    assert "check(const int *)" in error.function
    assert "line 3" in str(error)
    launch(source, [data], grid=2, block=48, name="check", defines={"NDEBUG": 1})
