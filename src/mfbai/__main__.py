"""python -m mfbai."""

from mfbai.cli import main

main()
