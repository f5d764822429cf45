"""What annotators work with: the labeling panel and their own work; and the leads' pages about them."""
