"""Serve the application."""
