"""Documents as safe HTML: Markdown, reStructuredText, HTML and source code. `documents.py` is where to begin."""
