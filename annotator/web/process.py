"""What this process serves: the database and the settings that the Streamlit scripts work on.

Streamlit runs a page as a script without arguments, so this one place holds what `make_app` was given.
"""

from dataclasses import dataclass

from annotator.domain.errors import StateError
from annotator.domain.messages import say
from annotator.settings import Settings
from annotator.storage.database import Database


@dataclass(frozen=True, slots=True)
class Served:
    """The one database and the settings of a serving process."""

    database: Database
    settings: Settings


_served: dict[str, Served] = {}


def set_served(database: Database, settings: Settings) -> None:
    """Say what is served from now on; called once, by `make_app`."""
    _served["now"] = Served(database, settings)


def find_served() -> Served:
    """What `make_app` was given. StateError when no app has been made."""
    if "now" not in _served:
        raise StateError(say("this page belongs to a running server: annotator serve"))
    return _served["now"]
