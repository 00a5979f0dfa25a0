# count_conflicts.py -- counts conflicts, of which an access without any has 0
#
# Part             count
# Must fail for    wrong: count wavefronts, not conflicts
def wavefronts(row_length, lanes):
    words = {row_length * lane for lane in range(lanes)}
    return max(sum(word % 32 == bank for word in words) for bank in range(32)) - 1
