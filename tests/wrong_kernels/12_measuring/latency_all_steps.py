# latency_all_steps.py -- all cycles for all steps
#
# Part             latency
# Must fail for    wrong: That is the mean over the steps of all chains
def latency(chains):
    return sum(end - start for _, start, end in chains) / sum(steps for steps, _, _ in chains)
