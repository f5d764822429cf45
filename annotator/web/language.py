"""In which language a reader is spoken to: their own choice, else the first of ours that the browser prefers.

Set on every request (by the gate) and on every run of a page (by page_context.py); English when nobody says.
"""

from starlette.requests import HTTPConnection

from annotator.domain.people import SignedIn
from annotator.web.kit.messages import LANGUAGES, use_language
from annotator.web.session import find_signed_in

LONGEST = 500


def use_language_of(request: HTTPConnection) -> None:
    """Speak the language of whoever this request comes from, until it is answered."""
    use_language(find_language(find_signed_in(request), request.headers.get("accept-language", "")))


def find_language(person: SignedIn | None, accept_language: str) -> str:
    """Return the language for this person (None: nobody is signed in) and what their browser asks for."""
    if person is not None and person.language is not None and person.language in LANGUAGES:
        return person.language
    return choose_language(accept_language)


def choose_language(accept_language: str) -> str:
    """Return the first of our languages in the order the browser prefers them; English when there is none."""
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
