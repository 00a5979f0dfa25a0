# count_banks.py -- how many banks are used, instead of how many words the busiest has to give
#
# Part             count
# Must fail for    wrong: asked is how many words the busiest bank
def wavefronts(row_length, lanes):
    return len({row_length * lane % 32 for lane in range(lanes)})
