"""The script that Streamlit runs on every interaction.

It has its own folder because Streamlit shows every file of a neighbouring folder `pages` to anybody."""

from annotator.web.main_page import draw_app

draw_app()
