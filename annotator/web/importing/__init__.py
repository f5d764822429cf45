"""The page Queries and documents: files into a dataset, tried, remapped; each in a process of its own."""
