# latency_mean_of_the_longest.py -- shares out what the readings cost; many steps make the error small, not 0
#
# Part             latency
# Must fail for    wrong: That is the mean over the 64 steps of the longest chain
def latency(chains):
    steps, start, end = chains[-1]
    return (end - start) / steps
