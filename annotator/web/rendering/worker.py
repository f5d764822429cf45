"""The rendering process: reads documents from its input, one per line, and answers with safe HTML.

`sandbox.py` starts it as `python -m annotator.web.rendering.worker SECONDS`. It limits its priority and
memory, gives up a document after SECONDS of CPU time, and ends when its input ends.
"""

import json
import os
import signal
import sys
from types import FrameType

from annotator.web.rendering.documents import write_safe

MOST_MEMORY = 1_500_000_000


class TooLongError(BaseException):
    """Raised into a rendering by the timer; no parser catches it."""


def work(limit: float) -> None:
    """Answer until the input ends. Each document gets at most `limit` seconds of CPU time."""
    _be_modest()
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a parser that prints must not disturb the answers
    for line in source:
        request = json.loads(line)
        try:
            _set_timer(limit)
            answer = write_safe(request["text"], request["kind"], request["doc_id"])
        except (MemoryError, TooLongError):
            answer = ("", 0)
        finally:
            _set_timer(0)
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _set_timer(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


def _be_modest() -> None:
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)
    signal.signal(signal.SIGVTALRM, _give_up)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C at the server's terminal: the server ends it
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.RLIM_INFINITY))


if __name__ == "__main__":
    work(float(sys.argv[1]))
