"""What Streamlit runs on every interaction. It stands in a folder of its own because Streamlit takes a folder
`pages` beside its script for pages that anybody may open by name."""

from annotator.web.main_page import draw_app

draw_app()
