"""Examples as a person types them, one on a line, and back. Pure.

A line that begins with two spaces goes on with the example above it, so that an example may have lines of its own.
"""

from collections.abc import Sequence

GOES_ON = "  "


def write_examples(examples: Sequence[str]) -> str:
    """The examples for a text field."""
    return "\n".join(example.replace("\n", f"\n{GOES_ON}") for example in examples)


def read_examples(text: str) -> tuple[str, ...]:
    """The examples of a text field; empty lines are left out."""
    found: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.startswith(GOES_ON) and found:
            found[-1] += "\n" + line.removeprefix(GOES_ON)
        elif line.strip():
            found.append(line.strip())
    return tuple(example.rstrip() for example in found)
