"""The served application."""
