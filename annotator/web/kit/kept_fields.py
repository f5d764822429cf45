"""Keep the values of a form's fields while another tab or page is open: Streamlit forgets undrawn fields."""

from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")


class KeptFields:
    """The fields of one form, by name. Call `begin` first, with the name of a field that is always drawn."""

    def __init__(self, form: str) -> None:
        self.form = form

    def begin(self, always: str) -> None:
        """Begin a run: fields that the last run did not draw start with their kept values."""
        values = st.session_state.setdefault(f"{self.form} values", {})
        if self.find_key(always) not in st.session_state:
            st.session_state[f"{self.form} defaults"] = dict(values)

    def find_key(self, name: str) -> str:
        return f"{self.form} {name}"

    def find_default(self, name: str, default: T) -> T:
        """Return the widget's default, which stays the same while the form is drawn."""
        kept: T = st.session_state[f"{self.form} defaults"].get(name, default)
        return kept

    def find_options(self, name: str, options: Any, default: Any) -> list[Any]:
        """Return the default of a multi-choice field, without options that no longer exist."""
        return [option for option in self.find_default(name, default) if option in options]

    def find_index(self, name: str, options: Any, default: int | None = 0) -> int | None:
        """Return the index of the default option of a single-choice field."""
        value = self.find_default(name, None)
        return list(options).index(value) if value in options else default

    def keep(self, name: str, value: T) -> T:
        """Keep the widget's current value, and return it."""
        st.session_state[f"{self.form} values"][name] = value
        return value
