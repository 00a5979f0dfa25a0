# loop_never_gone.py -- does not see that the loop is gone when unroll = BK
#
# Part             predict
# Must fail for    wrong: Where unroll = BK there is no loop any more
def instructions(unroll, BK, loads, loop, once):
    return 1 + loads + loop / unroll + once / BK
