"""What each PTX instruction means: its forms, its types, and the LLVM text or the runtime record that carries it out."""
