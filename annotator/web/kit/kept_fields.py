"""Keep what the fields of a form hold while a lead looks at another tab or page. Streamlit forgets fields that a run does not draw."""

from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


class KeptFields:
    """The fields of one form. `begin` with a field that is always drawn; each field has its name within the form."""

    def __init__(self, form: str) -> None:
        self.form = form

    def begin(self, always: str) -> None:
        """Begin a run: fields that were not drawn in the last one start with what they held."""
        values = st.session_state.setdefault(f"{self.form} values", {})
        if self.find_key(always) not in st.session_state:
            st.session_state[f"{self.form} defaults"] = dict(values)

    def find_key(self, name: str) -> str:
        """Return the widget's key."""
        return f"{self.form} {name}"

    def find_default(self, name: str, default: T) -> T:
        """Return what the widget starts with: the same value as long as the form is drawn."""
        kept: T = st.session_state[f"{self.form} defaults"].get(name, default)
        return kept

    def find_options(self, name: str, options: Any, default: Any) -> list[Any]:
        """Return the default of a field of several options, without those that are gone."""
        return [option for option in self.find_default(name, default) if option in options]

    def find_index(self, name: str, options: Any, default: int | None = 0) -> int | None:
        """Return the default of a field of one option, as its number."""
        value = self.find_default(name, None)
        return list(options).index(value) if value in options else default

    def keep(self, name: str, value: T) -> T:
        """Note what the widget holds now, and return it."""
        st.session_state[f"{self.form} values"][name] = value
        return value
