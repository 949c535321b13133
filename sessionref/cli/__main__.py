"""`python -m sessionref.cli`: the command, where its script is not on the PATH."""

from sessionref.cli import main

main()
