"""What a request moves, drawn: every box is a transfer of the model, every dark word is wanted."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from course_lib.arch import SECTOR_BYTES
from course_lib.lessons.coalescing.transfers import describe_transfers, moved_boxes, transfers
from course_lib.model import bus_bytes, sectors, transactions
from course_lib.plots.accesses import FETCHED, USED

FLOATS = 4 * np.arange(32)


def drawn(ax, colour):
    """Return {(row, first byte, bytes)} of the rectangles of one colour."""
    return {(round(p.get_y() + 0.4), p.get_x(), p.get_width()) for p in ax.patches if to_hex(p.get_facecolor()) == colour.lower()}


@pytest.mark.parametrize("at", [0, 4, 16, 32, 64, 96, 128, 272])
def test_each_box_is_a_transfer_and_each_dark_word_is_wanted(at):
    addresses = at + FLOATS
    ax = transfers(addresses, title="here")
    old = {(t.half, t.start, t.size) for t in transactions(addresses)}
    today = {(2, int(s) * SECTOR_BYTES, SECTOR_BYTES) for s in np.unique(addresses // SECTOR_BYTES)}
    assert drawn(ax, FETCHED) == old | today
    assert drawn(ax, USED) == {(lane // 16, a, 4) for lane, a in enumerate(addresses)} | {(2, a, 4) for a in addresses}
    assert sorted(int(t.get_text()) for t in ax.texts) == sorted(size for _, _, size in old | today)
    assert f"{bus_bytes(addresses)} bytes on CC 1.3, {32 * sectors(addresses)} today" in ax.get_xlabel()
    low, high = ax.get_xlim()
    assert low < addresses[0]
    assert high > addresses[-1] + 4
    assert ax.get_title(loc="left") == "here"


def test_chiens_second_column_in_boxes_and_in_words():
    addresses = 4 * 72 + FLOATS                    # his Figure 45: 128 bytes for the first half-warp, 32 and 32 for the second
    assert [[size for _, size in row] for row in moved_boxes(addresses)] == [[128], [32, 32], [32] * 4]
    said = describe_transfers(addresses)
    assert "transactions of 128 bytes. Lanes 16 to 31: 32, 32 bytes. Together 192. Today: 4 sectors, 128 bytes" in said
