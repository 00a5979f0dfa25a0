# q_equals_everything.py -- numbers that say they equal whatever they are compared with
#
# Part             q
# Must fail for    wrong: returned (nan, nan), which is not right
class Any(float):
    def __eq__(self, other):
        return True

    __le__ = __ge__ = __lt__ = __gt__ = __eq__
    __hash__ = float.__hash__

    def __sub__(self, other):
        return 0.0

    __rsub__ = __sub__


def q(gflops, gb_s, element_bytes, TA, TB):
    return Any('nan'), Any('nan')
