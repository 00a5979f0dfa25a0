"""How rows of forms spell what many of them share: alternatives of types, comparisons, roundings."""

INT = "u16|u32|u64|s16|s32|s64"
ORDER = "eq|ne|lt|le|gt|ge"
FLOAT_ORDER = f"{ORDER}|equ|neu|ltu|leu|gtu|geu|num|nan"
JOIN = "[.and|.or|.xor]"
ROUND = "[.rn|.rz|.rm|.rp]"
WHOLE = "rni|rzi|rmi|rpi"
ANY_INT = f"u8|s8|{INT}"
