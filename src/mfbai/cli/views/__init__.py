"""Pictures in the terminal, one file for each command that has them."""
