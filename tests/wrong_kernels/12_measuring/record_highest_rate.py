# record_highest_rate.py -- does not see who is faster than the latency
#
# Part             record
# Must fail for    wrong: Record 0 claims 1024 operations in 16.2 cycles
def false_record(latency, throughput, records):
    rates = [warps * chains / cycles for warps, chains, cycles in records]
    return rates.index(max(rates))
