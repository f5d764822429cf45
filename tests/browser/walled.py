"""A server process that can connect to nobody, and writes down what it tried."""

import sys
import traceback
from pathlib import Path

RECORD = "outgoing.txt"
ASKING = ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname")


def refuse_to_connect() -> None:
    """Refuse every connection out of this process and write it down in its folder; for the rest of its life."""
    record = Path.cwd() / RECORD

    def refuse(event: str, args: tuple[object, ...]) -> None:
        if event in ASKING:
            with record.open("a", encoding="utf-8") as file:
                file.write(f"{event} {args[1:] if event == 'socket.connect' else args}\n")
                file.writelines(traceback.format_stack(limit=8))
            raise ConnectionRefusedError(f"{event}: refused by the test")

    record.touch()
    sys.addaudithook(refuse)
