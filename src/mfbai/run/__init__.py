"""One run of a strategy under a rule, live or simulated.

loop      the compiled loops: Monte-Carlo runs, and the replay of a journal
play      the records of a run, and these loops on them
linked    a strategy and a rule as the loops call them
truth     what a simulated evaluation returns
audit     evaluations without bias, of the leader and its closest rival: when to ask for them
exact     deterministic fidelities: what their values say, and when to ask for them
assemble  from names and options to the records of a run
state     these records, as arrays
"""
