# order_step_by_step.py -- goes through the vector element by element
#
# Part             order
def in_order(M, N, miss, hit, rate):
    cycle = 0
    for element in range(N):
        cycle += miss if element % 8 == 0 else hit
        cycle += M                                     # a multiply-add for each row
    cycle += M                                         # stores
    issue = M * N / 128 + (M + N) / 64
    return cycle, rate * cycle / 4 / (M + N), cycle / issue
