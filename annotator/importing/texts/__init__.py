"""Import queries and documents: files are cut into sections, articles or pages, planned and stored."""
