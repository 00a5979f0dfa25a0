# multiply_add_forgotten.py -- counts loads and loop, and not the multiply-add itself
#
# Part             predict
# Must fail for    wrong: The multiply-add itself is an instruction too
def instructions(unroll, BK, loads, loop, once):
    return loads + (loop / unroll if unroll < BK else 0) + once / BK
