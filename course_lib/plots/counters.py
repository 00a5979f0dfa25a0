"""The profiler's long counter names behind short ones, and the ratios that the lessons speak of.

>>> NAMES["global load sectors"]
'l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum'
"""

NAMES = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared loads": "smsp__sass_inst_executed_op_shared_ld.sum",
    "shared stores": "smsp__sass_inst_executed_op_shared_st.sum",
    "instructions": "smsp__inst_executed.sum",
}


def count(counters, name):
    """Return a counter by its short name; 0 when it was never raised.

    Raises
    ------
    KeyError
        When there is no such short name: a misspelt one must not read as 0.
    """
    return counters.get(NAMES[name], 0)


def sectors_per_request(counters, kind="load"):
    """Return sectors per global request; 0 when there was no request.

    >>> sectors_per_request({NAMES["global load requests"]: 4, NAMES["global load sectors"]: 34})
    8.5
    """
    asked = count(counters, f"global {kind} requests")
    return count(counters, f"global {kind} sectors") / asked if asked else 0.0


def multiply_adds(result):
    """Return the multiply-adds of the product: M·N·K."""
    return result.M * result.N * result.K


def load_sectors_per_multiply_add(result):
    """Return the sectors fetched from global memory for each multiply-add of the product."""
    return count(result.counters, "global load sectors") / multiply_adds(result)
