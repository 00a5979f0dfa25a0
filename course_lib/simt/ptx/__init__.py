"""PTX text in, objects out: tokens, operands, instructions, functions. Nothing is interpreted here."""
