# words_of_one_k.py -- counts the words of one k
#
# Part             words
# Must fail for    wrong: That is the words for one k
def words(TM, TN):
    return TM + TN
