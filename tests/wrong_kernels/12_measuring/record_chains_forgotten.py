# record_chains_forgotten.py -- warps count, their chains do not
#
# Part             record
# Must fail for    wrong: Record 0 claims
def false_record(latency, throughput, records):
    claims = [max(latency, 32 * warps / throughput) / cycles for warps, chains, cycles in records]
    return claims.index(max(claims))
