"""Draw the labeling panel: plain JavaScript in a Streamlit component, with an outbox of its own."""
