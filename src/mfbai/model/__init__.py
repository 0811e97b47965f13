"""What is known beforehand: problems, families, guesses, spec files.

families     what is known of the noise, and what kernels see of it
problem      Problem, Instance, and the Model that kernels see
correlation  what evaluations with one seed have in common, in a simulation
means        tables of means that the bias bounds allow
given        reading what these are made of, with every fault
guess        rough knowledge of the means: a range, a gap
spec         TOML files
instances    named and random instances; their files are in catalogue/
"""
