"""The `sessionref` command: what a person can do with sessions in a terminal.

application.py   the commands together; running.py gives each error its exit code
commands/        one module for each command
options.py       the options that several commands share; root.py says where the logs lie, and
                 index_file.py where their title index does
text.py          text that is safe to show; output.py writes it, views.py says how values look
progress.py      what is seen while something takes long
demo/            the sessions that `sessionref demo` shows: data, no code
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command with the arguments of this process, and end it with the exit code."""
    try:
        # A console script imports this module first: what takes time waits until it is guarded.
        from sessionref.cli.application import application

        application()
    except KeyboardInterrupt:
        sys.exit(130)
