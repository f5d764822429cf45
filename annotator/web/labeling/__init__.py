"""Draw the labeling panel and the annotators' own pages, and the leads' pages about annotators."""
