"""How large the body of a request may be, by where it goes. What is larger is refused before, or while, it comes."""

from starlette.requests import HTTPConnection
from starlette.types import Message, Receive

from annotator.web.uploads import MOST_BYTES

OF_ADDRESSES = {"/login": 20_000, "/logout": 1_000, "/api/judgments": 2_000_000}
OF_FOLDERS = {"/api/": 100_000, "/_stcore/upload_file/": MOST_BYTES}
ELSEWHERE = 1_000


class BodyTooLarge(Exception):
    """The request's body is larger than its address takes."""


def find_most_bytes(path: str) -> int:
    """The largest body that is taken at this address."""
    of_folder = (most for folder, most in OF_FOLDERS.items() if path.startswith(folder))
    return OF_ADDRESSES.get(path) or next(of_folder, ELSEWHERE)


def limit_body(request: HTTPConnection, receive: Receive) -> Receive:
    """`receive` that raises BodyTooLarge as soon as more has come than the address takes; at once when the head says so."""
    most = find_most_bytes(request.scope["path"])
    said = request.headers.get("content-length", "0")
    if not said.isdigit() or len(said) > 15 or int(said) > most:
        raise BodyTooLarge
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise BodyTooLarge
        return message

    return receive_limited
