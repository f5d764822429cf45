"""Help."""

import streamlit as st

from annotator.web.page_context import PageContext


def draw(context: PageContext) -> None:
    st.title("Help")
