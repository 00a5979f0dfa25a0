"""The uniform code generator: fast code for warps whose 32 lanes are together, which is most of the time."""
