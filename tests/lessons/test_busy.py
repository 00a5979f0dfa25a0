"""Lesson 19: what it promises, and every number that its prose says."""

import ast
import itertools
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from course_lib import data, simt
from course_lib.bench import sharing as sharing_bench
from course_lib.bench.choices import judge
from course_lib.bench.fingerprint import code_only, fingerprint, stale
from course_lib.bench.race import CONTESTANTS, groups, mean
from course_lib.bench.sharing import ARRIVAL, FIRST_ENDS, FLAG_UP, HANDED_OVER, LIBRARY, NOT_LEFT, NOT_WAITED, RIGHT, TWO
from course_lib.blank import is_blank
from course_lib.check import check
from course_lib.errors import CourseError
from course_lib.explorables.hand_over import EXAMPLE
from course_lib.explorables.sharing import SIZES
from course_lib.kernels import UserKernel, get
from course_lib.lessons import busy
from course_lib.lessons.busy import counts, times
from course_lib.lessons.busy.counts import shares_of
from course_lib.lessons.busy.pictures import describe_shares, draw_shares
from course_lib.magic import from_cell
from course_lib.model.busiest_work import balance_of
from course_lib.model.stream_k import Piece, Sharing, share_begins, sharing, split_k
from course_lib.model.turns import turns
from course_lib.run import run
from course_lib.widgets.compute import evaluate
from tools import my_course

HARMLESS = ("collect without its fence", FLAG_UP, "collect without __ldcg")      # or so it seems to `check`
ROOT = Path(__file__).resolve().parents[2]
LESSON = ROOT / "notebooks" / "19_busy.ipynb"
CELLS = {cell["id"]: "".join(cell["source"]) for cell in json.loads(LESSON.read_text(encoding="utf-8"))["cells"]}
PROSE = re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", " ".join(" ".join(CELLS.values()).split()))


@pytest.fixture(autouse=True)
def on_the_simulator(monkeypatch):
    monkeypatch.setenv("COURSE_BACKEND", "sim")


@pytest.fixture(scope="module")
def mine():
    """Return the worked kernel of the lesson's blank cell."""
    return from_cell(CELLS["mine"])[1]


def at(N, per_tile, side=128, depth=8):
    """Return the balance at a size; `per_tile` blocks for each tile, or None for 132 blocks."""
    found = sharing(N, N, N, (side, side, depth), 132)
    return balance_of(split_k(found.tiles, found.steps, per_tile) if per_tile else found.by_block, found.steps, 132)


def test_the_worked_kernel_is_right_and_is_the_one_that_was_measured(mine):
    assert check(mine).right
    marks = re.compile(r"^\s*// (BEGIN|END) SOLUTION\n", re.M)
    assert code_only(marks.sub("", mine)) == code_only(marks.sub("", times.FILE.read_text(encoding="utf-8")))


def test_the_reader_begins_with_three_gaps(mine):
    """Until the last of them is filled, the kernel counts as not written; the lecture has the same answers."""
    blanked, _ = my_course.blank_cell(CELLS["mine"])
    gap = re.compile(r"( *)// write it here\n\s*// up to here\n")
    lecture = (ROOT / "docs" / "lecturing" / "19_busy.md").read_text(encoding="utf-8")
    answers = [line.strip() for line in re.findall(r"// BEGIN SOLUTION\n(.*)\n", CELLS["mine"])]
    assert len(gap.findall(blanked)) == len(answers) == 3
    for answer in answers:
        assert answer not in blanked
        assert is_blank(blanked)
        assert f"`{answer.split('  ')[0]}`" in lecture
        blanked = gap.sub(f"        {answer}\n", blanked, count=1)
    assert not is_blank(blanked)
    assert check(blanked.partition("\n")[2]).right
    other = "end = tile * steps;"                # below it nothing is left of the share either
    assert f"`{other}`" in lecture
    assert check(CELLS["mine"].partition("\n")[2].replace(answers[2], other)).right


@pytest.mark.parametrize(("M", "N", "K"), [(48, 48, 40), (50, 33, 70), (16, 16, 200), (1, 1, 1), (100, 5, 9), (130, 130, 8)])
def test_what_its_blocks_load_is_what_the_model_shares_out(mine, M, N, K):
    tiles, steps = -(-M // 16) * -(-N // 16), -(-K // 8)
    units, found = tiles * steps, shares_of(mine, M, N, K).shared
    assert [sum(p.steps for p in block) for block in found] == [units // 7 + (who < units % 7) for who in range(7)]
    computed = sorted((p.tile, s) for block in found for p in block for s in range(p.first, p.last))
    assert computed == [(tile, s) for tile in range(tiles) for s in range(steps)]


def test_another_number_of_blocks_is_launched(mine):
    text = mine.replace("#define BLOCKS 7 ", "#define BLOCKS 12 ")
    assert check(text).right
    assert len(shares_of(text).shared) == 12
    assert UserKernel.from_source(text).grid(1000, 1000, BM=16, BN=16, BK=8) == (12, 1, 1)


def test_a_kernel_that_loads_something_else_is_refused(mine):
    with pytest.raises(CourseError, match="do not belong together"):
        shares_of(mine.replace("B[k * ldb + col]", "B[(K - 1 - k) * ldb + col]"))


def test_the_prediction_and_its_table(mine):
    assert busy.busiest_block(mine) == math.ceil(9 * 5 / 7) == 7
    whole, even = busy.whole_or_even(mine).rows
    assert whole[1:] == (10, "1.56", 0)
    assert even[1:] == (7, "1.09", 6)
    found = shares_of(mine).shared
    assert sorted(sum(p.steps for p in block) for block in found) == [6] * 4 + [7] * 3


def test_what_there_was_to_find_in_the_picture():
    whole = {N: at(N, 1) for N in SIZES}
    assert f"{100 * whole[513].idle:.0f} %" == "81 %"
    assert 132 - 25 == 107
    assert [math.ceil(N / 128) ** 2 for N in (1408, 1409)] == [121, 144]
    assert [f"{100 * whole[N].idle:.0f}" for N in (1408, 1409)] == ["8", "45"]
    assert [(s, at(513, s).busiest, f"{100 * at(513, s).idle:.0f}") for s in (5, 6)] == [(5, 13, "5"), (6, 21, "41")]
    assert min(range(1, 9), key=lambda s: at(513, s).idle) == 5
    assert [f"{100 * at(1025, s).idle:.1f}" for s in (8, None)] == ["3.5", "1.1"]
    assert (25 * 5, 25 * 6) == (125, 150)
    assert (at(1025, 8).left, at(1025, None).left) == (567, 131)
    for words in ("107 / 132 = 81 %", "8 % is idle", "45 % is idle", "125 blocks, and 5 % is idle", "41 % is idle again",
                  "3.5 % idle and writes 567 partial sums", "1.1 % idle and writes 131"):
        assert words in PROSE


def test_the_story_of_the_title():
    """One kernel, lesson 15's, at two sizes, each time beside cuBLAS in the same run."""
    of_library = {N: data.readings("closing").find(kernel="fed", N=N)[0]["ratio"] for N in (4096, 513)}
    assert {N: f"{100 * ratio:.0f} %" for N, ratio in of_library.items()} == {4096: "90 %", 513: "23 %"}
    for words in ("reaches 90 % of cuBLAS's speed on an H200 when the matrices are 4096 × 4096", "the same kernel reaches 23 %"):
        assert words in PROSE


def test_the_mistake_of_the_lesson_is_found_in_the_readers_kernel(mine):
    """The cell itself: its line stands once in the kernel, and without it `check` says *order*."""
    line, = re.findall(r'^waits = "(.*)"$', CELLS["wrong"], re.M)
    assert "check(even.replace(waits, \"\"))" in CELLS["wrong"]
    assert mine.count(line) == 1
    report = check(mine.replace(line, ""))
    assert [finding.kind for finding in report.findings] == ["order"]
    assert "an earlier block runs only while later ones wait" in str(report)
    assert [outcome.passed for outcome in report.inputs] == [False] + [None] * 11
    runs = data.readings("sharing").find(kind="runs", variant="collect without waiting")
    wrong = {(row["M"], row["N"], row["K"]): row["wrong_launches"] for row in runs}
    assert wrong == {(512, 512, 512): 0, (128, 128, 4096): 100, (16, 16, 16896): 0}
    assert {row["launches"] for row in runs} == {100}
    for words in ("100 times for each of three products, with 132 blocks", "For 128 × 128 × 4096 (M × N × K) every result was wrong",
                  "For 512 × 512 × 512 and for 16 × 16 × 16,896 every result was right"):
        assert words in PROSE


def test_the_friends_kernel_is_endless_for_the_simulator():
    report = check(busy.even_with(FIRST_ENDS))
    assert [finding.kind for finding in report.findings] == ["endless"]
    assert "never for a later one" in str(report)
    assert CELLS["later-waited"] == f'check(busy.even_with("{FIRST_ENDS}"))'
    assert "With the loop reversed `check` says the same" in PROSE


def mirrored():
    """Return the kernel of the mistake with its loop reversed as well: from the beginning of the share to its end."""
    text = busy.even_with(FIRST_ENDS)
    for old, new in {"    const int begin =": "    int begin =", "    int end =": "    const int end =",
                     "(end - 1) / steps, last = end - tile * steps": "begin / steps, last = min(end - tile * steps, steps)",
                     "first = max(begin - tile * steps, 0)": "first = begin - tile * steps",
                     "end = tile * steps + first;": "begin = tile * steps + last;"}.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_the_mirror_image_is_endless_for_the_simulator_and_right_where_all_blocks_run(mine):
    assert [finding.kind for finding in check(mirrored()).findings] == ["endless"]
    M, N, K = 50, 33, 70
    A, B = (np.random.default_rng(5).standard_normal(shape, dtype=np.float32) for shape in ((M, K), (K, N)))
    for text in (mine, busy.even_with(FIRST_ENDS), mirrored()):
        C = np.full((M, N), np.nan, dtype=np.float32)
        numbers = [np.int32(n) for n in (M, N, K, N)]
        simt.launch(text, "even", 7, (16, 16), [*numbers[:3], np.float32(1), A, numbers[2], B, numbers[3], np.float32(0), C, numbers[3]],
                    max_steps=300_000, last_block_first=True)
        assert np.abs(C - A.astype(float) @ B).max() < 1e-4


def shares_of_even(tiles, steps, blocks, backward=True):
    """Return the pieces of each block of `even`, which deals out no whole tiles first."""
    begins = share_begins(tiles * steps, blocks).tolist()
    found = [[Piece(who, tile, max(begin - tile * steps, 0), min(end - tile * steps, steps))
              for tile in range(begin // steps, -(-end // steps))] for who, (begin, end) in enumerate(itertools.pairwise(begins))]
    return [mine[::-1] for mine in found] if backward else found


def done_after(shared, steps, first_ends):
    return max(turn.end for mine in turns(shared, steps, first_ends) for turn in mine)


def test_only_two_of_four_orders_make_blocks_wait_one_after_another():
    """Of 512 × 512 × 512: 1024 tiles of 64 k-steps on 132 blocks."""
    found = {(first_ends, backward): done_after(shares_of_even(1024, 64, 132, backward), 64, first_ends)
             for first_ends, backward in itertools.product((False, True), repeat=2)}
    assert found == {(False, True): 497, (False, False): 29792, (True, True): 29792, (True, False): 497}
    assert "Counted as in the picture, all blocks are done after 497 k-steps, against 29,792" in PROSE


@pytest.mark.slow
def test_check_finds_who_does_not_wait_and_no_missing_fence():
    rows = busy.left_out().rows
    said = {row[0]: row[1] for row in rows}
    assert {row[0] for row in rows if "cannot show" in row} == {FLAG_UP}
    assert said == {RIGHT: "right", "leave without its fence": "right", "leave without its barrier": "order",
                    "collect without its barrier": "order", "collect without waiting": "order", **dict.fromkeys(HARMLESS, "right"),
                    ARRIVAL: "not tried"}


def test_a_flag_that_is_left_up_is_found_where_a_launch_begins_with_it():
    text = busy.even_with(FLAG_UP)
    second = text.replace("ready[BLOCKS];", "ready[BLOCKS] = {1, 1, 1, 1, 1, 1, 1};")
    assert second != text
    assert check(second).findings[0].kind == "order"


def test_the_pieces_of_the_pictures_columns():
    shared = Sharing(3, 5, 4).by_block
    ax = draw_shares(shared, 5)
    assert [bar.get_height() for bar in ax.patches] == [p.steps for block in shared for p in block]
    assert [bool(bar.get_hatch()) for bar in ax.patches] == [p.last < 5 for block in shared for p in block]
    assert "Block 1: tile 1, k-steps 0 to 2, left to a later block; tile 0" in describe_shares(shared, 5)


def test_the_line_of_k_steps_is_the_pictures_and_the_kernels():
    tiles, steps, blocks = EXAMPLE
    line = {name: "".join(digits.split()) for name, digits in re.findall(r"^(tile|block) +([\d ]+)$", CELLS["idea"], re.M)}
    shared = Sharing(tiles, steps, blocks).by_block
    assert shared == shares_of_even(tiles, steps, blocks)
    block_of = {p.tile * steps + s: p.block for mine in shared for p in mine for s in range(p.first, p.last)}
    assert line == {"tile": "".join(str(n // steps) for n in range(tiles * steps)),
                    "block": "".join(str(block_of[n]) for n in range(tiles * steps))}


@pytest.mark.parametrize(("order", "first_ends", "backward", "done", "waits"), [
    (0, False, True, 4, {}), (1, True, True, 10, {0: 6, 1: 6, 2: 5, 3: 3}), (2, True, False, 4, {})])
def test_the_picture_of_who_waits_for_whom(order, first_ends, backward, done, waits):
    tiles, steps, blocks = EXAMPLE
    found = turns(shares_of_even(tiles, steps, blocks, backward), steps, first_ends)
    assert max(turn.end for mine in found for turn in mine) == done
    assert {who: turn.end - turn.computed for who, mine in enumerate(found) for turn in mine if turn.end > turn.computed} == waits
    shown = busy.hand_over().states["orders"][order]
    assert [(turn["block"], turn["tile"], turn["start"], turn["computed"], turn["end"], turn["ends"]) for turn in shown["turns"]] == [
        (who, turn.piece.tile, turn.start, turn.computed, turn.end, turn.ends) for who, mine in enumerate(found) for turn in mine]


@pytest.mark.parametrize(("blocks", "left", "busiest"), [(9, 0, 6), (3, 0, 18), (18, 9, 3), (4, 3, 14), (7, 5, 8)])
def test_the_sliders_picture(blocks, left, busiest):
    result = evaluate("sgemm_stream_k", 96, busy.SMALL_TILE | {"BK": 16, "blocks": blocks}, backend="sim")
    _, told = busy.shares_picture(result)
    assert f"9 tiles of 6 k-steps on {blocks} blocks" in told
    assert f" {left} partial sums, {4096 * left:,} bytes" in told
    assert max(sum(p.steps for p in block) for block in Sharing(9, 6, blocks).by_block) == busiest


def test_what_there_was_to_find_with_the_sliders():
    offered = ast.literal_eval(re.search(r'"blocks": (\([^)]*\))', CELLS["sliders"]).group(1))
    shared = {BK: {blocks: sharing(96, 96, 96, (32, 32, BK), blocks) for blocks in offered} for BK in (16, 32)}
    assert [blocks for blocks, found in shared[16].items() if not balance_of(found.by_block, found.steps, blocks).left] == [3, 9]
    deep = shared[32][18]
    assert (deep.tiles * deep.steps, deep.steps) == (27, 3)
    assert [sum(sum(p.steps for p in block) == n for block in deep.by_block) for n in (1, 2)] == [9, 9]


def test_the_race():
    """What is said of the race outlives a new recording of it that comes out alike."""
    readings, rows = data.readings("race"), {row[0]: row for row in busy.race_with_library().rows}
    assert set(rows) == set(times.RACED)
    squares = groups(readings.rows)["float32 squares"]
    assert len(squares) == 22
    assert mean(squares) == pytest.approx(1.05, abs=0.015)
    assert f"{min(row['ratio'] for row in squares):.2f}" == "0.89"
    assert len(CONTESTANTS["float32"][2]) == 9
    rows = [row for row in judge(data.readings("tried"), data.readings("choices")) if row["dtype"] == "float32"]
    chosen, over = (np.exp(np.mean(np.log([row[key] for row in rows]))) for key in ("to_library", "ratio"))
    assert (len(rows), f"{chosen / over:.2f}") == (12, "0.94")
    for words in ("geometric mean of the ratios is 1.05, and the least is 0.89", "the course tried nine tiles",
                  "twelve products of other shapes, which a seed drew, the fastest that was tried reached 0.94 in the geometric mean"):
        assert words in PROSE


def test_recorded_shares():
    rows = {row[0]: row for row in busy.shares_recorded().rows}
    steps, micros, two = ({N: float(row[i].split("(")[1][:-1]) for N, row in rows.items()} for i in (1, 2, 3))
    assert (steps[1409], micros[1409], two[1409]) == (1.8, 1.6, 1.7)
    assert (steps[2048], micros[2048], two[2048]) == (1, 1, 1)
    assert (steps[513], micros[513]) == (5.0, 2.1)
    assert all(0.8 < micros[N] / steps[N] < 1.1 for N in rows if N > 513), "the lecture's: times nearly follow k-steps"
    assert 256 / (2 * 132) > 0.95, "at 2048 the waves were nearly full"
    recorded = data.readings("sharing").find(kind="time")
    assert {row["wrong"] for row in recorded if row["sums"] == HANDED_OVER} == {0}
    assert {row["blocks"] for row in recorded if row["share"] in ("even", TWO)} == {132, 264}
    for words in ("1.8 times fewer k-steps at 1409, and the kernel is 1.6 times as fast", "With two at a time it is 1.7 times as fast",
                  "five times fewer k-steps make it only 2.1 times", "even shares are 132 then", "even shares are 264"):
        assert words in PROSE


def test_what_is_measured_is_what_the_recording_has():
    found = [(row["N"], row["K"], row["tile"], row["share"], row["alone"], row["sums"])
             for row in data.readings("sharing").find(kind="time") if row["share"] != LIBRARY]
    planned = [(N, K, tile, *case) for N, K in sharing_bench.SIZES for tile in sharing_bench.TILES if K == N or tile == "128 × 128"
               for case in sharing_bench.cases(N, K, tile)]
    assert sorted(found) == sorted(planned)
    assert len(set(found)) == len(found)


def test_partial_sums_that_are_not_handed_over_change_nothing_else():
    texts = {how: sharing_bench.with_sums(how) for how in (HANDED_OVER, NOT_WAITED, NOT_LEFT)}
    assert texts[HANDED_OVER] == get("sgemm_stream_k").source
    for how, lines in ((NOT_WAITED, 1), (NOT_LEFT, 2)):
        assert len(set(texts[how].splitlines()) - set(texts[HANDED_OVER].splitlines())) == lines


def test_recorded_splits():
    """Eight blocks per tile leave almost nothing idle, and are no faster than whole tiles; at 513 five are the fastest."""
    table = busy.splits_recorded()
    rows = {row[0]: row[1:] for row in table.rows}
    assert "cut as in the picture" in table.caption
    N, K = times.CUT
    for share in ("1", "2", "3", "4", "5", "6", "8"):
        cut = sharing(N, N, K, (128, 128, 8), rows[share][0])
        assert cut.by_block == split_k(cut.tiles, cut.steps, int(share)), "the kernel's shares are the picture's pieces"
    assert (rows["1"], rows["8"], rows["even"]) == (
        (81, 120, 0, "107", "107", "107"), (648, 75, 567, "107", "97", "79"), (132, 74, 130, "77", "76", "73"))
    assert f"{1 - 75 / 120:.0%}" == "38%"
    assert (K / 8, 107 - 79, 77 - 73, round(107 * 75 / 120), 79 - 67) == (120, 28, 4, 67, 12)
    assert min(rows, key=lambda share: int(rows[share][3])) == "even"
    assert [f"{100 * times.recorded_balance(N, blocks, K=K).idle:.0f}" for blocks in (648, 81)] == ["2", "39"]
    at_513 = {share: times.micros(513, share) for share in (*map(str, times.SPLITS), "even")}
    assert min(at_513, key=at_513.get) == "5"
    assert (f"{at_513['5']:.0f}", f"{at_513['even']:.0f}") == ("27", "30")
    for words in ("38 % fewer k-steps than whole tiles, and take as long", "eight per tile take 97 µs",
                  "neither left nor added, they take 79",
                  "to hand over 567 partial sums costs 28 of the 107 µs, and to hand over the 130 of even shares costs 4 of 77",
                  "75 of 120 k-steps would take 67 µs. The other 12", "Here even shares are the fastest",
                  "At 513 five blocks per tile are: 27 µs, and even shares 30", "Whole tiles take 107 µs there, and even shares 77"):
        assert words in PROSE, words


def test_the_bars_that_lead_back_to_513():
    found = times.five_times()
    large, even, small, both, library = found.values()
    assert [f"{library / micros:.0%}" for micros in (large, even, small, both)] == ["24%", "51%", "82%", "89%"]
    assert (f"{large / even:.1f}", f"{small / both:.1f}") == ("2.1", "1.1")
    assert f"The race recorded {1e6 * times.raced(513)['library']:.1f} µs for cuBLAS, too" in PROSE
    assert 1e6 * times.raced(513)["library"] == pytest.approx(library, rel=0.02)
    assert f"beside the large tiles its median was {times.micros(513, LIBRARY, alone=False):.0f} µs" in PROSE
    for tile, share in itertools.product(times.STEP, ("1", "even")):
        assert times.micros(513, share, tile, alone=False) == pytest.approx(times.micros(513, share, tile), rel=0.01)
    both_fit = [times.micros(513, TWO, tile, alone=False) for tile in times.STEP]
    assert (f"{both_fit[0]:.0f}", f"{both_fit[1]:.1f}") == ("39", "18.9")
    assert both_fit[1] > times.micros(513, "1", "64 × 64", alone=False), "even shares lose with small tiles"
    saved = {N: times.micros(N, "1") - times.micros(N, "even") for N in times.SHOWN}
    assert max(saved, key=saved.get) == 1409
    assert [round(times.micros(1409, share)) for share in ("1", "even")] == [311, 197]
    assert {row["N"] for row in data.readings("sharing").find(kind="time", sums=NOT_WAITED)} == {1025}, "not recorded at 513"
    assert f"{100 * at(513, 1, 64, 16).idle:.0f}" == "39"
    assert [f"{1 - (513 / (side * math.ceil(513 / side))) ** 2:.0%}" for side in (128, 64)] == ["36%", "21%"]
    assert "64 × 64, even shares: 16.9 µs, 89 % of cuBLAS" in busy.back_to_513().alt
    for words in ("large tiles 2.1 times as fast, and small ones 1.1 times",
                  "the launch left alone, the four times are the same within 1 %",
                  "With 264 blocks even shares take 39 and 18.9 µs",
                  "1409, where whole large tiles leave 45 % idle (8 % at 1408): 311 µs become 197",
                  "whole tiles has 24 %",
                  "leave 39 % idle instead of 81 %", "21 % of what they compute lies outside C instead of 36 %"):
        assert words in PROSE


def blocks_of_tiles(M, N, K):
    """Return how many of 132 blocks compute a part of each tile, and how many tiles a block's share is: `even` has no whole waves."""
    tiles, steps = math.ceil(M / 16) * math.ceil(N / 16), math.ceil(K / 8)
    begins = share_begins(tiles * steps, 132).tolist()
    return ([sum(begins[who] < steps * (tile + 1) and begins[who + 1] > steps * tile for who in range(132)) for tile in range(tiles)],
            (begins[1] - begins[0]) / steps)


def test_what_a_gpu_finds():
    readings = data.readings("sharing")
    found = {(row["variant"], row["M"], row["N"], row["K"]): row for row in readings.find(kind="runs")}
    wide, deep, single = (512, 512, 512), (128, 128, 4096), (16, 16, 16896)
    assert len(found) == 3 * 9
    assert {(row["blocks"], row["launches"]) for row in found.values()} == {(132, 100)}
    never = {key: row for key, row in found.items() if key[1:] != deep or not key[0].startswith("collect")}
    assert {row["wrong_launches"] for row in never.values()} == {0}
    assert {row["results"] for key, row in never.items() if key[0] != ARRIVAL} == {1}
    assert all(found[name, *deep]["wrong_launches"] == 100 for name in ("collect without its barrier", "collect without waiting"))
    assert [found[ARRIVAL, *shape]["results"] for shape in (wide, deep)] == [1, 91]
    assert found[ARRIVAL, *single]["results"] > 90
    of_wide, of_deep, of_single = map(blocks_of_tiles, *zip(wide, deep, single, strict=True))
    assert (max(of_wide[0]), len(of_wide[0])) == (2, 1024)
    assert 7.5 < of_wide[1] < 8
    assert (set(of_deep[0]), len(of_deep[0]), f"{of_deep[1]:.1f}") == ({3, 4}, 64, "0.5")
    assert (of_single[0], of_single[1] * 16896 / 8) == ([132], 16)


def test_what_waiting_for_a_later_block_takes():
    right, first = (data.readings("sharing").find(kind="waits", variant=name)[0] for name in (RIGHT, FIRST_ENDS))
    assert (right["wrong"], first["wrong"], right["blocks"], right["M"], right["N"], right["K"]) == (0, 0, 132, 512, 512, 512)
    ours, theirs = right["median_s"], first["median_s"]
    assert f"ours took {1e3 * ours:.2f} ms and the chain {1e3 * theirs:.0f} ms" in PROSE
    assert "512 × 512 matrices (1024 tiles of 16 × 16, of 64 k-steps each, on 132 blocks)" in PROSE


def test_what_was_measured_is_what_is_here():
    assert data.readings("sharing").sources["even"] == fingerprint(times.FILE.read_text(encoding="utf-8"))
    assert stale("sharing") == ()


def test_partial_sums_are_read_once_each(mine):
    A, B = (np.random.default_rng(3).standard_normal(shape, dtype=np.float32) for shape in ((48, 40), (40, 48)))
    first, second = (run(mine, A, B, backend="sim").C for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert np.abs(first - A.astype(float) @ B).max() < 1e-4
    assert counts.M * counts.N // 256 == 9
