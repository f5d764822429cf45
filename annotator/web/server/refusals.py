"""Answer what a service refuses: the HTTP status of each error class, and the message as JSON."""

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from annotator.domain.errors import (
    AnnotatorError,
    BadInput,
    ConflictError,
    DatasetArchived,
    FormatError,
    InsufficientData,
    NotAllowed,
    NotFound,
    StateError,
    ValidationError,
)
from annotator.web.kit.messages import show_refusal

STATUSES: Mapping[type[AnnotatorError], int] = {
    DatasetArchived: 423,  # before StateError, which it is: the labeling panel then keeps its judgments and says why
    ValidationError: 400,
    FormatError: 400,
    BadInput: 400,
    StateError: 400,
    InsufficientData: 400,
    NotAllowed: 403,
    NotFound: 404,
    ConflictError: 409,
}  # DatabaseUnavailable passes through to the gate, which also meets it before any route is called


def find_status(error: AnnotatorError) -> int:
    """Return the HTTP status that says which kind of refusal this is."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


async def respond_to_refusal(_request: Request, error: Exception) -> Response:
    """Return the message in the reader's language, with the status of the error's class."""
    if not isinstance(error, AnnotatorError):
        raise error
    return JSONResponse({"error": show_refusal(error)}, find_status(error))


EXCEPTION_HANDLERS: Mapping[type[AnnotatorError], Callable[[Request, Exception], Awaitable[Response]]] = (
    dict.fromkeys(STATUSES, respond_to_refusal)
)
"""For `exception_handlers` of the Starlette application."""
