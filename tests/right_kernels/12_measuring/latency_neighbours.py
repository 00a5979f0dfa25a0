# latency_neighbours.py -- another right solution: the mean of the slopes between neighbouring lengths
#
# Part             latency
def latency(chains):
    slopes = []
    for (few, begin, first), (many, start, last) in zip(chains, chains[1:]):
        slopes.append(((last - start) - (first - begin)) / (many - few))
    return sum(slopes) / len(slopes)
