"""The program of a task's process: one task on uploaded files, with progress messages and one result.

Started by `file_jobs.py` as `python -P -m annotator.web.importing.worker`. Its input is one line of JSON, the
task; its output is lines of JSON. Its working directory is the folder of the files: messages and records then
name a file as the user does, without the server's folders. `-P`: files of that folder are never imported as
modules. It stops when its input ends: if the server has ended, an unfinished transaction is rolled back.
"""

import gc
import json
import math
import os
import signal
import sys
import threading
import traceback
from typing import Any, BinaryIO

from annotator.importing.search_endpoint.server_rules import mask_variables
from annotator.web.importing.file_tasks import run_task
from annotator.web.importing.words import to_json


def work(source: BinaryIO, answers: BinaryIO) -> None:
    request = json.loads(source.readline())
    _be_modest(request["memory_mb"], request["seconds"])
    gc.disable()  # an import keeps all its records to the end: see cli/importing.py
    threading.Thread(target=_end_with_input, args=(source,), daemon=True).start()

    def send(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

    os.chdir(request["folder"])
    try:
        result = run_task(request, report_progress=lambda step: send({"step": to_json(step)}))
    except MemoryError:
        send({"no_memory": True})
    except Exception:  # noqa: BLE001 - the edge: the server logs it with a number
        send({"failed": mask_variables(traceback.format_exc(), os.environ)})
    else:
        send({"result": result})


def _end_with_input(source: BinaryIO) -> None:
    while source.readline():
        pass
    os._exit(1)


def _be_modest(memory_mb: int, seconds: float) -> None:
    """Limit the memory and computing time of this process. The server also kills it, but a server can be
    killed.
    """
    if sys.platform == "win32":
        return
    import resource

    os.nice(5)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C at the server's terminal: the server ends it
    for limit, wanted in (
        (resource.RLIMIT_AS, memory_mb * 1_000_000),
        (resource.RLIMIT_CPU, math.ceil(seconds)),
    ):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


if __name__ == "__main__":
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not disturb the answers
    work(sys.stdin.buffer, output)
