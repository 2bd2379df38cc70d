"""`python -m thermorbm` is the command `thermorbm`."""

from thermorbm.cli import main

main()
