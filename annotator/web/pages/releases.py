"""Releases: what one needs, publishing one, and those that are out with their files."""

import streamlit as st

from annotator.overview.service import show_overview
from annotator.releases.service import Release, check_release, list_releases
from annotator.web.gate_list import draw_gates
from annotator.web.guidance import draw_note, draw_steps, require_dataset
from annotator.web.page_context import PageContext
from annotator.web.plain_text import say
from annotator.web.publish_form import draw_form
from annotator.web.times import show_time

FOLDERS = {
    "whole": "its folder is as it was published",
    "missing": "its folder is not on this machine",
    "changed": "its folder is not as it was published: see annotator release verify",
}


def draw(context: PageContext) -> None:
    st.title("Releases")
    dataset = require_dataset(context)
    check = check_release(context.database, context.actor, dataset)
    if not check.statuses:
        draw_steps(context, show_overview(context.database, context.actor, dataset).steps)
        return
    found = list_releases(context.database, context.actor, dataset, exports_dir=context.settings.exports_dir)
    published = st.session_state.pop("published", None)
    if published:
        st.success(
            f"Version {published} is published. Its folder and files are below.", icon=":material/check:"
        )
    st.header("What a release needs")
    draw_gates(context, check.gates)
    st.header("Publish")
    draw_form(context, dataset, check)
    st.header("Published")
    if not found:
        st.text("Nothing is published yet.")
    for release in reversed(found):
        _draw_release(release, expanded=release.version == published)


def _draw_release(release: Release, *, expanded: bool) -> None:
    """The version, and one click away: the folder, the note, the files."""
    marks = [f"overridden: {', '.join(release.overridden)}"] if release.overridden else []
    marks += ["simulated judgments included"] if release.simulated else []
    head = f"{release.version} · {show_time(release.created_at)} · {release.qrels:,} qrels"
    with st.expander(" · ".join([head, *marks]), expanded=expanded):
        if release.note:
            st.html(say("said", release.note))
        st.code(str(release.path.resolve()), language=None)
        draw_note(
            f"Published by {release.published_by}; {FOLDERS[release.folder]}. Content {release.content_sha256}."
        )
        if release.folder == "whole":
            with st.container(horizontal=True, gap="xsmall"):
                for name in release.files:
                    st.download_button(
                        name, (release.path / name).read_bytes, name.replace("/", "-"),
                        key=f"{release.version} {name}", on_click="ignore",
                    )  # fmt: skip
