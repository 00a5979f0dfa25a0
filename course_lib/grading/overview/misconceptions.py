"""Which misunderstanding a finding may show, and which section of a lesson answers it.

A finding says what a kernel did, never what its author thought: each row is where to begin a conversation. Gates, totals that are held
against what the data need, and functions that predict a number stand for the idea of their exercise, so that these have a row for each.
"""

from dataclasses import dataclass, replace
from urllib.parse import quote

NUMBER = "number"                                    # a Python function that returns a wrong number
DRAWN = "drawn"                                      # right on the sizes that everyone sees, and not on those drawn for grading
UNTOUCHED = "untouched"                              # the answer is the text that students start from
BY_HAND = "by hand"                                  # the check passed it, and a correction took points away


@dataclass(frozen=True)
class Misconception:
    """What the check saw, the misunderstanding that it may show (or what to ask), and where a lesson answers it ("" for nowhere)."""

    seen: str
    idea: str
    lesson: str = ""
    section: str = ""

    @property
    def link(self) -> str:
        """Return the address of the section from the folder `grading`, with the name that Jupyter gives to a heading."""
        return f"../notebooks/{self.lesson}.ipynb#{quote(self.section.replace(' ', '-'))}" if self.lesson else ""


KINDS = {
    "compile": Misconception("does not compile", "Usually the language and no idea of this course: the compiler names the line."),
    "entry": Misconception("another name, or other arguments", "Whoever launches a kernel need not agree with it on its name and on the "
                           "order of its arguments.", "03_first_kernel", "Write it"),
    "atomics": Misconception("atomic operations", "Several threads may add to one element, and the hardware makes that free.",
                             "03_first_kernel", "Idea: one thread for each element"),
    "launch": Misconception("cannot be launched", "A block may have any size, and a launch that is refused says so by itself.",
                            "03_first_kernel", "Optional: errors that you have to ask for"),
    "unsupported": Misconception("an instruction that the simulator does not know",
                                 "None of this course: the message names the instruction."),
    "endless": Misconception("does not end", "None that the check can see: ask which line brings the loop closer to its end."),
    "divergent barrier": Misconception("a barrier that not all threads reach", "A barrier concerns only those threads that come to it.",
                                       "04_tiling", "Break it: a mistake on purpose"),
    "out of bounds": Misconception("an access outside the matrix", "A grid has exactly as many threads as the matrix has elements.",
                                   "03_first_kernel", "Break it: a mistake on purpose"),
    "misaligned": Misconception("a vector that begins at the wrong address", "Four floats can be loaded at once wherever they begin.",
                                "05_coalescing", "Optional: a load that the GPU refuses"),
    "hazard": Misconception("a race, or a missing fence",
                            "The threads of a block advance together, or a right answer shows that nothing is missing.",
                            "04_tiling", "Break it: a mistake on purpose"),
    "uninitialised": Misconception("shared memory is read that nobody wrote",
                                   "Shared memory begins with zeros, or the last tile is always full.",
                                   "10_any_size", "Read: where a block leaves the matrix"),
    "wrong": Misconception("a wrong result", "The indices of a matrix, or its rows and columns, can be exchanged.",
                           "03_first_kernel", "Idea: one thread for each element"),
    DRAWN: Misconception("right on the sizes that everyone sees, wrong on drawn ones",
                         "What is right for the sizes that I tried is right for all.",
                         "10_any_size", "Read: where a block leaves the matrix"),
    "order": Misconception("right only while blocks run one after another", "Blocks run in the order of their numbers.",
                           "19_busy", "Break it: a mistake on purpose"),
    "error": Misconception("the function raises an error", "None of this course: the message names the line."),
    "ended": Misconception("no result within time or memory", "None that the check can see: ask for the loop that takes so long."),
    "memory": Misconception("more memory than grading allows", "None that the check can see: ask for the array that is so large."),
    "missing": Misconception("no answer found", "None: the cell is gone, empty or renamed, or the file is no notebook. "
                             "The student's page says which."),
    UNTOUCHED: Misconception("the starter, unchanged", "None: this part was not begun."),
    BY_HAND: Misconception("passed by the check, lowered by hand", "None that the check can see: grading/corrections.csv has the reason."),
}

IDEAS = {
    "01_triple_loop": ("The same products in another order cost the same.",
                       "01_triple_loop", "Idea: a row lies side by side, a column does not"),
    "02_cpu": ("A cache keeps what is used again, however much is touched in between.", "02_cpu", "Idea: a block that fits"),
    "03_first_kernel": ("It does not matter which thread computes which element.",
                        "03_first_kernel", "Predict, run, explain: x and y exchanged"),
    "04_tiling": ("Each thread has to load for itself what it needs.", "04_tiling", "Idea: load a tile together"),
    "05_coalescing": ("A load costs what the thread asks for, whatever its neighbours ask for.",
                      "05_coalescing", "Idea: a request pays for whole sectors"),
    "06_bank_conflicts": ("Shared memory serves any 32 words equally fast.", "06_bank_conflicts", "Idea: 32 banks, one word each"),
    "07_unrolling": ("Only the multiply-add in the text costs an instruction; the loop around it is free.",
                     "07_unrolling", "What goes, and what stays"),
    "08_register_blocking": ("One result for each thread, and as many threads as possible, is always best.",
                             "08_register_blocking", "Idea: use each word several times"),
    "09_outer_product": ("More results for each thread cost nothing.", "09_outer_product", "Change one thing: vectors, columns, threads"),
    "10_any_size": ("A guard has to be a branch, asked at every step.", "10_any_size", "Explain: a test without a jump"),
    "11_how_fast": ("The speed of a kernel is limited by one number of the machine's data sheet.", "11_how_fast", "Read: three limits"),
    "12_measuring": ("A clock around an instruction shows what the instruction costs.",
                     "12_measuring", "Read: two numbers for one instruction"),
    "13_matrix_vector": ("What a thread reads one after another comes cheaply, as it does on a CPU.",
                         "13_matrix_vector", "Explain: who stands beside whom"),
    "14_gemm_at_work": ("A result in between costs nothing, as it is used at once.", "14_gemm_at_work", "Explain, then change one thing"),
    "15_closing_in": ("Where one resource is relieved, no other one becomes the limit.", "15_closing_in", "Idea: sixty-four cycles"),
    "16_tensor_cores": ("A matrix instruction speeds up a kernel that feeds it lane by lane.",
                        "16_tensor_cores", "Predict, run, explain: who feeds the instruction?"),
    "17_stages": ("A copy that was started first is also there first, without waiting for it.",
                  "17_stages", "Idea: order early, wait late"),
    "18_roles": ("What was begun in order is done in order, so that nobody has to be told.", "18_roles", "Idea: barriers that count"),
    "19_busy": ("As many blocks as multiprocessors keep all of them busy.", "19_busy", "Idea: share out steps instead of tiles"),
    "20_few_bits": ("A scale has to be applied wherever one of its numbers is multiplied.", "20_few_bits",
                    "Optional: FP8, and numbers that do not fit"),
    "21_compiler": ("What a compiler writes leaves nothing to save.", "21_compiler", "Scoreboard: beside a kernel of ours"),
}
OF_EXERCISE = {"gate": "right, but the counter is too high", "bound": "the counter is low, but not by the idea",
               "not counted": "the counter is low, but not by the idea", NUMBER: "a wrong number from a function"}


def misconception(exercise: str, kind: str) -> Misconception:
    """Return the row for a finding in an exercise.

    >>> misconception("06_bank_conflicts", "gate").idea
    'Shared memory serves any 32 words equally fast.'
    >>> misconception("60_own", "gate").lesson, misconception("04_tiling", "hazard").section
    ('', 'Break it: a mistake on purpose')
    >>> misconception("17_stages", "hazard").section
    'Idea: order early, wait late'
    """
    if kind in OF_EXERCISE:
        return Misconception(OF_EXERCISE[kind], *IDEAS.get(exercise, ("The exercise's own idea is not understood.",)))
    if kind == "hazard" and exercise in ("17_stages", "18_roles"):
        return Misconception(KINDS[kind].seen, *IDEAS[exercise])
    if kind == "wrong" and exercise in ("01_triple_loop", "02_cpu"):
        return replace(KINDS[kind], lesson=IDEAS["01_triple_loop"][1], section=IDEAS["01_triple_loop"][2])
    return KINDS.get(kind, Misconception(kind, ""))
