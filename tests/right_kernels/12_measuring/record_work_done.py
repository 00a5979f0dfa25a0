# record_work_done.py -- another right solution: how many of its steps could have been done in the claimed cycles
#
# Part             record
def false_record(latency, throughput, records):
    def possible(record):
        warps, chains, cycles = record
        under_way = warps * chains
        return min(under_way * cycles / latency, throughput / 32 * cycles) / under_way

    return min(range(len(records)), key=lambda i: possible(records[i]))
