"""One run of a strategy under a rule, live or simulated.

loop      the compiled loops: a Monte-Carlo run, and the replay of a journal
truth     what a simulated evaluation returns
exact     deterministic fidelities: what their values say, and when to ask for them
assemble  from names and options to the records of a run
state     these records, as arrays
"""
