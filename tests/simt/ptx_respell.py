"""Write a compiler's PTX in other words: other names, spaces, scopes, numbers and orders; what it computes and counts stays the same.

`respelled(text, rng)` expects the compiler's layout, one statement a line.
"""

import re
from collections import Counter

REGISTER = re.compile(r"%[A-Za-z_]\w*(?:\.\w+)?|(?<![\w$.])__\$\w+")
RANGE = re.compile(r"\s*\.reg (\.\w+)\s*(%\w+)<(\d+)>;\s*")
LABEL = re.compile(r"\$L__BB\w+")
PURE = re.compile(r"\s*(add|sub|mul|mad|and|or|xor|shl|shr|mov|setp|selp|cvt|min|max)\.")
OPCODE = re.compile(r"(\s*(?:@!?\S+\s+)?)([a-z]\w*(?:\.\w+(?:::\w+)*)+)\s+(.*)", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.$%+-])(\d+)(?![\w.])")
ANY_ORDER = {"ld", "st", "fma", "add", "mul", "sub", "setp"}
ODD = ("mov", "ld", "add", "x", "param", "reg", "entry", "v2", "sync", "tid", "WARP", "generic")
ELEMENTS = ("xyzw", "rgba")


def respelled(text, rng):
    """Return PTX that means the same."""
    text = re.sub(r"//[^\n]*", "", text)
    start = text.index("{", text.index(".entry"))
    end = start + next(at for at in range(len(text) - start) if text[start + at] == "}" and balanced(text[start:start + at + 1]))
    head, body, tail = text[:start], text[start + 1:end].splitlines(), text[end + 1:]
    parameters = {name: f"{rng.choice('pq$_')}{number}_arg" for number, name in enumerate(re.findall(r"\w+_param_\d+", head))}
    labels = sorted(set(LABEL.findall("\n".join(body))))
    names = {**parameters, **{label: fresh(rng, 9000 + i) for i, label in enumerate(labels)}}
    for old in sorted(names, key=len, reverse=True):
        head, body = head.replace(old, names[old]), [line.replace(old, names[old]) for line in body]
    ranges = [RANGE.fullmatch(line) for line in body]
    lines = [line for line, found in zip(body, ranges) if not found and line.strip()]
    swap(lines, rng)
    declarations, mapping = registers([found for found in ranges if found], lines, rng)
    lines = [written(line, mapping, rng) for line in lines]
    scopes(lines, declarations, sorted(set(mapping.values())), rng)
    return spaced(head.replace(".visible .entry", ".visible.entry") + "{\n" + "\n".join(declarations + lines) + "\n}" + tail, rng)


def balanced(text):
    """Say whether as many braces close as open."""
    return text.count("{") == text.count("}")


def fresh(rng, number):
    """Return a name that no other number gets."""
    return rng.choice(("r{}_", "${}a", "_{}", "%v{}_", "$x{}$", "%{}_", "Add{}_", "_${}_")).format(number)


def registers(ranges, lines, rng):
    """Return (declarations, old name -> new name): ranges kept, taken apart, or joined into vectors."""
    used = set(REGISTER.findall("\n".join(lines)))
    addresses = set(re.findall(r"\[(%\w+)", "\n".join(lines)))
    declared, mapping, odd = [], {}, rng.sample(ODD, len(ODD))
    for number, found in enumerate(ranges):
        kind, prefix, count = found[1], found[2], int(found[3])
        if rng.random() < 0.3:
            declared.append(f".reg {kind} q{number}_<{count}>;")
            mapping |= {f"{prefix}{i}": f"q{number}_{i}" for i in range(count)}
            continue
        mine = [f"{prefix}{i}" for i in range(count) if f"{prefix}{i}" in used]
        while mine:
            scalar = kind == ".pred" or addresses & set(mine[:4])       # an address is no element of a vector
            wide = 1 if scalar or rng.random() < 0.7 else rng.choice((2, 4))
            wide = min(wide, 2 if "64" in kind else 4, 1 << len(mine).bit_length() - 1)
            name = odd.pop() if odd and rng.random() < 0.2 else fresh(rng, len(mapping))
            taken, mine = mine[:wide], mine[wide:]
            if wide == 1:
                mapping[taken[0]] = name
            else:
                mapping |= {old: f"{name}.{letter}" for old, letter in zip(taken, rng.choice(ELEMENTS))}
            declared.append(f".reg{rng.choice((' ', ''))}{f'.v{wide} ' if wide > 1 else ''}{kind} {name};")
    rng.shuffle(declared)
    return declared, mapping


def swap(lines, rng):
    """Exchange neighbouring instructions that only compute, of one source line, where neither needs the other."""
    for at in range(len(lines) - 1):
        one, other = lines[at:at + 2]
        if PURE.match(one) and PURE.match(other) and rng.random() < 0.5:
            a, b = (REGISTER.findall(line) for line in (one, other))
            targets = [found[:1 + ("|" in line)] for found, line in ((a, one), (b, other))]
            if not set(targets[0]) & set(b) and not set(targets[1]) & set(a):
                lines[at:at + 2] = other, one


def written(line, names, rng):
    """Return a line with its registers renamed, its numbers and offsets spelled anew, its modifiers in another order."""
    found = OPCODE.fullmatch(line)
    if not found or line.strip().startswith("."):
        return REGISTER.sub(lambda m: names.get(m[0], m[0]), line)
    guard, opcode, operands = found.groups()
    parts = opcode.split(".")
    if parts[0] in ANY_ORDER:
        first = next(at for at, part in enumerate(parts) if re.fullmatch(r"[busf]\d+|v\d|pred|f16x2|bf16x2", part))
        modifiers = parts[1:first]
        rng.shuffle(modifiers)
        opcode = ".".join([parts[0], *modifiers, *parts[first:]])
    if parts[0] not in ("bra", "bar", "call", "mma", "wmma", "cp", "ldmatrix", "shfl"):
        operands = NUMBER.sub(lambda m: number(int(m[1]), rng), operands)
        operands = re.sub(r"\+(-?\d+)\]", lambda m: f"+{number(int(m[1]), rng)}]", operands)
    renamed = REGISTER.sub(lambda m: names.get(m[0], m[0]), f"{guard}{opcode} {operands}")
    return re.sub(r"\{([^\s.,]+)\.[xr], \1\.[yg](, \1\.[zb], \1\.[wa])?\}", r"\1", renamed) if parts[0] in ("ld", "st") \
        and vector_fits(renamed, parts, names) else renamed


def vector_fits(line, parts, names):
    """Say whether a whole vector register, all of its elements, stands in the braces of a load or store."""
    inside = re.search(r"\{([^}]*)\}", line)
    if not inside:
        return False
    items = inside[1].split(", ")
    if sum(name.startswith(f"{items[0].partition('.')[0]}.") for name in names.values()) != len(items):
        return False
    return f"v{len(items)}" in parts and len({item.partition(".")[0] for item in items}) == 1 and (
        [item.partition(".")[2] for item in items] in ([*letters[:len(items)]] for letters in ELEMENTS))


def number(value, rng):
    """Return an integer constant expression."""
    if value < 0:
        return rng.choice((f"{value}", f"-({-value})", f"({value - 1})+1"))
    return rng.choice((f"{value}", hex(value), f"0{value:o}", f"0b{value:b}", f"({value}+1)-1", f"(1?{value}:7)", f"{value}*1",
                       f"+{value}", f"(.s64){value}", f"{value}|0U", f"({value}<<1)/2" if value < 2**62 else f"{value}", f"~~{value}",
                       f"(WARP_SZ=={value})*32+(WARP_SZ!={value})*{value}"))


def scopes(lines, declarations, names, rng):
    """Put braces around stretches without labels. Declare there registers that only the stretch uses, and names that it does not use."""
    at = 0
    uses = Counter(word for line in lines for word in set(re.findall(r"[\w$%]+", line)))
    single = {found[2]: line for line in declarations if (found := re.fullmatch(r"\.reg ?(\.\w+ )?\.\w+ ([^<>]+);", line))}
    while at < len(lines):
        length = rng.randrange(1, 9)
        stretch = lines[at:at + length]
        if rng.random() < 0.4 and not any(re.search(r"[{}]\s*$|:|^\s*[{}]|\.(reg|param|local|shared)\b\s", line) for line in stretch):
            text = " ".join(stretch)
            shadowed = [n for n in rng.sample(names, min(3, len(names))) if "." not in n and n not in text]
            inside = Counter(word for line in stretch for word in set(re.findall(r"[\w$%]+", line)))
            own = [single.pop(name) for name, n in inside.items() if name in single and n == uses[name]]
            declarations[:] = [line for line in declarations if line not in own]
            declared = own + [f".reg {rng.choice(('.b16', '.pred', '.f64', '.v2 .b32'))} {name};" for name in shadowed]
            lines[at:at + length] = ["{", *declared, *stretch, "}"]
            length += 2 + len(declared)
        at += length


def spaced(text, rng):
    """Put spaces, line ends and comments between tokens, and take out those that nothing needs."""
    found = re.findall(r"\.section[^{]*\{[^}]*\}|\.(?:loc|file|version|target|address_size|pragma)[^\n]*|[\w$%.]+(?:::[\w]+)*|<<|==|!=|\S",
                       text)
    text, last = "", ""
    for token in found:
        if re.match(r"\.(loc|file|section|version|target|address|pragma)", token):
            text += f"\n{token}\n"
        elif token.startswith(".") and not last.isdigit() or not re.match(r"[\w$%.]", token) or not re.search(r"[\w$%.]$", last):
            text += rng.choice(("", "", " ", "\n", " /* ; } */", " // {\n")) + token
        else:
            text += rng.choice((" ", "\t", "\r\n", " /**/", " // , %r1\n")) + token
        last = token
    return text
