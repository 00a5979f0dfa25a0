"""Sets of parameters that one rule alone refuses, or none: what the catalog and a file's static_asserts are compared on."""

import random
import re
from collections.abc import Callable, Iterator, Mapping

from course_lib.errors import CourseError
from course_lib.kernels.kernel import Kernel
from course_lib.kernels.parameters import Parameter, Rule
from course_lib.toolchain import CompileError, compile_cuda

WALKS, STEPS = 200, 150
STOP = '\n#error "read to its end"\n'            # so the compiler looks at every static_assert, and makes no code
_FAILED = re.compile(r'static assertion failed with "(.*)"')


class Asked(dict[str, int]):
    """Parameters that remember which of them a rule asked for."""

    def __init__(self, values: Mapping[str, int]):
        super().__init__(values)
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> int:
        self.names.add(name)
        return super().__getitem__(name)


def the_compiler_sees(kernel: Kernel, rule: Rule) -> bool:
    """Tell whether a rule is about parameters that the compiler gets; others shape the launch alone."""
    asked = Asked(kernel.check())
    rule.holds(asked)
    return asked.names <= set(kernel.passes)


def changed(kernel: Kernel, values: Mapping[str, int], rng: random.Random) -> dict[str, int]:
    """Return values of which one to three differ, some larger than a parameter alone may be.

    Most are choices of the sliders, doubled or halved, since a rule is often broken alone only where all the others divide.
    """
    found = dict(values)
    for p in rng.sample(kernel.parameters, min(rng.randint(1, 3), len(kernel.parameters))):
        c = rng.choice((*p.choices, p.default))
        even, odd = (c, 2 * c, 4 * c, c // 2, c // 4), (c - 1, c + 1, c + 2, 3 * c, c * 3 // 2, p.low, p.high, p.high + 1)
        found[p.name] = max(p.low, rng.choice(even if rng.random() < 0.8 else odd))
    return found


def pushed(kernel: Kernel, values: Mapping[str, int], holds: Callable[[Mapping[str, int]], bool], rng: random.Random,
           tries: Callable[[Parameter, int], tuple[int, ...]]) -> dict[str, int]:
    """Return values of which none can be changed as `tries` says without that `holds` fails: they lie next to a limit."""
    found, again = dict(values), True
    while again:
        again = False
        for p in rng.sample(kernel.parameters, len(kernel.parameters)):
            for value in tries(p, found[p.name]):
                if value != found[p.name] and value >= p.low and holds(new := {**found, p.name: value}):
                    found, again = new, True
                    break
    return found


def allowed(kernel: Kernel, rng: random.Random) -> Iterator[dict[str, int]]:
    """Yield values that the catalog takes, in pairs: one a step away from the pair before, and what it grows to until a rule stops it."""
    def taken(values: Mapping[str, int]) -> bool:
        return not kernel.problems(**values)

    values = kernel.check()
    for _ in range(WALKS * STEPS):
        new = changed(kernel, values, rng)
        if taken(new):
            yield (values := new)
            yield pushed(kernel, new, taken, rng, lambda p, v: (p.high, 2 * v, v + 4, v + 1))


def alone(kernel: Kernel, rule: Rule, rng: random.Random) -> Iterator[dict[str, int]]:
    """Yield values that break this rule and no other, but hardly: walks that keep it broken, once it is, and mend the others."""

    def wrong(values: Mapping[str, int]) -> tuple[bool, int]:
        return rule.holds(values), sum(not other.holds(values) for other in kernel.rules)

    for _ in range(WALKS):
        values = kernel.check()
        for _ in range(STEPS):
            new = changed(kernel, values, rng)
            values = min(values, new, key=wrong)
        if wrong(values) == (False, 1):
            yield pushed(kernel, values, lambda v: wrong(v) == (False, 1), rng, lambda p, v: (p.low, v // 2, v - 4, v - 1))


def refusals(kernel: Kernel, values: Mapping[str, int]) -> list[str]:
    """Return the sentences of the static_asserts that refuse these values, whatever the rules say of them."""
    real = {name: value for name, value in kernel.defines().items() if name == "REAL"}
    try:
        compile_cuda(kernel.source + STOP, defines=real | {kernel.passes_as.get(name, name): values[name] for name in kernel.passes})
    except CompileError as error:
        log = str(error.facts["log"])
        assert "read to its end" in log
        return _FAILED.findall(log)
    raise CourseError("a text that ends with #error was compiled")
