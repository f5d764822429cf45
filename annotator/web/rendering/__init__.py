"""Documents as safe HTML: Markdown, reStructuredText, HTML and source code. Start with `documents.py`."""
