"""Compiled numerics, which know no files, clocks, databases or printing; and how they are compiled.

laws         the compiled parts of each reward family
stats        counts and means of what was told
profile      how badly an arm's data fit a top mean
multimodal   global search, for laws that are not convex
transport    evidence: how far the data are from a model in which another arm is the best
outlook      whether evaluations under way will decide
incremental  the same while means move and weights grow a little at a time
betting      martingales: bets on a cell's true mean
e_values     what these bets prove about arms
chords       the same for laws that learn their noise
allocation   the optimal allocation for known means
rival_cost   its inner problem: what one rival costs
softmax      exp for arrays, fast
tournament   the largest of many numbers, while they change one at a time
random       numpy's random numbers, in compiled code

How they are compiled (docs/developer/architecture.md tells the story):

jit          `kernel`, and `generic` for functions that dispatch on a record's type
records      arguments as tables of words
parts        compiled kernels, found or built, bound to arguments and called
link         calls from one part to another
sources      what a part is made of
store        files of compiled parts
machine      the processor, and code loaded into this process
builders     processes that build parts
build        from a kernel to object code, by numba
"""
