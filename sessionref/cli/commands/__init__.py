"""The commands of `sessionref`, one module for each."""
