"""The reference code generator: code that runs any set of the lanes of a warp. Complete and simple."""
