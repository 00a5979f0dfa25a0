# record_from_one.py -- counts positions from 1
#
# Part             record
# Must fail for    wrong: Positions count from 0
def false_record(latency, throughput, records):
    claims = [max(latency, 32 * warps * chains / throughput) / cycles for warps, chains, cycles in records]
    return claims.index(max(claims)) + 1
