"""Serve the connections that a worker is given by the process that accepted them (`workers.py`)."""

import asyncio
import socket
from collections.abc import Callable

import structlog

AT_ONCE = 32  # then those that are open are served

log = structlog.stdlib.get_logger("annotator.web")


class HandedConnections:
    """Takes connections from `control`. `end` is called when the process that gives them has ended."""

    def __init__(
        self,
        control: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        end: Callable[[], None],
    ) -> None:
        self._control, self._make_protocol, self._end = control, make_protocol, end
        self._loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[None]] = set()
        self._stopped = False

    def start(self) -> None:
        """Take what comes from now on."""
        self._loop.add_reader(self._control, self._take)

    def stop(self) -> None:
        """Take nothing more. The connections that were not taken are closed by the system when this process ends."""
        if not self._stopped:
            self._stopped = True
            self._loop.remove_reader(self._control)

    def _take(self) -> None:
        for _ in range(AT_ONCE):
            try:
                word, files, _flags, _address = socket.recv_fds(self._control, 1, 1)
            except BlockingIOError:
                return
            except ConnectionError:
                word, files = b"", []
            for file in files:
                task = self._loop.create_task(self._begin(socket.socket(fileno=file)))
                self._beginning.add(task)
                task.add_done_callback(self._beginning.discard)
            if not word:
                self.stop()
                self._end()
                return

    async def _begin(self, connection: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make_protocol, connection)
        except OSError as error:  # whoever called is gone
            log.debug("a connection could not be served", error=str(error))
            connection.close()
