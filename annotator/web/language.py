"""Choose the reader's language: their own choice, else the browser's first preference among ours, else English.

The gate sets it on every request, page_context.py on every run of a page.
"""

from starlette.requests import HTTPConnection

from annotator.domain.people import SignedIn
from annotator.web.kit.messages import LANGUAGES, use_language
from annotator.web.session import find_signed_in

LONGEST = 500


def use_language_of(request: HTTPConnection) -> None:
    """Use the language of the request's sender until the request is answered."""
    use_language(find_language(find_signed_in(request), request.headers.get("accept-language", "")))


def find_language(person: SignedIn | None, accept_language: str) -> str:
    """Return the language for this person (None: not signed in) and the browser's Accept-Language."""
    if person is not None and person.language is not None and person.language in LANGUAGES:
        return person.language
    return choose_language(accept_language)


def choose_language(accept_language: str) -> str:
    """Return the browser's first preference among our languages, else English."""
    wanted: list[tuple[float, int, str]] = []
    for index, entry in enumerate(accept_language[:LONGEST].split(",")):
        tag, _, quality = entry.strip().partition(";")
        try:
            weight = float(quality.strip().removeprefix("q=")) if quality else 1.0
        except ValueError:
            weight = 0.0
        if weight > 0:
            wanted.append((-weight, index, tag.strip().lower().split("-")[0]))
    return next((tag for _, _, tag in sorted(wanted) if tag in LANGUAGES), "en")
