"""Compiled, pure numerics: no files, clocks, databases or printing.

jit          the one way to compile, and functions that dispatch on a record's type
laws         the compiled parts of each reward family
stats        counts and means of what was told
profile      how badly an arm's data fit a top mean
multimodal   global search, for laws that are not convex
transport    evidence: how far the data are from a model in which another arm is the best
incremental  the same while means move and weights grow a little at a time
betting      martingales: bets on a cell's true mean
e_values     what these bets prove about arms
chords       the same for laws that learn their noise
allocation   the optimal allocation for known means
rival_cost   its inner problem: what one rival costs
softmax      exp for arrays, fast
"""
