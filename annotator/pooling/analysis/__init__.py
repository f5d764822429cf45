"""What the page Pool shows: overlap of systems, relevance by rank, and pairs by page."""
