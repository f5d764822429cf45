"""What runs in a process apart: takes documents line by line from its input, and answers with safe HTML.

Started by `apart.py` as `python -m annotator.web.rendering.worker`. It lowers its own priority and what memory it may
have, and ends when its input does.
"""

import json
import os
import sys

from annotator.web.rendering.document import write_safe

MOST_MEMORY = 1_500_000_000


def work() -> None:
    """Answer until the input ends."""
    _be_modest()
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a parser that prints must not disturb the answers
    for line in source:
        asked = json.loads(line)
        try:
            answer = write_safe(asked["text"], asked["kind"], asked["doc_id"])
        except MemoryError:
            answer = ("", 0)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _be_modest() -> None:
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    work()
