"""Compiled, pure numerics: no files, clocks, databases or printing."""
