"""What the bank bench shows of one position: counters on the lines, one access over the banks, machine code, times. No widgets here."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from course_lib import data, toolchain
from course_lib.arch import BANKS, WARP
from course_lib.data import Recording
from course_lib.errors import CourseError
from course_lib.kernels import Kernel
from course_lib.plots import Table, bank_map, describe_banks, requests, source_listing
from course_lib.plots.banks import counted
from course_lib.run import LaunchResult, RunResult, choose_backend, counter_name, resolve
from course_lib.simt.report import TraceRecord
from course_lib.widgets.compute import evaluate
from course_lib.widgets.live_pictures import roofline_picture

TRANSPOSED = ("tile", "Bs")         # the shared array that is read and written in two directions
KINDS = {False: "store", True: "load"}
TIMED_N = 4096
ROOFLINE = "roofline"           # in place of a number of banks
MOST = 6                        # machine instructions to list
COLUMNS = ("shared wavefronts", "wavefronts / access")
BESIDE_THE_POINT = ("const int ", "float acc")      # lines of the kernel that the listing leaves out, as it does empty ones


@dataclass(frozen=True)
class BankView:
    """One position of the bench.

    Attributes
    ----------
    result
        The kernel at the chosen size, with its counters.
    record
        One access to the transposed tile, a load or a store, as chosen.
    """

    result: LaunchResult
    record: TraceRecord
    load: bool

    @property
    def counts(self) -> tuple[int, int]:
        """Return (accesses, wavefronts) of the record's source line, loads or stores."""
        counters = self._lines[self.record.line]
        accesses, wavefronts = (counters.get(counter_name(what, KINDS[self.load]), 0) for what in ("shared instructions", "wavefronts"))
        return accesses, wavefronts

    @property
    def _lines(self) -> dict[int, dict[str, int]]:
        assert self.result.lines is not None                 # `bank_view` asks for counters
        return self.result.lines

    def says(self) -> str:
        """Say what the line costs: "Line 29: 512 loads take 16,384 wavefronts, 32 each (simulated); 4,096 bytes a block."."""
        accesses, wavefronts = self.counts
        each = f"{wavefronts / accesses:.2f}".rstrip("0").rstrip(".")
        verb = KINDS[self.load] + "s"
        work = self.result.M * self.result.N * self.result.K if isinstance(self.result, RunResult) else 0
        share = f", {WARP * wavefronts / work:.3g} for {WARP} multiply-adds" if work and self.load else ""
        return (f"Line {self.record.line}: {accesses:,} {verb} take {wavefronts:,} wavefronts, {each} each{share} "
                f"({self.result.counters_label}); {self.result.resources.static_shared_bytes:,} bytes a block; "
                f"occupancy {100 * self.result.occupancy.fraction:.0f} %, modelled for {self.result.device}.")

    def listing(self) -> Table:
        """Return the lines from the shared array to its last load, with their counters; the chosen one marked.

        Comments, empty lines and lines that only declare are left out, so that all panes fit on a screen.
        """
        text = self.result.kernel.source.splitlines()
        first = next((n for n, line in enumerate(text, 1) if "__shared__" in line and not line.startswith("//")), 1)
        busy = [n for n, counters in self._lines.items() if counters.get(counter_name("shared instructions", "load"), 0)]
        bare = "\n".join(line.partition("//")[0].rstrip() for line in text)
        table = source_listing(bare, self._lines, first=first, last=max(busy, default=self.record.line),
                               columns=COLUMNS, mark=(self.record.line,))
        rows = [(row, i in table.marked) for i, row in enumerate(table.rows)
                if row[-1].strip() and not row[-1].strip().startswith(BESIDE_THE_POINT)]
        return Table(table.header, [row for row, _ in rows], mono=table.mono, marked=[i for i, (_, mark) in enumerate(rows) if mark])

    def picture(self, banks: int | str = BANKS) -> tuple[Axes, str]:
        """Return (Axes, alternative text): the access over so many banks, or for ROOFLINE the kernel's point under the roofs."""
        if isinstance(banks, str):
            if not isinstance(self.result, RunResult):
                raise CourseError(f"{self.result.kernel.name} adds and multiplies nothing, so that it has no point under the roofs; "
                                  "a product has one, such as sgemm_padded", kernel=self.result.kernel.name)
            return roofline_picture(self.result)
        access = f"line {self.record.line}, {KINDS[self.load]} of 32 bits"
        access += ": " if banks == BANKS else ", modelled:\n"
        return bank_map(self.record, banks=banks, title=access + counted(self.record, banks)), describe_banks(self.record, banks)


def bank_view(kernel: str | Kernel, N: int, parameters: Mapping[str, int], load: bool = True, *, warp: int = 0,
              number: int = 0) -> BankView:
    """Run a kernel, and trace one warp of it on a matrix of one tile.

    Parameters
    ----------
    kernel
        A name of the catalog, or CUDA text: with a shared array `tile` or `Bs`, and a parameter TILE.
    N
        Rows and columns of the matrices.
    load
        Look at loads from the tile, or at stores to it.
    warp, number
        Whose access to draw, and which of them, from 0; the last one when there are not so many.

    Raises
    ------
    CourseError
        For parameters that break a rule, and for a kernel without such an array.

    >>> bank_view("transpose", 64, {"PAD": 0}).counts
    (128, 4096)
    """
    resolved = resolve(kernel)
    result = evaluate(resolved, N, parameters)
    traced = evaluate(resolved, result.parameters["TILE"], parameters, backend="sim", trace=[((0, 0, 0), warp)])
    names = {variable.name for variable in traced.shared}
    array = next((name for name in TRANSPOSED if name in names), None)
    if array is None:
        raise CourseError(f"{resolved.name} has no shared array {' or '.join(TRANSPOSED)}: it has {', '.join(sorted(names)) or 'none'}")
    found = requests(traced, array=array, load=load, space="shared")
    return BankView(result, found[min(number, len(found) - 1)], load)


def shared_code(kernel: str | Kernel, parameters: Mapping[str, int], line: int, load: bool = True, arch: str = "sm_90") -> tuple[str, ...]:
    """Return the machine instructions that access shared memory for one source line.

    >>> shared_code("sgemm_padded", {"TILE": 16, "PAD": 4}, 33)[0].split()[0]
    'LDS.128'
    """
    resolved = resolve(kernel)
    values = resolved.check(**parameters)
    compiled = toolchain.compile_cuda(resolved.source, name=resolved.file_name, arch=arch, defines=resolved.defines(**values))
    wanted = "LDS" if load else "STS"
    return tuple(i.text for i in toolchain.sass(compiled, resolved.entry) if i.line == line and i.opcode.split(".")[0] == wanted)


def widths(instructions: Sequence[str]) -> dict[str, int]:
    """Count the instructions of each width: {opcode: how many}.

    >>> widths(("@!P0 LDS R11, [R8]", "LDS.128 R8, [R24]", "LDS.128 R4, [R24+0x10]"))
    {'LDS.128': 2, 'LDS': 1}
    """
    opcodes = [next(w for w in text.split() if w.startswith(("LDS", "STS"))) for text in instructions]
    return {opcode: opcodes.count(opcode) for opcode in sorted(set(opcodes), reverse=True)}


def code_html(instructions: Sequence[str], line: int, arch: str = "sm_90") -> str:
    """Return the machine instructions as HTML: how many of each width, then the first ones."""
    many = ", ".join(f"{count} × {opcode}" for opcode, count in widths(instructions).items()) or "none"
    shown = "\n".join(instructions[:MOST])
    more = f"\n⋮ {len(instructions) - MOST} more" if len(instructions) > MOST else ""
    return (f'<div style="padding:4px 10px"><b>SASS of line {line}, {html.escape(arch)}: {html.escape(many)}</b>'
            f'<pre style="font-size:13px;line-height:1.35;margin:2px 0">{html.escape(shown + more)}</pre></div>')


@dataclass(frozen=True)
class Bar:
    """The time of one variant; `now` says that it is the one that was chosen."""

    label: str
    seconds: float
    now: bool = False


def recorded_bars(kernel: str, parameters: Mapping[str, int], recording: Recording | None = None, N: int = TIMED_N) -> tuple[Bar, ...]:
    """Return the recorded times of a kernel with this TILE: every padding, and its relatives that need none.

    Parameters
    ----------
    parameters
        All of them.
    recording
        Default the course's own.

    Returns
    -------
    tuple of Bar
        Empty when nothing fits.
    """
    if recording is None and "padding" not in data.names():
        return ()
    family = ("sgemm_padded", "sgemm_tiled") if kernel.startswith("sgemm") else ("transpose", "transpose_swizzled")
    tile, bars = parameters["TILE"], []
    for record in (recording or data.load("padding")).find(N=N):
        if record.kernel in family and record.parameters.get("TILE", record.parameters.get("BM")) == tile:
            label = f"PAD = {record.parameters['PAD']}" if "PAD" in record.parameters else record.kernel
            now = record.kernel == kernel and record.parameters.get("PAD") == parameters.get("PAD")
            bars.append((family.index(record.kernel), record.parameters.get("PAD", 0), Bar(label, record.seconds, now)))
    return tuple(bar for _, _, bar in sorted(bars, key=lambda entry: entry[:2]))


def measured_bar(kernel: str, parameters: Mapping[str, int], N: int = TIMED_N) -> Bar | None:
    """Measure a position on this machine's GPU at the size of the recorded times; None without a GPU."""
    if choose_backend() != "gpu":
        return None
    result = evaluate(kernel, N, parameters, counters=False)
    return Bar(result.label, result.time.median_s, True)


def time_text(seconds: float) -> str:
    """Write a time with three digits, which is what a repeated recording keeps to.

    >>> time_text(8.961e-5), time_text(0.080541)
    ('89.6 µs', '80.5 ms')
    """
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def bars_table(bars: Sequence[Bar], caption: str) -> Table:
    """Return the times as a table of text, the chosen one marked.

    >>> bars_table((Bar("PAD = 0", 2e-3), Bar("PAD = 1", 1e-3, True)), "transpose").marked
    frozenset({1})
    """
    return Table(("", "time"), [(bar.label, time_text(bar.seconds)) for bar in bars], caption,
                 marked=[i for i, bar in enumerate(bars) if bar.now])


def bars_html(bars: Sequence[Bar], caption: str) -> str:
    """Return the times as HTML bars; the chosen one is orange and has a mark."""
    longest = max(bar.seconds for bar in bars)
    rows = []
    for bar in bars:
        ground, mark = ("#D55E00", "▶ ") if bar.now else ("#56B4E9", "")
        rows.append(f'<tr><th scope="row" style="text-align:left;font-weight:{"bold" if bar.now else "normal"};padding:1px 8px;'
                    f'white-space:nowrap">{mark}{html.escape(bar.label)}</th>'
                    f'<td style="width:210px;padding:1px 0"><div style="background-color:{ground};height:13px;'
                    f'width:{100 * bar.seconds / longest:.1f}%"></div></td>'
                    f'<td style="text-align:right;padding:1px 8px;white-space:nowrap">{time_text(bar.seconds)}</td></tr>')
    return (f'<table style="font-size:14px;line-height:1.2"><caption style="text-align:left;padding:4px 8px"><b>{html.escape(caption)}</b>'
            f'</caption><tbody>{"".join(rows)}</tbody></table>')
