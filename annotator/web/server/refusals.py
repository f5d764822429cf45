"""Answer what a service refuses: the HTTP status of each error class, and the message as JSON."""

from collections.abc import Awaitable, Callable, Mapping
from math import ceil

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from annotator.domain.errors import (
    AnnotatorError,
    BadInput,
    ConflictError,
    DatasetArchived,
    DatasetNotOpen,
    FormatError,
    InsufficientData,
    NotAllowed,
    NotFound,
    StateError,
    TooManyRequests,
    ValidationError,
)
from annotator.domain.people import describe_unknown_dataset
from annotator.web.kit.messages import show_refusal
from annotator.web.session import find_signed_in

STATUSES: Mapping[type[AnnotatorError], int] = {
    DatasetArchived: 423,  # before StateError, which it is: the labeling panel then keeps its judgments and says why
    ValidationError: 400,
    FormatError: 400,
    BadInput: 400,
    StateError: 400,
    InsufficientData: 400,
    NotAllowed: 403,  # also DatasetNotOpen, which is NotFound too: the panels keep what was typed, as a role may come back
    NotFound: 404,
    ConflictError: 409,
    TooManyRequests: 429,
}  # DatabaseUnavailable passes through to the gate, which also meets it before any route is called


def find_status(error: AnnotatorError) -> int:
    """Return the HTTP status that says which kind of refusal this is."""
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def hide_dataset(request: Request, error: AnnotatorError) -> AnnotatorError:
    """Return the error to answer with: without a role on it, an archived dataset is as one that does not exist."""
    if not isinstance(error, DatasetArchived):
        return error
    person = find_signed_in(request)
    if person is not None and person.role_on(error.dataset) is not None:
        return error
    return DatasetNotOpen(describe_unknown_dataset(error.dataset))


async def respond_to_refusal(request: Request, error: Exception) -> Response:
    """Return the message in the reader's language, with the status of the error's class."""
    if not isinstance(error, AnnotatorError):
        raise error
    error = hide_dataset(request, error)
    headers = {"Retry-After": str(ceil(error.seconds))} if isinstance(error, TooManyRequests) else None
    return JSONResponse({"error": show_refusal(error)}, find_status(error), headers)


EXCEPTION_HANDLERS: Mapping[type[AnnotatorError], Callable[[Request, Exception], Awaitable[Response]]] = (
    dict.fromkeys(STATUSES, respond_to_refusal)
)
"""For `exception_handlers` of the Starlette application."""
