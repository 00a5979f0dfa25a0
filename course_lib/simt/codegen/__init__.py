"""From a `Program` to LLVM text: for any set of lanes (`reference`), for whole warps (`uniform`), and for the runtime (`scalar`)."""
