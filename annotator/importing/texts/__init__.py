"""Import queries and documents: files cut into sections, articles or pages, planned and stored."""
