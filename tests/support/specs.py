"""A spec file to read, to change and to spoil."""

SPEC = """
[problem]
arms = ["baseline", "wide", "deep"]
direction = "maximise"

[[fidelity]]
name = "coarse"
cost = 0.05
bias = 0.1

[[fidelity]]
name = "fine"
cost = 5.0

[family]
name = "gaussian"
variance = 0.01

[truth]
means = [[0.82, 0.85], [0.80, 0.84], [0.91, 0.98]]
"""
