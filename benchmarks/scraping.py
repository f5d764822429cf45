"""Ask some addresses again and again, in a process of its own, and note how long each answer takes.

`replicas.py` starts it, so that what it measures is the server and not the threads of the benchmark. It imports no program.
"""

import json
import select
import ssl
import sys
import time
import urllib.request

PAUSE = 0.2  # seconds between two rounds


def scrape(addresses: list[str]) -> None:
    """Say "ready", and ask until the standard input ends; then print the seconds of each address's answers, and how often there was none."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    seconds: dict[str, list[float]] = {address: [] for address in addresses}
    failures = dict.fromkeys(addresses, 0)
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        for address in addresses:
            start = time.perf_counter()
            try:
                with urllib.request.urlopen(address, timeout=10, context=trusting) as answer:
                    answer.read()
                seconds[address].append(time.perf_counter() - start)
            except OSError:
                failures[address] += 1
    print(json.dumps({"seconds": seconds, "failures": failures}))
