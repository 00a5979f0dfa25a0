# sum_of_shares.py -- another right solution: what each operand costs
#
# Part             words
def words(TM, TN):
    of_a, of_b = 1 / TN, 1 / TM
    return of_a + of_b
