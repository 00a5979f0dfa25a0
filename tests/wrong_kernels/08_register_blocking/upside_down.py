# upside_down.py -- returns multiply-adds for a word
#
# Part             words
# Must fail for    wrong: upside down
def words(TM, TN):
    return TM * TN / (TM + TN)
