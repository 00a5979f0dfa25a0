# record_latency_and_issue_added.py -- latency and issue overlap, and are not added
#
# Part             record
# Must fail for    wrong: Record 0 claims 1024 operations in 16.2 cycles
def false_record(latency, throughput, records):
    claims = [(latency + 32 * warps * chains / throughput) / cycles for warps, chains, cycles in records]
    return claims.index(max(claims))
