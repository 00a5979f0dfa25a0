"""Mistakes in the lesson's kernel: its text with the block that begins a tile as the one that ends it."""

from course_lib.lessons.busy.times import FILE

LEAVES = "        if (last < steps) {      // a later block ends this tile\n"
ENDS = "            int who = block;\n            while (begins(who) > tile * steps) --who;\n"
LOOP = "            for (; who < block; ++who)\n"


def first_block_ends() -> str:
    """Return the kernel in which the first block of a tile ends it, and waits for what the later ones leave."""
    text = FILE.read_text(encoding="utf-8")
    for old, new in ((LEAVES, "        if (first > 0) {         // an earlier block ends this tile\n"), (ENDS, ""),
                     (LOOP, "            for (int who = block + 1; begins(who) < (tile + 1) * steps; ++who)\n")):
        if text.count(old) != 1:
            raise ValueError(f"the kernel has no line {old.strip()!r}")
        text = text.replace(old, new)
    return text


def interleaved_shares() -> str:
    """Return the kernel whose shares begin at units * who / BLOCKS: with few units, some blocks in between have nothing."""
    text, old = FILE.read_text(encoding="utf-8"), "units / BLOCKS * who + min(units % BLOCKS, who)"
    if text.count(old) != 1:
        raise ValueError(f"the kernel has no {old!r}")
    return text.replace(old, "units * who / BLOCKS")
