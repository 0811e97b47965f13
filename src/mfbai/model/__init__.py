"""What is known beforehand: problems, families, guesses, spec files.

families     what is known of the noise, and what kernels see of it
problem      Problem: what the learner knows
instance     Instance: a problem with its truth, for simulations
compiled     the Model that kernels see of a problem
control      controlled fidelities: what they are made of
correlation  what evaluations with one seed have in common, in a simulation
means        tables of means that the bias bounds allow
given        reading what these are made of, with every fault
guess        rough knowledge of the means: a range, a gap
spec         TOML files
arms_file    the arms of a TOML file from a CSV file
instances    named and random instances; their files are in catalogue/
"""
