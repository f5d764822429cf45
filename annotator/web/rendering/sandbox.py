"""Render in separate processes with time limits, so that no document can block or fill the server.

Parsers of Markdown and reStructuredText need seconds for some unusual texts, and minutes for hostile texts. A
process gives up after COMPUTING seconds of CPU time (`worker.py`) and is killed after LIMIT seconds without
an answer; then the document is shown unchanged. Processes start when first needed and end with the server,
when their input ends.
"""

import json
import subprocess
import sys
import threading
from contextlib import suppress
from queue import LifoQueue

LIMIT = 20.0
PROCESSES = 2
COMPUTING = 4.0
COMMAND = (sys.executable, "-m", "annotator.web.rendering.worker")


class RenderingProcess:
    """One process, which renders one document at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def render(self, text: str, kind: str, doc_id: str) -> tuple[str, int]:
        """Return (safe HTML, removed items); ("", 0) after a failure or timeout."""
        try:
            process = self._find_process()
        except OSError:
            return "", 0
        timer = threading.Timer(LIMIT, process.kill)
        timer.daemon = True
        timer.start()
        try:
            answer = _ask(process, {"text": text, "kind": kind, "doc_id": doc_id})
        except (OSError, ValueError):
            answer = None
        finally:
            timer.cancel()
        if answer is None:
            self._end()
            return "", 0
        return answer

    def _find_process(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                (*COMMAND, str(COMPUTING)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()
        self._process = None


def _ask(process: subprocess.Popen[bytes], request: dict[str, str]) -> tuple[str, int] | None:
    if process.stdin is None or process.stdout is None:
        return None
    process.stdin.write(json.dumps(request).encode() + b"\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer.endswith(b"\n"):
        return None
    html, blocked = json.loads(answer)
    return str(html), int(blocked)


_idle: LifoQueue[RenderingProcess] = LifoQueue()
for _ in range(PROCESSES):
    _idle.put(RenderingProcess())


def render_apart(text: str, kind: str, doc_id: str) -> tuple[str, int]:
    """Return (safe HTML, number of removed items); ("", 0) after a timeout or a parser's failure."""
    worker = _idle.get()
    try:
        return worker.render(text, kind, doc_id)
    finally:
        _idle.put(worker)
