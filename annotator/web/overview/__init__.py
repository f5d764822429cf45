"""Draw the page Overview."""
