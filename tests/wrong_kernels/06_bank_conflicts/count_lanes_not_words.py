# count_lanes_not_words.py -- lanes that want one word are counted one by one
#
# Part             count
# Must fail for    wrong: it is read once and sent to all
def wavefronts(row_length, lanes):
    banks = [row_length * lane % 32 for lane in range(lanes)]
    return max(banks.count(bank) for bank in banks)
