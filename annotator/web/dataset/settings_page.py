"""Draw the page Settings, for leads: all settings in groups, the effects of a change, and archiving.

Groups are closed at first, under a line with the values that differ from the defaults. `?setting=WORD` shows
only matching settings and opens their groups. Text in a hidden setting stays.

Nothing is stored before Save. A value that differs from the page's initial value is a change. Saving is
refused if another person changed one of the same settings in the meantime. The typed text stays.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import streamlit as st

from annotator.dataset.coverage_requirements import read_requirements
from annotator.dataset.coverage_service import read_requirements as read_template
from annotator.dataset.service import (
    archive_dataset,
    change_settings,
    list_datasets,
    make_default_dataset,
    show_dataset,
    show_search_hosts,
    unarchive_dataset,
    write_settings,
)
from annotator.dataset.settings import NONE, OFF, TEMPLATES, read_setting
from annotator.domain.errors import AnnotatorError, ConflictError, ValidationError
from annotator.domain.messages import Message, say
from annotator.domain.people import includes
from annotator.overview.settings_effects_service import describe_effects
from annotator.web.dataset.downloads import ADDRESS
from annotator.web.dataset.words import GROUPS, NONE_CHOSEN, REQUIREMENT_WORDS, SettingField, list_fields
from annotator.web.kit.controls import ask_percentage
from annotator.web.kit.figures import show_share
from annotator.web.kit.messages import join_sentences, show_refusal, tr, tr_n
from annotator.web.kit.page_parts import draw_link, draw_note, draw_problem, find_page, require_dataset
from annotator.web.kit.text import escape_markdown
from annotator.web.navigation import make_url
from annotator.web.page_context import PageContext

OWN = "own"
DISTANCES = ("", "1", "2", "3")
SAID = "settings said"
SEARCH = "setting"  # query parameter
STEP = 0.05  # of a number
LONGEST = 40  # characters of a value in its group's line


@dataclass
class SettingsForm:
    """The initial values of the page: {setting: text}. `mark`: part of the widget keys on the screen.

    `typed`: current values, also of settings that a search hides. `begun`: initial values of the controls on
    the screen.
    """

    dataset: str
    base: dict[str, str]
    typed: dict[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)
    mark: str = field(default_factory=lambda: secrets.token_hex(4))

    def find_key(self, name: str) -> str:
        return f"setting {self.mark} {name}"


def draw(context: PageContext) -> None:
    st.title(tr("Settings"))
    dataset = require_dataset(context)
    for said in st.session_state.pop(SAID, ()):
        st.success(said, icon=":material/check:")
    with st.container(width=760):
        if not context.is_archived:
            _draw_form(context, dataset)
        _draw_export(dataset)
        _draw_archive(context, dataset)
        _draw_archived_datasets(context)


def _draw_form(context: PageContext, dataset: str) -> None:
    form = _find_form(context, dataset)
    defaults = write_settings(make_default_dataset(dataset, now=context.now))
    draw_note(
        tr("Nothing changes until you save. The grades and their definitions are on the page Guideline.")
    )
    draw_link(context, "guideline")
    search = _draw_search()
    found = 0
    for heading, fields in GROUPS:
        matching = [setting for setting in fields if _matches(setting, heading, search)]
        found += len(matching)
        if matching:
            _draw_group(form, heading, fields, matching, defaults, is_open=bool(search))
    if not found:
        draw_note(tr("No setting matches."))
    changes = {name: text for name, text in form.typed.items() if text != form.base[name]}
    st.header(tr("Save"))
    if not changes:
        draw_note(tr("No changes."))
        return
    _draw_changes(context, form, changes)


def _draw_search() -> str:
    typed: str = st.text_input(
        tr("Find a setting"),
        key=SEARCH,
        bind="query-params",
        max_chars=100,
        icon=":material/search:",
        autocomplete="off",
    )
    return typed.strip().casefold()


def _matches(setting: SettingField, heading: Message, search: str) -> bool:
    """Return whether the setting's names or explanation contain every word, in the reader's language or English."""
    texts = (setting.name, setting.label, tr(setting.label), tr(setting.about), heading, tr(heading))
    text = " ".join(texts).casefold()
    return all(word in text for word in search.split())


def _draw_group(
    form: SettingsForm,
    heading: Message,
    fields: Sequence[SettingField],
    matching: Sequence[SettingField],
    defaults: Mapping[str, str],
    *,
    is_open: bool,
) -> None:
    summary = describe_group(fields, form.base, defaults)
    label = f"**{escape_markdown(tr(heading))}**  \n{escape_markdown(summary)}"
    with st.expander(label, expanded=is_open, key=f"group {form.mark} {heading} {is_open}"):
        for setting in matching:
            begun = form.find_key(setting.name) in st.session_state and setting.name in form.begun
            if not begun:
                form.begun[setting.name] = form.typed.get(setting.name, form.base[setting.name])
            form.typed[setting.name] = _draw_field(form, setting, defaults[setting.name])


def describe_group(
    fields: Sequence[SettingField], values: Mapping[str, str], defaults: Mapping[str, str]
) -> str:
    """Return one line with the values that differ from the defaults."""
    parts = [
        f"{tr(setting.label)}: {_shorten(setting, values[setting.name])}"
        for setting in fields
        if values[setting.name] != defaults[setting.name]
    ]
    return " · ".join(parts) or tr("as by default")


def _shorten(setting: SettingField, text: str) -> str:
    if setting.kind == "requirements":
        return tr(REQUIREMENT_WORDS.get(_list_templates().get(text, ""), OWN_WORDS))
    shown = _show_value(setting, text)
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST].rstrip()} …"


def _find_form(context: PageContext, dataset: str) -> SettingsForm:
    """Return the form of this visit. Makes a new form with current values at the start of a visit."""
    form: SettingsForm | None = st.session_state.get("settings form")
    if form is None or form.dataset != dataset or SEARCH not in st.session_state:
        form = SettingsForm(dataset, _read_present(context, dataset))
        st.session_state["settings form"] = form
    return form


def _read_present(context: PageContext, dataset: str) -> dict[str, str]:
    described, _ = context.call(show_dataset, dataset)
    return write_settings(described, context.call(show_search_hosts, dataset))


def _draw_field(form: SettingsForm, setting: SettingField, default: str) -> str:
    value, key, label = form.begun[setting.name], form.find_key(setting.name), tr(setting.label)
    if setting.kind == "switch":
        text = "true" if st.toggle(label, value == "true", key=key) else "false"
    elif setting.kind == "whole":
        number = st.number_input(label, int(setting.low), int(setting.high), int(value), key=key)
        text = str(number)
    elif setting.kind in ("number", "percentage"):
        ask_number = ask_percentage if setting.kind == "percentage" else st.number_input
        share = ask_number(label, float(setting.low), float(setting.high), float(value), STEP, key=key)
        text = value if share == float(value) else str(round(share, 6))
    elif setting.kind == "choice":
        names = dict(setting.choices)
        options = list(names)
        text = st.selectbox(label, options, options.index(value), key=key, format_func=lambda n: tr(names[n]))
    elif setting.kind == "distance":
        held = "" if value == setting.empty else value
        chosen = st.selectbox(
            label, DISTANCES, DISTANCES.index(held), key=key, format_func=lambda n: n or tr("Never")
        )
        text = chosen or setting.empty
    elif setting.kind == "requirements":
        return _draw_requirements(form, setting)
    else:
        shown = "" if value == setting.empty else value
        text = st.text_input(label, shown, key=key, autocomplete="off").strip() or setting.empty
        _draw_fault(setting, text)
    about = [tr(setting.about)]
    if default != form.base[setting.name]:
        about.append(tr("Default: {value}.", value=_show_value(setting, default)))
    draw_note(join_sentences(about))
    return text


def _draw_fault(setting: SettingField, text: str) -> None:
    try:
        read_setting(setting.name, text)
    except ValidationError as error:
        draw_problem(show_refusal(error))


def _draw_requirements(form: SettingsForm, setting: SettingField) -> str:
    """Draw the choice of a template, or the requirements as YAML (JSON is valid YAML)."""
    value, begun = form.base[setting.name], form.begun[setting.name]
    held = begun if begun in (NONE, *TEMPLATES) else _list_templates().get(begun, OWN)
    options = (NONE, *TEMPLATES, OWN)
    chosen = st.selectbox(
        tr(setting.label),
        options,
        options.index(held),
        key=form.find_key(setting.name),
        format_func=lambda name: tr(OWN_WORDS if name == OWN else REQUIREMENT_WORDS.get(name, NONE_CHOSEN)),
    )
    draw_note(tr(setting.about))
    if chosen != OWN:
        return value if _list_templates().get(value) == chosen else chosen
    stored = json.dumps(json.loads(value), ensure_ascii=False, indent=2) if value != NONE else ""
    shown = begun.removeprefix(f"{OWN}:") if begun.startswith(f"{OWN}:") else stored or "queries: 50\n"
    text = st.text_area(
        tr("Own requirements (YAML)"), shown, key=form.find_key("own requirements"), height=260
    )
    return value if text == stored else f"{OWN}:{text}"


def _list_templates() -> dict[str, str]:
    return {json.dumps(read_template(name), ensure_ascii=False): name for name in TEMPLATES}


OWN_WORDS = say("Own requirements")


def _show_value(setting: SettingField, text: str) -> str:
    words = dict(setting.choices).get(text)
    if words is not None:
        return tr(words)
    if setting.kind == "switch":
        return tr("on") if text == "true" else tr("off")
    if setting.kind == "percentage":
        return show_share(float(text), 0 if (float(text) * 100).is_integer() else 1)
    return tr("none") if text in ("", NONE, OFF) else text


def _split_requirements(changes: Mapping[str, str]) -> tuple[dict[str, str], dict[str, Any] | None]:
    """Return (changes to read as typed, requirements from YAML or None)."""
    typed, required = dict(changes), None
    if typed.get("requirements", "").startswith(f"{OWN}:"):
        text = typed.pop("requirements").removeprefix(f"{OWN}:")
        required = read_requirements(text.encode(), tr("Own requirements (YAML)"))
    return typed, required


def _draw_changes(context: PageContext, form: SettingsForm, changes: Mapping[str, str]) -> None:
    fields = {setting.name: setting for setting in list_fields()}
    for name, text in changes.items():
        setting = fields[name]
        shown = tr("changed") if name == "requirements" else _show_value(setting, text)
        before = "" if name == "requirements" else f"{_show_value(setting, form.base[name])} → "
        st.markdown(
            f"- **{escape_markdown(tr(setting.label))}**: {escape_markdown(before + shown)}. "
            f"{escape_markdown(tr(setting.effect))}"
        )
    try:
        typed, required = _split_requirements(changes)
        with st.spinner(tr("Working out what this changes …")):
            effects = context.call(
                describe_effects, form.dataset, typed, now=context.now, requirements=required
            )
    except AnnotatorError as error:
        _draw_refusal(error)
        return
    for effect in effects:
        st.markdown(f"- {escape_markdown(tr(effect))}")
    with st.container(horizontal=True):
        label = tr_n("Save {n} change", "Save {n} changes", len(changes))
        if st.button(label, type="primary", key=f"save {form.mark}"):
            _save(context, form, changes, typed, required)
        if st.button(tr("Discard changes"), key=f"discard {form.mark}"):
            del st.session_state["settings form"]
            st.rerun()


def _save(
    context: PageContext,
    form: SettingsForm,
    changes: Mapping[str, str],
    typed: Mapping[str, str],
    required: Mapping[str, Any] | None,
) -> None:
    try:
        context.call(
            change_settings,
            form.dataset,
            typed,
            now=context.now,
            requirements=required,
            seen={name: form.base[name] for name in changes},
        )
    except ConflictError as error:
        _draw_refusal(error)
        _compare_with_present(context, form, changes)
    except AnnotatorError as error:
        _draw_refusal(error)
    else:
        del st.session_state["settings form"]
        st.session_state[SAID] = [tr("Saved.")]
        st.rerun()


def _compare_with_present(context: PageContext, form: SettingsForm, changes: Mapping[str, str]) -> None:
    """Show the current settings, and let the next Save replace them. The typed text stays."""
    present, fields = (
        _read_present(context, form.dataset),
        {setting.name: setting for setting in list_fields()},
    )
    for name in changes:
        if present[name] != form.base[name]:
            label, value = tr(fields[name].label), _show_value(fields[name], present[name])
            st.markdown(f"- {escape_markdown(tr('{setting} is now: {value}', setting=label, value=value))}")
            form.base[name] = present[name]


def _draw_refusal(error: AnnotatorError) -> None:
    lines = (escape_markdown(line) for line in show_refusal(error).splitlines())
    st.error("\n\n".join(lines), icon=":material/error:")


def _draw_export(dataset: str) -> None:
    st.header(tr("Export"))
    st.text(
        tr(
            "One zip file with everything: texts, runs, all judgments with names, decisions, history, settings and published releases. No passwords. It can be restored as a dataset."
        )
    )
    st.text(
        tr(
            "The file shows you everybody's grades, so you can no longer judge pairs of this dataset. The download is recorded in the activity log."
        )
    )
    label = escape(tr("Download everything (zip)"))
    st.html(
        f'<a class="annotator-link" href="{escape(make_url(ADDRESS, dataset=dataset))}" target="_self" download>{label}</a>'
    )


def _draw_archive(context: PageContext, dataset: str) -> None:
    st.header(tr("Archive"))
    if context.is_archived:
        if st.button(tr("Unarchive this dataset"), type="primary", icon=":material/unarchive:"):
            context.call(unarchive_dataset, dataset, now=context.now)
            st.session_state[SAID] = [tr("This dataset can be judged and changed again.")]
            st.rerun()
        return
    st.text(
        tr(
            "An archived dataset leaves the lists, and nothing in it can be judged or changed. Its releases stay available, "
            "and you can unarchive it at any time."
        )
    )
    sure = st.checkbox(tr("Archive {dataset}", dataset=dataset), key=f"sure {dataset}")
    if st.button(tr("Archive this dataset"), icon=":material/archive:", disabled=not sure):
        context.call(archive_dataset, dataset, now=context.now)
        st.switch_page(find_page("settings"), query_params={"dataset": dataset})


def _draw_archived_datasets(context: PageContext) -> None:
    archived = [
        item
        for item in context.call(list_datasets, archived_too=True)
        if item.archived_at is not None
        and item.name != context.dataset
        and includes(context.person.role_on(item.name) or "annotator", "lead")
    ]
    if archived:
        st.header(tr("Archived datasets"))
        for item in archived:
            st.page_link(
                find_page("settings"),
                label=item.title,
                query_params={"dataset": item.name},
                icon=":material/archive:",
            )
