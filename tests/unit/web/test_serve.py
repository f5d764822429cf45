"""How the server's connections are set up."""

import socket
import subprocess
import sys

from annotator.web.serve import bind


def test_an_accepted_connection_sends_the_body_without_waiting_for_the_head() -> None:
    with bind("127.0.0.1", 0, 1) as listening:
        listening.listen()
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_idle_server_holds_no_library_that_only_pages_need() -> None:
    heavy = ("numpy", "pandas", "scipy", "altair", "sklearn", "bm25s")
    script = f"import sys, annotator.web.app; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
