"""Documents as safe HTML: Markdown, reStructuredText, HTML and source code. `document.py` is where to begin."""
