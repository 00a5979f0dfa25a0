"""Device functions: which of them a kernel can reach, and one body of code made of all of them.

A kernel and the functions behind it become one program. Each function has a *frame* in local memory: its returned value,
its parameters, its `.local` variables, and the `.param` variables around the calls it makes. The frame of a kernel lies at
byte 0 of a thread's local memory; behind it the stack grows, frame by frame, and the register `FRAME` holds where the
frame of a thread's present function begins. `runtime/calls.cuh` carries out the calls.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import TypeAlias

from course_lib.simt.errors import PtxSyntaxError, UnsupportedInstruction
from course_lib.simt.ptx.ir import Function, Instruction, Kind, Module, Reg, Sym, Vec, at_line

FRAME = Reg("%frame-of-thread")  # no name that PTX text can contain
FUNCTIONS_AT = 0xF00000  # address of the first function; they lie 16 apart, where no memory is
HEAP = {"malloc": ((8,), (8,)), "free": ((), (8,))}  # bytes of what they return and take
BUILTINS = ("vprintf", "__assertfail", *HEAP)
STACK_BYTES = 16384  # of a thread, for the frames of functions and once more for what calls save
INDIRECT = 0xFFFFFFFF
Spans: TypeAlias = tuple[tuple[int, int], ...]  # (offset, bytes) of each of several values


@dataclass(frozen=True)
class Site:
    """What a `call` passes: (offset in the caller's frame, bytes) of each returned value and parameter."""

    caller: str
    returns: Spans
    params: Spans


@dataclass
class Callee:
    """A function as the runtime sees it: entry block, bytes of its frame, (offset, bytes) of returned value and parameters."""

    name: str
    number: int
    returns: Spans
    params: Spans
    frame: int
    block: int = INDIRECT  # none: the function is not defined, or never called
    recursive: bool = False


@dataclass
class Linked:
    """A kernel with all that it calls: bodies in order (kernel first), functions by name, frames by name."""

    functions: dict[str, Function]
    callees: dict[str, Callee] = field(default_factory=dict)
    offsets: dict[str, dict[str, int]] = field(default_factory=dict)  # function name -> variable -> its offset in the frame
    frames: dict[str, int] = field(default_factory=dict)  # function name -> bytes
    order: list[str] = field(default_factory=list)  # names, callees before callers

    def defined(self, name: str) -> bool:
        """Say whether a function has a body of its own here, a `malloc` of the kernel's source for example."""
        return name in self.functions

    @property
    def has_calls(self) -> bool:
        """Say whether the kernel calls anything."""
        return len(self.callees) > 0


def link(module: Module, entry: str) -> Linked:
    """Find what the kernel `entry` can reach, and lay out every frame.

    Raises
    ------
    UnsupportedInstruction
        A call of a function that is not defined here, with its source line.
    PtxSyntaxError
        A call that does not fit the function it names.
    """
    linked = Linked({entry: module.functions[entry]})
    addressed = taken(module)
    edges: dict[str, set[str]] = {}
    for through_pointers in (False, True):  # what is called by name has to be there
        todo = list(linked.functions)
        while todo:
            name = todo.pop()
            edges[name] = callees_of(module, module.functions[name], addressed if through_pointers else set(), not through_pointers)
            for other in sorted(edges[name]):
                if other not in linked.functions and module.functions[other].defined:
                    linked.functions[other] = module.functions[other]
                    todo.append(other)
    linked.order = callees_first(edges, entry)
    for name, function in linked.functions.items():
        lay_out(linked, name, function)
    called = {c for names in edges.values() for c in names}
    for number, name in enumerate(sorted(called | addressed)):
        function = module.functions[name]
        returns, params, size = parts_of(function)
        linked.callees[name] = Callee(name, number, returns, params, linked.frames.get(name, size))
        linked.callees[name].recursive = name in reachable(edges, edges.get(name, ()))
    if not called:
        linked.callees = {name: c for name, c in linked.callees.items() if name in addressed}
    return linked


def taken(module: Module) -> set[str]:
    """Names of the functions whose address stands in a variable or an instruction."""
    names = {pointer.name for v in module.variables.values() for pointer in v.pointers}
    for function in module.functions.values():
        for ins in function.body:
            if isinstance(ins, Instruction) and ins.kind not in (Kind.CALL, Kind.BRANCH, Kind.INDEXED_BRANCH):
                names |= {o.name for o in ins.operands if isinstance(o, Sym)}
    return names & set(module.functions)


def callees_of(module: Module, function: Function, addressed: Set[str], strict: bool) -> set[str]:
    found: set[str] = set()
    for ins in function.body:
        if isinstance(ins, Instruction) and ins.kind is Kind.CALL:
            target = target_of(ins)
            if isinstance(target, Reg):
                if not addressed and not strict:
                    raise UnsupportedInstruction(f"{at_line(ins)}{ins.name} through a pointer, but no function's address is taken in "
                                                 "this source, and the simulator has no other functions.", opcode=ins.name, line=ins.where)
                found |= addressed
            else:
                found.add(known(module, ins, target.name, strict))
    return found


def target_of(ins: Instruction) -> Sym | Reg:
    """Return the operand of a call that says which function: a Sym or a Reg."""
    at = int(bool(ins.operands) and isinstance(ins.operands[0], Vec))
    if at >= len(ins.operands) or not isinstance(ins.operands[at], Sym | Reg):
        raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: it takes results, a function and parameters.", line=ins.where, opcode=ins.name)
    return ins.operands[at]


def known(module: Module, ins: Instruction, name: str, strict: bool) -> str:
    """Return a called function's name; when `strict`, refuse what is neither defined nor built in.

    What only functions behind a pointer call (`free` in a virtual destructor, say) is refused if it is ever called.
    """
    function = module.functions.get(name)
    if function is None or function.kernel:
        raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: {name!r} is no function of this module.", line=ins.where, opcode=ins.name)
    if not function.defined and name not in BUILTINS and strict:
        raise missing(ins, name)
    sizes = tuple(tuple(nbytes for _, nbytes in part) for part in parts_of(function)[:2])
    if not function.defined and sizes != HEAP.get(name, sizes):
        raise PtxSyntaxError(f"{at_line(ins)}{ins.name}: {name} is declared with other parameters or results than it has.", line=ins.where,
                             opcode=ins.name)
    return name


def missing(ins: Instruction, name: str) -> UnsupportedInstruction:
    """Return the error for a call of a function without definition."""
    return UnsupportedInstruction(f"{at_line(ins)}the simulator has no function {name} (it is not defined in the source).",
                                  opcode=f"call {name}", line=ins.where)


def reachable(edges: Mapping[str, Iterable[str]], start: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    todo = list(start)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += edges.get(name, ())
    return seen


def callees_first(edges: Mapping[str, Iterable[str]], entry: str) -> list[str]:
    """Return the names of the defined functions so that a function comes before its callers, except in a recursion."""
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        seen.add(name)
        for other in sorted(edges[name]):
            if other in edges and other not in seen:
                visit(other)
        order.append(name)

    visit(entry)
    return order


def align(offset: int, to: int) -> int:
    return -(-offset // to) * to


def parts_of(function: Function) -> tuple[Spans, Spans, int]:
    """Return ((offset, bytes) of the returned values, of the parameters, bytes in all)."""
    offset, found = 0, []
    for group in (function.returns, function.params):
        spans = []
        for p in group:
            offset = align(offset, p.align)
            spans.append((offset, p.nbytes))
            offset += p.nbytes
        found.append(tuple(spans))
    return found[0], found[1], offset


def lay_out(linked: Linked, name: str, function: Function) -> None:
    """Give every `.param` and `.local` variable of a function an offset in its frame."""
    offset = 0
    offsets: dict[str, int] = {}
    if not function.kernel:
        returns, params, offset = parts_of(function)
        for variable, (at, _) in zip([*function.returns, *function.params], returns + params):
            offsets[variable.name] = at
    for space in ("param", "local"):  # arrays last: what lies behind them is outside
        for variable in function.variables.values():
            if variable.space == space:
                offset = align(offset, variable.align)
                offsets[variable.name] = offset
                offset += variable.nbytes
    linked.offsets[name], linked.frames[name] = offsets, offset
