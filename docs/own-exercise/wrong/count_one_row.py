# count_one_row.py -- forgets that B's element serves all rows
#
# Part             count
# Must fail for    wrong: loads B again
def requests(rows):
    return 2 / 32
