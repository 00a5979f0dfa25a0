# record_fewest_cycles.py -- a round of few cycles is no lie where there is little to do
#
# Part             record
# Must fail for    wrong: Record 0 claims 512 operations in 4.016 cycles, 127.5 in a cycle where 128 are possible
def false_record(latency, throughput, records):
    cycles = [record[2] for record in records]
    return cycles.index(min(cycles))
