"""One Streamlit page per task; each file has `draw(context)` and stands in a line of navigation.py."""
