"""PTX by hand, for tests."""

import pytest

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<5>;"
BODY_LINE = 7  # where the body of `entry` begins


def bug(reason):
    """Mark a test that the simulator fails."""
    return pytest.mark.xfail(strict=True, reason=reason)


def entry(body, before=""):
    """PTX of a kernel `k(a)`; the body begins in line BODY_LINE."""
    return f"{HEAD}{before}\n.visible .entry k(.param .u64 a) {{\n{REGISTERS}\n{body}\nret;\n}}\n"
