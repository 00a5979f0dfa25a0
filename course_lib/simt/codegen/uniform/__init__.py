"""The uniform code generator: code for warps whose 32 lanes are together, which is most of the time."""
