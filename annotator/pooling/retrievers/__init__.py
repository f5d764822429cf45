"""Find candidates among the documents of a dataset, for teams without a system or as a second opinion."""
