"""Controls that work in several languages, keyboard focus after a press, and widgets with a value stored elsewhere.

Streamlit writes an option into the URL in the reader's language; these controls read it in any language. When
a pressed button disappears, the focus moves to its result or to the page's next task. Streamlit sends a value
set through `st.session_state` only once, and an interrupted run loses it: then the widget reports its default
as a choice. So the true value is always the default, and a changed value makes a new widget; `read_choice`
ignores reports of old widgets. Streamlit forgets undrawn fields: `KeptFields` keeps their values.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from annotator.domain.messages import Message
from annotator.web.kit.components import load_component
from annotator.web.kit.messages import LANGUAGES, current_language, tr, use_language
from annotator.web.kit.words import name_word

NameOption = Callable[[str], str]


def find_chosen_option(key: str, options: Sequence[str], name: NameOption = name_word) -> str | None:
    """Return the chosen option before its control is drawn, from the session or the URL (in any language)."""
    chosen = st.session_state.get(key)
    if chosen in options:
        return str(chosen)
    value = st.query_params.get(key)
    return next((option for option in options if value in list_names(option, name)), None)


def apply_url_choice(key: str, options: Sequence[str], name: NameOption = name_word) -> None:
    """Write the URL's chosen option in the reader's language. Call it before the control is drawn, which reads the URL.

    `name(option)` returns the option's label in the control.
    """
    value, option = st.query_params.get(key), find_chosen_option(key, options, name)
    if option is not None and key not in st.session_state and value not in (None, name(option)):
        _correct_url(key, name(option))


def _correct_url(key: str, value: str) -> None:
    """Write this value into the URL and draw the page again.

    Streamlit removes an unknown value from the URL, so a reload would show another option.
    """
    st.query_params[key] = value
    st.rerun()


FORMER_NAMES = {
    "In force": "Current",
    "現行": "Current",
    "현행": "Current",
    "What disputes teach": "Lessons from disagreements",
    "不一致から学ぶこと": "Lessons from disagreements",
    "Left out": "Excluded",
    "What the dataset can tell": "Reliability",
    "このデータセットで分かること": "Reliability",
    "이 데이터세트로 알 수 있는 것": "Reliability",
}
"""Tabs that have another name today: links and bookmarks still open them."""


def apply_url_tab(key: str, names: Sequence[Message]) -> None:
    """Open the URL's tab, also if it is named in another language or by an old name. Call it before the tabs are drawn."""
    asked = str(st.session_state.get(key) or st.query_params.get(key) or "")
    if asked in ("", *(tr(name) for name in names)):
        return
    named = FORMER_NAMES.get(asked, asked)
    tab = next((name for name in names if named in _translate_to_all_languages(name)), None)
    if tab is None:
        return
    if key in st.session_state:
        st.session_state[key] = tr(tab)
    else:
        _correct_url(key, tr(tab))


def draw_url_tabs(tabs: Mapping[Message, Callable[[], object]], key: str = "tab", **further: Any) -> None:
    """Draw the open tab only, by its function; the URL names it. `key`: of the tabs, and their parameter of the URL."""
    apply_url_tab(key, tuple(tabs))
    drawn = st.tabs([tr(name) for name in tabs], key=key, bind="query-params", **further)
    for tab, draw_tab in zip(drawn, tabs.values(), strict=True):
        if tab.open:
            with tab:
                draw_tab()


def list_names(option: str, name: NameOption = name_word) -> tuple[str, ...]:
    """Return the option's name in each language."""
    return (option, *_in_each_language(lambda: name(option)))


def _translate_to_all_languages(name: Message) -> tuple[str, ...]:
    return _in_each_language(lambda: tr(name))


def _in_each_language(say_it: Callable[[], str]) -> tuple[str, ...]:
    spoken, said = current_language(), []
    for language in LANGUAGES:
        use_language(language)
        said.append(say_it())
    use_language(spoken)
    return tuple(said)


def choose_two(versions: Sequence[str]) -> tuple[str, str] | None:
    """Draw the choice of two versions, at first the last two; return None while both are the same."""
    with st.container(horizontal=True):
        before, after = (
            st.selectbox(label, versions, index=index, key=key, bind="query-params", width=150)
            for label, key, index in (
                (tr("From"), "from", len(versions) - 2),
                (tr("To"), "to", len(versions) - 1),
            )
        )
    if before == after:
        st.text(tr("Choose two different versions."))
        return None
    return before, after


PRESSES, CONTAINER, INTO_VIEW = "presses followed", "place of the press", "press into view"


def ask_percentage(label: str, low: float, high: float, share: float, step: float, **further: Any) -> float:
    """Draw a number field in percent; `low`, `high`, `share` and `step` are shares, 0 to 1. Return the share entered."""
    low, high, shown, step = (round(value * 100, 6) for value in (low, high, share, step))
    entered = st.number_input(tr("{name} (%)", name=label), low, high, shown, step, format="%g", **further)
    return share if entered == shown else round(entered / 100, 8)


def note_press(container_key: str = "", *, into_view: bool = False) -> None:
    """Note that the pressed control will disappear in the next run.

    Call it where the press takes effect. `container_key`: container of the result, if any. `into_view`:
    scroll to the start of this container.
    """
    st.session_state[PRESSES] = st.session_state.get(PRESSES, 0) + 1
    st.session_state[CONTAINER] = container_key
    st.session_state[INTO_VIEW] = into_view


def keep_focus(*, from_top: bool = False) -> None:
    """Move the keyboard focus after a press. Call it at the end of a page. `from_top`: the press opened another page."""
    words = [
        st.session_state.get(PRESSES, ""),
        "top" if from_top else "begin" if st.session_state.get(INTO_VIEW) else "",
        st.session_state.get(CONTAINER, ""),
    ]
    follower = load_component("annotator_follow_focus", Path(__file__).parent / "follow_focus.js")
    follower(key="focus", data=" ".join(map(str, words)) if words[0] else None)


Choice = TypeVar("Choice", bool, str, str | None)


def find_key(name: str, truth: Choice) -> tuple[str, Choice]:
    """Return the widget's key and default.

    The widget, and its focus, stay the same while `truth` follows the user's choice.
    """
    turn, begun = st.session_state.get(f"{name} shown", (0, truth))
    if st.session_state.get(f"{name} {turn}", begun) != truth:
        turn, begun = turn + 1, truth
    st.session_state[f"{name} shown"] = turn, begun
    return f"{name} {turn}", begun


def read_choice(name: str, key: str) -> bool | str | None:
    """Return the chosen value in a widget's callback; None if the page no longer shows this widget."""
    turn, _ = st.session_state.get(f"{name} shown", (None, None))
    choice: bool | str | None = st.session_state.get(key) if key == f"{name} {turn}" else None
    return choice


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
        value = self.find_default(name, None)
        return list(options).index(value) if value in options else default

    def keep(self, name: str, value: T) -> T:
        """Keep the widget's current value, and return it."""
        st.session_state[f"{self.form} values"][name] = value
        return value

    def choose(
        self, label: str, options: Sequence[T], name: str, index: int | None = 0, **further: Any
    ) -> T | None:
        """Draw a field of one option, and return the chosen one. `name`, here and below: of the field in this form."""
        at = self.find_index(name, options, index)
        chosen: T | None = st.selectbox(label, list(options), at, key=self.find_key(name), **further)
        return self.keep(name, chosen)

    def choose_several(
        self, label: str, options: Sequence[str], name: str, default: Sequence[str] = (), **further: Any
    ) -> list[str]:
        chosen = st.multiselect(
            label,
            list(options),
            default=self.find_options(name, options, default),
            key=self.find_key(name),
            placeholder=tr("Choose"),
            **further,
        )
        return self.keep(name, [str(option) for option in chosen])

    def choose_segment(self, label: str, names: Mapping[str, Message], name: str) -> str:
        """Draw a control of a few options, the first one chosen at first, and return the chosen one."""
        first = next(iter(names))
        chosen = st.segmented_control(
            label,
            list(names),
            default=self.find_default(name, first),
            required=True,
            format_func=lambda option: tr(names[option]),
            key=self.find_key(name),
        )
        return self.keep(name, chosen or first)

    def ask_number(
        self,
        label: str,
        name: str,
        default: float,
        least: float,
        most: float,
        *,
        width: int = 200,
        **further: Any,
    ) -> float:
        begun, key = self.find_default(name, default), self.find_key(name)
        return self.keep(name, st.number_input(label, least, most, begun, key=key, width=width, **further))

    def ask_flag(self, label: str, name: str, *, default: bool = False) -> bool:
        return self.keep(name, st.checkbox(label, self.find_default(name, default), key=self.find_key(name)))

    def ask_text(self, label: str, name: str, default: str = "", **further: Any) -> str:
        """Draw a field of one line, and return its text without spaces at the ends."""
        text: str = st.text_input(label, self.find_default(name, default), key=self.find_key(name), **further)
        return self.keep(name, text.strip())
