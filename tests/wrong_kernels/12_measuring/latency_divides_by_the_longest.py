# latency_divides_by_the_longest.py -- takes the difference of the cycles, and not that of the steps
#
# Part             latency
# Must fail for    wrong: That shares a difference of two lengths among all steps
def latency(chains):
    (_, begin, first), (many, start, last) = chains[0], chains[-1]
    return ((last - start) - (first - begin)) / many
