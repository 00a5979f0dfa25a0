# predict_by_walking.py -- walks through the innermost loop and counts the lines it comes to
#
# Part             predict
def lines_per_multiply_add(order, per_line):
    inner, turns, width = order[2], 40 * per_line, 1000 * per_line
    lines = 0
    for first, second in (("i", "k"), ("k", "j"), ("i", "j")):
        seen = []
        for turn in range(turns):
            at = {letter: turn if letter == inner else 0 for letter in "ijk"}
            line = (at[first] * width + at[second]) // per_line
            if not seen or seen[-1] != line:
                seen.append(line)
        lines += len(seen) if len(seen) > 1 else 0
    return lines / turns
