# latency_from_ends.py -- takes two ends, as if both chains had begun at 0
#
# Part             latency
# Must fail for    wrong: each chain has a start of its own
def latency(chains):
    (few, _, first), (many, _, last) = chains[0], chains[-1]
    return (last - first) / (many - few)
