"""What is wrong with a kernel: the inputs it is tried on, how a result is judged, what a reader is told."""
