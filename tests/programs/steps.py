"""steps: what a program in Python says to whoever runs it. It reads the name of a step from each line
of its input, does it, and prints what it saw; a line "." ends the step. A line that begins with "!" is
the error of one table, and "-" says that the program has no such step.
"""
import sys


def error_of(failure):
    """SQLSTATE and message, as the driver has them, in one line."""
    cause = getattr(failure, "orig", None) or failure.__cause__ or failure
    return f"{getattr(cause, 'pgcode', None) or ''} {cause}".replace("\n", " ").strip()


def attempt(table, work, undo=lambda: None):
    """Does it, and prints what it returns."""
    try:
        print(f"{table}: {work()}")
    except Exception as failure:
        print(f"! {table}: {error_of(failure)}")
        undo()


def serve(steps):
    """`steps`: functions by their names."""
    for line in sys.stdin:
        steps.get(line.strip(), lambda: print("-"))()
        print(".", flush=True)
